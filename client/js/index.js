export { Survey } from "./definition.js";
export { CandorError } from "./errors.js";
export { Ledger } from "./ledger.js";
export { Report, randomize } from "./report.js";
export { fetch, respond, submit } from "./respond.js";
export { verify } from "./verify.js";
