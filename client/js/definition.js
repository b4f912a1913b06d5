// The definition of a survey: public, immutable, named by the SHA-256 of its bytes.
//
// `Survey.fromJson` is the border: it refuses everything malformed, and what it returns can be trusted to be
// well-formed. Whether it is private enough is another question, for `verify`.

import { choose, conform, dumps, isCount, isDecimal, isName, isObject, isText, loads, matches } from "./canonical.js";
import { check } from "./errors.js";
import { parse as parseMechanism } from "./mechanism.js";
import { digest, utf8 } from "./sha256.js";

/** @import { Schema, Test } from "./canonical.js" */
/** @import { Mechanism } from "./mechanism.js" */

/**
 * A question is shown only if an earlier one was answered with one of these labels.
 * @typedef {{ question: string, labels: string[] }} Condition
 */
/**
 * min, max and step as integers, in units of 10^−digits.
 * @typedef {{ low: bigint, high: bigint, step: bigint, digits: number }} Grid
 */
/**
 * One question; `labels` are the options of a choice or multiple, the points of a scale, or no and yes.
 * @typedef {object} Question
 * @property {string} id
 * @property {string} type
 * @property {string} text
 * @property {string[]} labels
 * @property {boolean} optional
 * @property {Condition | null} showIf
 * @property {string} unit
 * @property {number} levels 0 if it has none
 * @property {number} bins 0 if it has none
 * @property {Grid} grid of a number
 * @property {bigint} steps N: a number's index runs from 0 to N
 * @property {bigint} noAnswer the last symbol of an optional question; without it, the number of symbols
 * @property {bigint} size the number of symbols
 * @property {object} raw as it was published, which the field's digest names
 */
/**
 * What is randomized once: one question, or the product of several.
 * @typedef {{ questions: Question[], mechanism: Mechanism, digest: string }} Field
 */

const FORMAT = "candor/1";
const LARGEST_DEFINITION = 256_000;
const LARGEST_REPORT = 64_000;
const MOST_STEPS = 2n ** 31n - 1n;
const LANGUAGE = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;
const CLAIM = /^[0-9]+(\.[0-9]{1,12})?$/;
const NO_GRID = { low: 0n, high: 0n, step: 1n, digits: 0 };

/** @type {Test} */
const isList = (value) => Array.isArray(value) && value.length >= 1;
/** @type {Test} */
const isLabels = (value) => isList(value) && value.every(isText) && new Set(value).size === value.length;
/** @type {Test} */
const isOptions = (value) => isLabels(value) && value.length >= 2;

/** @type {Schema} */
const SURVEY = {
	format: (value) => value === FORMAT,
	slug: isName,
	title: isText,
	"description?": isText,
	"consent?": isText,
	"contact?": isText,
	"language?": (value) => value !== "en" && matches(value, LANGUAGE),
	epsilon: (value) => isDecimal(value) && Number(value) > 0 && CLAIM.test(String(value)),
	"ask?": (value) => isCount(value) && value >= 1,
	questions: isList,
	fields: isList,
};

/** @type {Schema} */
const COMMON = {
	id: isName,
	text: isText,
	type: isText,
	"optional?": (value) => value === true,
	"show_if?": isObject,
};

/**
 * For each type: the keys it needs and those it may have, beside the common ones.
 * @type {Record<string, Schema>}
 */
const TYPES = {
	yes_no: {},
	choice: { options: isOptions },
	scale: { points: isOptions, "scores?": (value) => isList(value) && value.every(isDecimal) },
	multiple: { options: isOptions },
	number: { min: isDecimal, max: isDecimal, step: isDecimal, "unit?": isText, "levels?": isCount, "bins?": isCount },
};

/**
 * A well-formed definition. `epsilon` is what it claims; `verify` computes what it spends.
 * @typedef {object} Survey
 * @property {string} digest the name of this definition: SHA-256 of its bytes, in hexadecimal
 * @property {string} slug
 * @property {string} title
 * @property {string} language
 * @property {number | string} epsilon
 * @property {number} [ask]
 * @property {Question[]} questions
 * @property {Field[]} fields
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
		return { ...parseSurvey(loads(source)), digest: digest(source) };
	},
};

/** @param {any} value */
function parseSurvey(value) {
	conform(value, SURVEY);
	const { language = "en", ask } = value;
	/** @type {Question[]} */
	const questions = [];
	for (const raw of value.questions) questions.push(parseQuestion(raw, questions));
	const free = new Map(questions.map((question) => [question.id, question]));
	/** @type {Field[]} */
	const fields = value.fields.map((/** @type {any} */ raw) => parseField(raw, free));
	check(free.size === 0); // every question is in a field
	if (ask) check(ask <= fields.length && !questions.some((question) => question.showIf));
	const width = fields.reduce((sum, field) => sum + field.mechanism.width, ask ? fields.length : 0);
	const length = Math.ceil(width / 8);
	check(Math.floor((length * 4) / 3) + 150 <= LARGEST_REPORT, "too_large");
	return { ...value, language, questions, fields, width, length };
}

/**
 * @param {any} value
 * @param {Question[]} earlier
 * @returns {Question}
 */
function parseQuestion(value, earlier) {
	conform(value, { ...COMMON, ...choose(value?.type, TYPES) });
	const { id, type, show_if: condition, unit = "", levels = 0, bins = 0 } = value;
	check(!earlier.some((other) => other.id === id));
	check(!(value.optional && condition)); // show_if implies it
	/** @type {string[]} */
	const labels = type === "yes_no" ? ["no", "yes"] : (value.options ?? value.points ?? []);
	if (value.scores) check(value.scores.length === labels.length);
	const optional = Boolean(value.optional || condition);
	const showIf = condition ? parseCondition(condition, earlier) : null;
	const { grid, steps } = type === "number" ? parseNumber(value) : { grid: NO_GRID, steps: 0n };
	const count = BigInt(labels.length || levels || bins);
	const noAnswer = type === "multiple" ? 1n << count : count;
	const size = noAnswer + BigInt(optional);
	return { ...value, labels, optional, showIf, unit, levels, bins, grid, steps, noAnswer, size, raw: value };
}

/** @param {any} value */
function parseNumber({ min, max, step, levels, bins }) {
	const grid = toGrid(min, max, step);
	const range = grid.high - grid.low;
	check(range > 0n && grid.step > 0n && range % grid.step === 0n);
	const steps = range / grid.step;
	check(steps <= MOST_STEPS);
	check((levels === undefined) !== (bins === undefined));
	const grain = levels ?? bins;
	check(grain >= 2 && grain <= steps + 1n);
	return { grid, steps };
}

/**
 * Three decimals as integers in the largest unit 10^−digits that fits them all.
 * @param {(number | string)[]} decimals
 * @returns {Grid}
 */
function toGrid(...decimals) {
	const parts = decimals.map((decimal) => String(decimal).split("."));
	const digits = Math.max(...parts.map(([, fraction = ""]) => fraction.length));
	const [low, high, step] = parts.map(([whole, fraction = ""]) => BigInt(whole + fraction.padEnd(digits, "0")));
	return { low, high, step, digits };
}

/**
 * @param {any} value
 * @param {Question[]} earlier
 * @returns {Condition}
 */
function parseCondition(value, earlier) {
	conform(value, { question: isName, is: isLabels });
	const { question, is: labels } = value;
	const parent = earlier.find((other) => other.id === question);
	check(parent && labels.every((/** @type {string} */ label) => parent.labels.includes(label)));
	return { question, labels };
}

/**
 * @param {any} value
 * @param {Map<string, Question>} free the questions of no field yet; those of this one are taken out
 * @returns {Field}
 */
function parseField(value, free) {
	conform(value, { questions: isList, mechanism: isObject });
	/** @type {Question[]} */
	const questions = [];
	for (const id of value.questions) {
		const question = free.get(id);
		check(question);
		free.delete(id);
		questions.push(question);
	}
	const [only] = questions;
	const alone = questions.length === 1;
	const { kind } = value.mechanism;
	let size = questions.reduce((product, question) => product * question.size, 1n);
	if (kind === "sampled") {
		check(alone && only.type === "multiple", "bad_mechanism");
		size = BigInt(only.labels.length) + BigInt(only.optional);
	}
	if (kind === "geometric") check(alone && only.levels && !only.optional, "bad_mechanism");
	const named = { mechanism: value.mechanism, questions: questions.map((question) => question.raw) };
	return { questions, mechanism: parseMechanism(value.mechanism, size), digest: digest(utf8(dumps(named))) };
}
