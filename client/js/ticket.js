// Who may answer a survey by invitation: whoever brings a ticket, signed by the issuer with a key of this survey.
//
// Here is only what a definition says about it.

import { checkKeys, matches } from "./canonical.js";
import { check } from "./errors.js";

/**
 * Who may answer: whoever has a ticket signed with this key. `from` is when reports begin, if later.
 * @typedef {{ key: string, issuer?: string, from?: string }} Tickets
 */

const ORIGIN = /^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[1-9][0-9]{0,4})?$/;
const YEAR = /^(?!0000)[0-9]{4}-/;
// base64url of an odd number of exactly 3072 bits: the highest bit is in the first digit, the lowest in the last
const MODULUS = /^[g-z0-9_-][A-Za-z0-9_-]{510}[BDFHJLNPRTVXZbdfhjlnprtvxz13579_]$/;

/**
 * The key that signs tickets, who signs if it is another server, and when answering begins.
 * @param {any} value
 * @returns {Tickets}
 */
export function parseTickets(value) {
	checkKeys(value, ["key"], ["issuer", "from"]);
	if ("issuer" in value) check(matches(value.issuer, ORIGIN));
	if ("from" in value) check(matches(value.from, YEAR) && isMoment(value.from));
	check(matches(value.key, MODULUS));
	return value;
}

/**
 * Whether the calendar has it, and it is spelled so; a browser may take 30 February for 2 March.
 * @param {string} text
 */
const isMoment = (text) => new Date(text).toJSON() === text.replace("Z", ":00.000Z");
