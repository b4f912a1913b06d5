// What a person has answered and spent, as a value: one entry for each definition, the sums, and the two limits.
//
// Every definition is charged in full, once, with fresh noise; so the loss of a person is at most the sum shown here,
// whatever servers and answers do (sequential composition). An entry goes from begun (the field to ask is drawn) over
// taking (an invitation is being changed for a ticket) and ticket to made (bits and charge are there) and stored. Once a
// server has acknowledged the report, everything that names it is deleted: id, bits, ticket, invitation, the field asked.
// There is no key, no answer and nothing derived from one. A report whose charge is all that is left of it, because the
// page that held it was closed, is lost: it is neither sent nor made again.
//
// Sums are exact, in units of 1e-12; a charge is rounded up to them.

import { check } from "./errors.js";
import { fromText, Report } from "./report.js";
import { checkLimit, verify } from "./verify.js";

/** @import { Survey } from "./definition.js" */
/** @import { Ticket } from "./report.js" */
/** @import { Limit } from "./verify.js" */

/**
 * What this device has to do with one definition. Bytes are base64url, ε is decimal text, "0" until a report is made.
 * @typedef {object} Entry
 * @property {string} slug
 * @property {string} study empty unless the survey is one group of several
 * @property {string} server with any path before the survey's
 * @property {string} epsilon
 * @property {string} day on which the report was made, such as 2026-12-10; empty until then
 * @property {boolean} stored whether a server has acknowledged it; what follows is deleted then
 * @property {number} [asked] the field that was drawn
 * @property {string} [code] the invitation, while a ticket is being taken; so are salt and r
 * @property {string} [salt]
 * @property {string} [r]
 * @property {string} [prefix] with a signature it is the ticket
 * @property {string} [signature]
 * @property {string} [id]
 * @property {string} [bits]
 */
/** @typedef {{ format: string, entries: Record<string, Entry> }} Book the entries by digest */
/** @typedef {{ limit?: Limit, serverLimit?: Limit }} Limits */

export const SURVEY_LIMIT = 8; // ε for all versions of a survey, and all groups of a study
export const SERVER_LIMIT = 24; // ε for all surveys of one host
const PLACES = 12;

/**
 * How far an entry has come.
 * @param {Entry} entry
 */
export function stateOf({ stored, bits, day, signature, r }) {
	if (stored) return "stored";
	if (bits) return "made";
	if (day) return "lost";
	return signature ? "ticket" : r ? "taking" : "begun";
}

/**
 * The entry of this definition, or one to begin with; other_server if it has begun elsewhere in earnest, report_lost if
 * only its charge is left.
 * @param {Book} book
 * @param {Survey} survey
 * @param {string} server
 * @returns {Entry}
 */
export function find(book, { digest, slug, study = "" }, server) {
	const entry = book.entries[digest] ?? { slug, study, server, epsilon: "0", day: "", stored: false };
	check(stateOf(entry) !== "lost", "report_lost");
	if (entry.server === server || entry.stored) return entry;
	check(stateOf(entry) === "begun", "other_server", entry.server);
	return { ...entry, server };
}

/**
 * Without a ticket, or the beginning of one.
 * @param {Entry} entry
 * @returns {Entry}
 */
export function withoutTicket({ code, prefix, salt, r, signature, ...rest }) {
	return rest;
}

/**
 * What remains: where somebody took part, on which day, and what it cost.
 * @param {Entry} entry
 * @param {boolean} [stored]
 * @returns {Entry}
 */
export function acknowledged({ slug, study, server, epsilon, day }, stored = true) {
	return { slug, study, server, epsilon, day, stored };
}

/**
 * What may lie where others can read it: the charges alone.
 * @param {Book} book
 * @returns {Book}
 */
export function chargesOf({ format, entries }) {
	const charged = Object.entries(entries).filter(([, { day }]) => day);
	return {
		format,
		entries: Object.fromEntries(charged.map(([digest, one]) => [digest, acknowledged(one, one.stored)])),
	};
}

/**
 * The charges of a storage, with what a page holds of them; what was forgotten or acknowledged elsewhere is so here.
 * @param {Book} book
 * @param {Record<string, Entry>} held
 * @returns {Book}
 */
export function complete({ format, entries }, held) {
	const whole = Object.entries(held).filter(([digest, { day, bits }]) => {
		const kept = entries[digest];
		return kept ? !kept.stored && (bits || !kept.day) : !day;
	});
	return { format, entries: { ...entries, ...Object.fromEntries(whole) } };
}

/**
 * The ticket, as long as it is needed.
 * @param {Entry} entry
 * @returns {Ticket | undefined}
 */
export function ticketOf({ prefix, signature }) {
	return prefix && signature ? { prefix: fromText(prefix), signature: fromText(signature) } : undefined;
}

/**
 * The report that was made, as it is sent every time.
 * @param {string} digest
 * @param {Entry} entry
 */
export function reportOf(digest, entry) {
	const { id = "", bits = "" } = entry;
	return new Report(digest, fromText(id), fromText(bits), ticketOf(entry));
}

/**
 * ε spent on all versions of this survey and all groups of its study, at this host, as decimal text.
 * @param {Book} book
 * @param {Survey} survey
 * @param {string} server
 */
export function spentOnSurvey(book, survey, server) {
	return spell(total(ofSurvey(book, survey, server)));
}

/**
 * ε spent on all surveys of this host, whatever its port and path, as decimal text.
 * @param {Book} book
 * @param {string} server
 */
export function spentOnServer(book, server) {
	return spell(total(ofHost(book, server)));
}

/**
 * What answering would be charged; above_limit or above_server_limit if that is more than the person allows.
 * @param {Book} book
 * @param {Survey} survey
 * @param {string} server
 * @param {Limits} limits
 */
export function charge(book, survey, server, { limit = SURVEY_LIMIT, serverLimit = SERVER_LIMIT } = {}) {
	const units = roundUp(verify(survey));
	checkLimit(spell(units + total(ofSurvey(book, survey, server))), limit);
	checkLimit(spell(units + total(ofHost(book, server))), serverLimit, "above_server_limit");
	return spell(units);
}

/**
 * The host name of a server: without scheme, port and path, in lower case.
 * @param {string} server
 */
export const hostOf = (server) => new URL(server).hostname.replace(/\.$/, "");

/**
 * @param {Book} book
 * @param {string} server
 */
const ofHost = ({ entries }, server) => Object.values(entries).filter((one) => hostOf(one.server) === hostOf(server));

/**
 * @param {Book} book
 * @param {Survey} survey
 * @param {string} server
 */
function ofSurvey(book, { slug, study = slug }, server) {
	return ofHost(book, server).filter((one) => one.slug === slug || (one.study || one.slug) === study);
}

/**
 * In units.
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
 * A float may lie below the truth by its last digits, and is rounded up past them.
 * @param {number} epsilon
 */
const roundUp = (epsilon) => BigInt(Math.ceil(epsilon * (1 + 4 * Number.EPSILON) * 10 ** PLACES));
