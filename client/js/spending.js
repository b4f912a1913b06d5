// The content of a ledger, as a value: one entry for each definition, the sums, and the two limits.
//
// Every definition is charged in full, once, with fresh noise. So a respondent's privacy loss is at most the sum of the
// charges, for every behaviour of servers and every answer (sequential composition).
//
// An entry passes through five states. In `begun` the field to ask is drawn. In `taking` an invitation is being exchanged
// for a ticket. In `ticket` the ticket is stored. In `made` the report and its charge are stored. In `stored` a server
// has acknowledged the report, and everything that identifies it is deleted: id, bits, ticket, invitation, the field
// asked. An entry never holds a key, an answer or anything derived from an answer. A sixth state is `lost`: only the
// charge is left, because the page that held the report in memory was closed. Such a report is neither sent nor made again.
//
// Sums are exact, in units of 1e-12; a charge is rounded up to a whole unit.

import { check } from "./errors.js";
import { fromBase64url, Report } from "./report.js";
import { checkLimit, verify } from "./verify.js";

/** @import { Survey } from "./definition.js" */
/** @import { Ticket } from "./report.js" */
/** @import { Limit } from "./verify.js" */

/**
 * The state of one definition on this device. Bytes are base64url, ε is decimal text, "0" until a report is made.
 * @typedef {object} Entry
 * @property {string} slug
 * @property {string} study empty unless the survey is one group of several
 * @property {string} server with any path before the survey's
 * @property {string} epsilon
 * @property {string} day on which the report was made, such as 2026-12-10; empty until then
 * @property {boolean} stored whether a server has acknowledged it; the properties below are then deleted
 * @property {number} [asked] the field that was drawn
 * @property {string} [code] the invitation; it, `salt` and `r` exist only while a ticket is being taken
 * @property {string} [salt]
 * @property {string} [r]
 * @property {string} [prefix] together with `signature`, the ticket
 * @property {string} [signature]
 * @property {string} [id]
 * @property {string} [bits]
 */
/** @typedef {{ format: string, entries: Record<string, Entry> }} Spending the entries by digest */
/** @typedef {{ limit?: Limit, serverLimit?: Limit }} Limits */

export const SURVEY_LIMIT = 8; // ε for all versions of a survey, and all groups of a study
export const SERVER_LIMIT = 24; // ε for all surveys of one host
const PLACES = 12;

/**
 * Return the state of an entry: begun, taking, ticket, made, lost or stored.
 * @param {Entry} entry
 */
export function stateOf({ stored, bits, day, signature, r }) {
	if (stored) return "stored";
	if (bits) return "made";
	if (day) return "lost";
	return signature ? "ticket" : r ? "taking" : "begun";
}

/**
 * Return the entry of a survey, or a new one. Throw other_server if a ticket or report is for another server, and
 * report_lost if only the charge is left.
 * @param {Spending} spending
 * @param {Survey} survey
 * @param {string} server
 * @returns {Entry}
 */
export function find(spending, { digest, slug, study = "" }, server) {
	const entry = spending.entries[digest] ?? { slug, study, server, epsilon: "0", day: "", stored: false };
	check(stateOf(entry) !== "lost", "report_lost");
	if (entry.server === server || entry.stored) return entry;
	check(stateOf(entry) === "begun", "other_server", entry.server);
	return { ...entry, server };
}

/**
 * Return the entry without a ticket or a ticket request.
 * @param {Entry} entry
 * @returns {Entry}
 */
export function withoutTicket({ code, prefix, salt, r, signature, ...rest }) {
	return rest;
}

/**
 * Return the entry after acknowledgement: survey, server, day and charge, without the report.
 * @param {Entry} entry
 * @param {boolean} [stored]
 * @returns {Entry}
 */
export function withoutReport({ slug, study, server, epsilon, day }, stored = true) {
	return { slug, study, server, epsilon, day, stored };
}

/**
 * Return the content with charges only, for a storage that other pages can read.
 * @param {Spending} spending
 * @returns {Spending}
 */
export function chargesOf({ format, entries }) {
	const charged = Object.entries(entries).filter(([, { day }]) => day);
	return {
		format,
		entries: Object.fromEntries(charged.map(([digest, entry]) => [digest, withoutReport(entry, entry.stored)])),
	};
}

/**
 * Return the stored charges, completed by the entries in this page's memory.
 *
 * An entry that another page has deleted or acknowledged meanwhile stays deleted or acknowledged.
 * @param {Spending} spending
 * @param {Record<string, Entry>} held
 * @returns {Spending}
 */
export function complete({ format, entries }, held) {
	const current = Object.entries(held).filter(([digest, { day, bits }]) => {
		const entry = entries[digest];
		return entry ? !entry.stored && (bits || !entry.day) : !day;
	});
	return { format, entries: { ...entries, ...Object.fromEntries(current) } };
}

/**
 * Return the ticket of an entry; undefined if there is none.
 * @param {Entry} entry
 * @returns {Ticket | undefined}
 */
export function ticketOf({ prefix, signature }) {
	return prefix && signature ? { prefix: fromBase64url(prefix), signature: fromBase64url(signature) } : undefined;
}

/**
 * Return the report of an entry; every attempt sends the same report.
 * @param {string} digest
 * @param {Entry} entry
 */
export function reportOf(digest, entry) {
	const { id = "", bits = "" } = entry;
	return new Report(digest, fromBase64url(id), fromBase64url(bits), ticketOf(entry));
}

/**
 * Return the ε spent on all versions of a survey and all groups of its study, at one host, as decimal text.
 * @param {Spending} spending
 * @param {Survey} survey
 * @param {string} server
 */
export function spentOnSurvey(spending, survey, server) {
	return spell(total(ofSurvey(spending, survey, server)));
}

/**
 * Return the ε spent on all surveys of one host, for any port and path, as decimal text.
 * @param {Spending} spending
 * @param {string} server
 */
export function spentOnServer(spending, server) {
	return spell(total(ofHost(spending, server)));
}

/**
 * Return the charge for answering a survey; throw above_limit or above_server_limit if it exceeds a limit.
 * @param {Spending} spending
 * @param {Survey} survey
 * @param {string} server
 * @param {Limits} limits
 */
export function charge(spending, survey, server, { limit = SURVEY_LIMIT, serverLimit = SERVER_LIMIT } = {}) {
	const units = roundUp(verify(survey));
	checkLimit(spell(units + total(ofSurvey(spending, survey, server))), limit);
	checkLimit(spell(units + total(ofHost(spending, server))), serverLimit, "above_server_limit");
	return spell(units);
}

/**
 * Return the host name of a server in lower case, without scheme, port and path.
 * @param {string} server
 */
export const hostOf = (server) => new URL(server).hostname.replace(/\.$/, "");

/**
 * @param {Spending} spending
 * @param {string} server
 */
const ofHost = ({ entries }, server) =>
	Object.values(entries).filter((entry) => hostOf(entry.server) === hostOf(server));

/**
 * @param {Spending} spending
 * @param {Survey} survey
 * @param {string} server
 */
function ofSurvey(spending, { slug, study = slug }, server) {
	return ofHost(spending, server).filter((entry) => entry.slug === slug || (entry.study || entry.slug) === study);
}

/**
 * Return the sum of the charges of some entries, in units.
 * @param {Entry[]} entries
 */
const total = (entries) => entries.reduce((sum, { epsilon }) => sum + toUnits(epsilon), 0n);

/** @param {string} text */
function toUnits(text) {
	const [whole, part = ""] = text.split(".");
	return BigInt(whole + part.padEnd(PLACES, "0"));
}

/** @param {bigint} units */
function spell(units) {
	const digits = String(units).padStart(PLACES + 1, "0");
	return `${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`.replace(/\.?0+$/, "");
}

/**
 * Return ε in units, rounded up past the rounding error of a float.
 * @param {number} epsilon
 */
const roundUp = (epsilon) => BigInt(Math.ceil(epsilon * (1 + 4 * Number.EPSILON) * 10 ** PLACES));
