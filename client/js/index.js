// The respondent's side of Candor in the browser: plain modules, short enough to read before trusting them.

export { Survey } from "./definition.js";
export { CandorError } from "./errors.js";
export { Ledger } from "./ledger.js";
export { Report, randomize } from "./report.js";
export { fetch, respond, submit, takeTicket } from "./respond.js";
export { verify } from "./verify.js";
