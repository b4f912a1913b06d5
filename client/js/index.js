// The respondent's client of Candor for browsers: plain modules, short enough to audit before use.

export { Survey } from "./definition.js";
export { CandorError } from "./errors.js";
export { Ledger } from "./ledger.js";
export { Report, randomize } from "./report.js";
export { fetch, respond, submit, takeTicket } from "./respond.js";
export { open, Session } from "./session.js";
export { verify } from "./verify.js";
