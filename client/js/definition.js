// The definition of a survey: public, immutable, identified by the SHA-256 of its bytes.
//
// `Survey.fromJson` refuses every malformed definition. Each Survey it returns is well-formed.
// `verify` checks whether the survey is private enough.

import {
	checkKeys,
	dumps,
	hasInvisible,
	loads,
	matches,
	parseDecimal,
	parseInteger,
	parseList,
	parseName,
	parseTexts,
} from "./canonical.js";
import { parseCompletion, parseLanguage, parseSections, parseTranslations } from "./display.js";
import { check } from "./errors.js";
import { kindOf, parse as parseMechanism } from "./mechanisms/index.js";
import { parseQuestions, typeOf } from "./question.js";
import { digest } from "./sha256.js";

/** @import { Section, Translations } from "./display.js" */
/** @import { Mechanism } from "./mechanisms/mechanism.js" */
/** @import { Question } from "./question.js" */

const FORMAT = "candor/2";
const LARGEST_DEFINITION = 256_000;
const LARGEST_BITS = 47_000; // bytes of a report's bits
const MOST_LABELS = 1024; // options of a choice or multiple, points of a scale
const MOST_FIELDS = 4096;
const MOST_WORK = 2 ** 20; // symbols that a device may have to process, over all fields
const MOST_CELLS = 65_536; // combinations of one joint field, including impossible ones
const MOST_CHANCES = 10 ** 6;

const PROSE = ["description", "consent", "contact", "thanks"];
const MORE = ["ask", "study", "group", "language", "sections", "completion", "translations", "tickets"];
const CLAIM = /^[0-9]+(\.[0-9]{1,12})?$/;
const ORIGIN = /^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[1-9][0-9]{0,4})?$/;
const YEAR = /^(?!0000)[0-9]{4}-/;
// base64url of an odd number of exactly 3072 bits: the highest bit is in the first digit, the lowest in the last
const MODULUS = /^[g-z0-9_-][A-Za-z0-9_-]{510}[BDFHJLNPRTVXZbdfhjlnprtvxz13579_]$/;

/**
 * The terms of a survey by invitation: the key that signs tickets, the issuer, and when answering begins (`from`).
 * @typedef {{ key: string, issuer?: string, from?: string }} Tickets
 */

/**
 * A unit of randomization: one question, or the possible combinations of several.
 * @typedef {object} Field
 * @property {Question[]} questions
 * @property {Mechanism} mechanism
 * @property {number} chance with `ask`, a device answers this field with a probability in proportion to it
 * @property {bigint[][]} cells of a joint field: for every symbol, the symbols of the questions; otherwise empty
 */

/**
 * Return the combinations that can occur, in order, the first question most significant.
 *
 * A question has no answer if another of these questions hides it. If its condition is on a question outside the field,
 * every combination is possible.
 * @param {Question[]} questions
 */
export function possibleCells(questions) {
	/** @type {bigint[][]} */
	let cells = [[]];
	for (const { showIf, noAnswer, size } of questions) {
		const all = Array.from({ length: Number(size) }, (_, digit) => BigInt(digit));
		const none = all.slice(Number(noAnswer));
		const place = questions.findIndex(({ id }) => id === showIf?.question);
		/** @param {bigint[]} digits */
		const labels = (digits) => typeOf(questions[place].type).labelsOf(questions[place], digits[place]);
		/** @param {bigint[]} digits */
		const isHidden = (digits) => place >= 0 && !labels(digits).some((label) => showIf?.labels.includes(label));
		cells = cells.flatMap((digits) => (isHidden(digits) ? none : all).map((digit) => [...digits, digit]));
	}
	return cells;
}

/**
 * A well-formed definition. `epsilon` is the claimed budget; `verify` computes the budget that is spent.
 * @typedef {object} Survey
 * @property {string} digest the SHA-256 of the definition's bytes, in hexadecimal
 * @property {string} slug
 * @property {string} title
 * @property {string} [description]
 * @property {string} [consent]
 * @property {string} [contact]
 * @property {string} language
 * @property {number | string} epsilon
 * @property {1} [ask] whether a device answers only one field, drawn at random
 * @property {Question[]} questions
 * @property {Field[]} fields
 * @property {Section[]} [sections]
 * @property {string} [thanks]
 * @property {string} [completion]
 * @property {Translations} [translations]
 * @property {string} [study]
 * @property {string} [group]
 * @property {Tickets} [tickets]
 * @property {number} width stored bits of a report; with `ask`, each field is preceded by its asked bit
 * @property {number} length of a report's bits in bytes
 */
export const Survey = {
	/**
	 * Return the survey of canonical bytes; throw CandorError if they are malformed.
	 * @param {Uint8Array} source
	 * @returns {Survey}
	 */
	fromJson(source) {
		check(source.length <= LARGEST_DEFINITION, "too_large");
		return parseSurvey(loads(source), digest(source));
	},
};

/**
 * Return the ids of the questions that a device asks for one field.
 *
 * These are the field's own questions and, as filters, the questions on which they depend.
 * @param {Survey} survey
 * @param {number} asked
 */
export function questionIdsFor({ questions, fields }, asked) {
	const ids = new Set(fields[asked].questions.map(({ id }) => id));
	for (const { id, showIf } of [...questions].reverse()) if (showIf && ids.has(id)) ids.add(showIf.question);
	return ids;
}

/**
 * @param {any} value
 * @param {string} digest
 */
function parseSurvey(value, digest) {
	checkKeys(value, ["format", "slug", "title", "epsilon", "questions", "fields"], [...PROSE, ...MORE]);
	check(value.format === FORMAT);
	parseTexts(value, ["title", "group", ...PROSE]);
	parseName(value.slug);
	check("study" in value === "group" in value);
	if ("study" in value) check(value.slug.startsWith(`${parseName(value.study)}-`));
	check(Number(parseDecimal(value.epsilon)) > 0 && CLAIM.test(value.epsilon));
	if ("ask" in value) parseInteger(value.ask, 1, 1);
	const tag = "language" in value ? parseLanguage(value.language, "en") : "en";
	const questions = parseQuestions(value.questions);
	const fields = parseFields(value.fields, questions, "ask" in value);
	if ("sections" in value) parseSections(value.sections, questions);
	if ("completion" in value) parseCompletion(value.completion);
	if ("tickets" in value) parseTickets(value.tickets);
	const width = fields.reduce((sum, { mechanism }) => sum + mechanism.width, "ask" in value ? fields.length : 0);
	const length = Math.ceil(width / 8);
	check(length <= LARGEST_BITS, "too_large");
	const survey = { ...value, digest, language: tag, questions, fields, width, length };
	if ("translations" in value) parseTranslations(value.translations, survey);
	check(fields.length <= MOST_FIELDS && questions.every(({ labels }) => labels.length <= MOST_LABELS), "too_large");
	check(!hasInvisible(value));
	return survey;
}

/**
 * Return the fields, which hold every question once; the work of a device is estimated before any of it is done.
 * @param {unknown} value
 * @param {Question[]} questions
 * @param {boolean} ask
 */
function parseFields(value, questions, ask) {
	const free = new Set(questions.map(({ id }) => id));
	let work = 0n;
	const fields = parseList(value, 1).map((raw) => {
		checkKeys(raw, ["mechanism", "questions"], ask ? ["chance"] : []);
		const chance = "chance" in raw ? parseInteger(raw.chance, 2, MOST_CHANCES) : 1;
		const ids = parseList(raw.questions, 1);
		const members = questions.filter(({ id }) => ids.includes(id) && free.delete(id));
		check(dumps(members.map(({ id }) => id)) === dumps(ids)); // questions of no other field, in their order
		const form = raw.mechanism;
		const { size, effort } = measure(form, members);
		work += effort;
		check(work <= MOST_WORK, "too_large");
		const cells = members.length > 1 ? possibleCells(members) : [];
		const mechanism = parseMechanism(form, BigInt(cells.length) || size);
		return { questions: members, mechanism, chance, cells };
	});
	check(free.size === 0); // every question is in a field
	check(fields.reduce((sum, { chance }) => sum + chance, 0) <= MOST_CHANCES);
	return fields;
}

/**
 * Return the size that a one-question field's mechanism must have, and the number of symbols to process.
 * @param {any} form
 * @param {Question[]} questions
 */
function measure(form, questions) {
	const kind = kindOf(form);
	if (kind && questions.length === 1) return kind.fit(form, questions[0]);
	const size = questions.reduce((product, question) => product * question.size, 1n);
	if (questions.length > 1) {
		check(!kind || kind.fitsJoint, "bad_mechanism");
		check(size <= MOST_CELLS, "too_large");
	}
	return { size, effort: size };
}

/**
 * Check the `tickets` part of a definition. (In Python this is in ticket.py; here only surveys by invitation load
 * ticket.js.)
 * @param {any} value
 */
function parseTickets(value) {
	checkKeys(value, ["key"], ["issuer", "from"]);
	if ("issuer" in value) check(matches(value.issuer, ORIGIN));
	if ("from" in value) check(matches(value.from, YEAR) && isMoment(value.from));
	check(matches(value.key, MODULUS));
}

/**
 * Return whether a moment exists in the calendar and is spelled canonically; browsers may read 30 February as 2 March.
 * @param {string} text
 */
const isMoment = (text) => new Date(text).toJSON() === text.replace("Z", ":00.000Z");
