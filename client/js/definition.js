// The definition of a survey: public, immutable, named by the SHA-256 of its bytes.
//
// `Survey.fromJson` is the border: it refuses everything malformed, and what it returns can be trusted to be
// well-formed. Whether it is private enough is another question, for `verify`.

import {
	checkKeys,
	decimal,
	dumps,
	hasInvisible,
	integer,
	items,
	loads,
	matches,
	nameAt,
	plainTexts,
} from "./canonical.js";
import { completion, language, sections, translations } from "./display.js";
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
const MOST_WORK = 2 ** 20; // symbols that a device may have to look at, over all fields
const MOST_CELLS = 65_536; // combinations of one joint field, those that cannot occur included
const MOST_CHANCES = 10 ** 6;

const PROSE = ["description", "consent", "contact", "thanks"];
const MORE = ["ask", "study", "group", "language", "sections", "completion", "translations", "tickets"];
const CLAIM = /^[0-9]+(\.[0-9]{1,12})?$/;
const ORIGIN = /^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[1-9][0-9]{0,4})?$/;
const YEAR = /^(?!0000)[0-9]{4}-/;
// base64url of an odd number of exactly 3072 bits: the highest bit is in the first digit, the lowest in the last
const MODULUS = /^[g-z0-9_-][A-Za-z0-9_-]{510}[BDFHJLNPRTVXZbdfhjlnprtvxz13579_]$/;

/**
 * Who may answer: whoever has a ticket signed with this key. `from` is when reports begin, if later.
 * @typedef {{ key: string, issuer?: string, from?: string }} Tickets
 */

/**
 * What is randomized once: one question, or the possible combinations of several.
 * @typedef {object} Field
 * @property {Question[]} questions
 * @property {Mechanism} mechanism
 * @property {number} chance with `ask`, a device answers this field with a probability in proportion to it
 * @property {bigint[][]} cells of a joint field: for every symbol, the symbols of the questions; otherwise empty
 */

/**
 * The combinations that can occur, in order, the first question most significant. A question that another of them hides
 * has no answer; if the other lies outside, anything may have happened.
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
		const hidden = (digits) => place >= 0 && !labels(digits).some((label) => showIf?.labels.includes(label));
		cells = cells.flatMap((digits) => (hidden(digits) ? none : all).map((digit) => [...digits, digit]));
	}
	return cells;
}

/**
 * A well-formed definition. `epsilon` is what it claims; `verify` computes what it spends.
 * @typedef {object} Survey
 * @property {string} digest the name of this definition: SHA-256 of its bytes, in hexadecimal
 * @property {string} slug
 * @property {string} title
 * @property {string} [description]
 * @property {string} [consent]
 * @property {string} [contact]
 * @property {string} language
 * @property {number | string} epsilon
 * @property {1} [ask] whether a device answers one field only, which it draws
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
	 * Parse canonical bytes.
	 * @param {Uint8Array} source
	 * @returns {Survey}
	 */
	fromJson(source) {
		check(source.length <= LARGEST_DEFINITION, "too_large");
		return parseSurvey(loads(source), digest(source));
	},
};

/**
 * The ids of the questions that a device puts to ask one field: its own, and as filters those on which they depend.
 * @param {Survey} survey
 * @param {number} asked
 */
export function needed({ questions, fields }, asked) {
	const wanted = new Set(fields[asked].questions.map(({ id }) => id));
	for (const { id, showIf } of [...questions].reverse()) if (showIf && wanted.has(id)) wanted.add(showIf.question);
	return wanted;
}

/**
 * @param {any} value
 * @param {string} digest
 */
function parseSurvey(value, digest) {
	checkKeys(value, ["format", "slug", "title", "epsilon", "questions", "fields"], [...PROSE, ...MORE]);
	check(value.format === FORMAT);
	plainTexts(value, ["title", "group", ...PROSE]);
	nameAt(value.slug);
	check("study" in value === "group" in value);
	if ("study" in value) check(value.slug.startsWith(`${nameAt(value.study)}-`));
	check(Number(decimal(value.epsilon)) > 0 && CLAIM.test(value.epsilon));
	if ("ask" in value) integer(value.ask, 1, 1);
	const tongue = "language" in value ? language(value.language, "en") : "en";
	const questions = parseQuestions(value.questions);
	const fields = parseFields(value.fields, questions, "ask" in value);
	if ("sections" in value) sections(value.sections, questions);
	if ("completion" in value) completion(value.completion);
	if ("tickets" in value) parseTickets(value.tickets);
	const width = fields.reduce((sum, { mechanism }) => sum + mechanism.width, "ask" in value ? fields.length : 0);
	const length = Math.ceil(width / 8);
	check(length <= LARGEST_BITS, "too_large");
	const survey = { ...value, digest, language: tongue, questions, fields, width, length };
	if ("translations" in value) translations(value.translations, survey);
	check(fields.length <= MOST_FIELDS && questions.every(({ labels }) => labels.length <= MOST_LABELS), "too_large");
	check(!hasInvisible(value));
	return survey;
}

/**
 * The fields, which hold every question once; what a device may have to work is counted before it is done.
 * @param {unknown} value
 * @param {Question[]} questions
 * @param {boolean} ask
 */
function parseFields(value, questions, ask) {
	const free = new Set(questions.map(({ id }) => id));
	let work = 0n;
	const fields = items(value, 1).map((raw) => {
		checkKeys(raw, ["mechanism", "questions"], ask ? ["chance"] : []);
		const chance = "chance" in raw ? integer(raw.chance, 2, MOST_CHANCES) : 1;
		const named = items(raw.questions, 1);
		const members = questions.filter(({ id }) => named.includes(id) && free.delete(id));
		check(dumps(members.map(({ id }) => id)) === dumps(named)); // questions of no other field, in their order
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
 * The size that a field's mechanism has to have, if it is one question's, and the symbols to look at.
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
 * The key that signs tickets, who signs if it is another server, and when answering begins. (In Python they are in
 * ticket.py; the rest of which only surveys by invitation load here.)
 * @param {any} value
 */
function parseTickets(value) {
	checkKeys(value, ["key"], ["issuer", "from"]);
	if ("issuer" in value) check(matches(value.issuer, ORIGIN));
	if ("from" in value) check(matches(value.from, YEAR) && isMoment(value.from));
	check(matches(value.key, MODULUS));
}

/**
 * Whether the calendar has it, and it is spelled so; a browser may take 30 February for 2 March.
 * @param {string} text
 */
const isMoment = (text) => new Date(text).toJSON() === text.replace("Z", ":00.000Z");
