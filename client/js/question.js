// One question of a definition, and the number of symbols that its answers have.

import { checkKeys, parseLabels, parseList, parseName, parseTexts } from "./canonical.js";
import { check } from "./errors.js";
import * as types from "./types/index.js";

/** @import { RandomBytes } from "./sampling.js" */
/**
 * A question is shown only if an earlier one was answered with one of these labels.
 * @typedef {{ question: string, labels: string[] }} Condition
 */
/**
 * One question, with the properties of its type.
 * @typedef {object} Question
 * @property {string} id
 * @property {string} type
 * @property {string} text
 * @property {string[]} labels the options of a choice or multiple, the points of a scale, or no and yes
 * @property {boolean} optional
 * @property {true} [shuffle]
 * @property {Condition | null} showIf
 * @property {bigint} noAnswer the last symbol of an optional question; without it, the number of symbols
 * @property {bigint} size the number of symbols
 * @property {object} raw the published form
 */
/** @typedef {Record<string, any>} Values the values of placeholders; `say` formats numbers for its language */
/** @typedef {{ language: string, say: (key: string, values?: Values) => string }} Speech */
/**
 * A question type; its module in `types/` has the methods of the same class in Python.
 *
 * `requiredKeys` and `optionalKeys` are its keys in addition to the common ones; `labelsKey` is the key of the author's
 * labels. `hasSets`: a symbol is a set of labels, as a mask. `fitsGrid`: several questions with equal labels can be shown
 * as one table. `symbols` excludes the symbol for no answer; `label` and `answerLabel` are not called for no answer. The
 * index passed to `answerLabel` is not rounded. `hasLevels`: the symbols are equally spaced numbers, so that noise can be
 * added.
 * @typedef {{
 *   requiredKeys: string[],
 *   optionalKeys: string[],
 *   labelsKey: string | null,
 *   hasSets: boolean,
 *   fitsGrid: boolean,
 *   parse(value: any): { labels: string[] },
 *   symbols(question: Question): bigint,
 *   indexOf(question: Question, answer: unknown): bigint,
 *   unanswered(question: Question): bigint,
 *   labelsOf(question: Question, index: bigint): string[],
 *   symbolOf(question: Question, index: bigint, randomBytes: RandomBytes): bigint,
 *   label(question: Question, symbol: bigint, speech: Speech): string,
 *   answerLabel(question: Question, index: bigint, speech: Speech): string,
 *   hasLevels(question: Question): boolean,
 * }} QuestionType
 */

/** @type {Map<unknown, QuestionType>} */
const TYPES = new Map(Object.entries(types));

/**
 * Return the question type with this name, which must be the name of a parsed question's type.
 * @param {string} name
 */
export const typeOf = (name) => /** @type {QuestionType} */ (TYPES.get(name));

/**
 * Return the label of a symbol of a question.
 * @param {Question} question
 * @param {bigint} symbol
 * @param {Speech} speech
 */
export function digitLabel(question, symbol, speech) {
	return symbol === question.noAnswer ? speech.say("no_answer") : typeOf(question.type).label(question, symbol, speech);
}

/**
 * Return the label of a symbol of a field; for a joint field, the labels of each question.
 * @param {{ questions: Question[], cells: bigint[][] }} field
 * @param {bigint} symbol
 * @param {Speech} speech
 */
export function symbolLabel({ questions, cells }, symbol, speech) {
	const digits = cells[Number(symbol)] ?? [symbol];
	return questions.map((question, i) => digitLabel(question, digits[i], speech)).join(" + ");
}

/**
 * Return the questions of a definition, whose conditions refer to earlier ones; throw CandorError.
 * @param {unknown} value
 */
export function parseQuestions(value) {
	/** @type {Question[]} */
	const questions = [];
	for (const raw of parseList(value, 1)) questions.push(parseQuestion(raw, questions));
	return questions;
}

/**
 * @param {any} value
 * @param {Question[]} earlier
 * @returns {Question}
 */
function parseQuestion(value, earlier) {
	const type = TYPES.get(value?.type);
	check(type);
	checkKeys(value, ["id", "type", "text", ...type.requiredKeys], ["optional", "show_if", ...type.optionalKeys]);
	const { id } = value;
	parseName(id);
	check(!earlier.some((other) => other.id === id));
	parseTexts(value, ["text"]);
	if ("optional" in value) check(value.optional === true && !("show_if" in value)); // show_if implies it
	if ("shuffle" in value) check(value.shuffle === true);
	const showIf = "show_if" in value ? parseCondition(value.show_if, earlier) : null;
	const optional = "optional" in value || "show_if" in value;
	const question = { ...value, ...type.parse(value), optional, showIf, raw: value };
	const noAnswer = type.symbols(question);
	return { ...question, noAnswer, size: noAnswer + BigInt(optional) };
}

/**
 * @param {any} value
 * @param {Question[]} earlier
 * @returns {Condition}
 */
function parseCondition(value, earlier) {
	checkKeys(value, ["question", "is"]);
	const parent = earlier.find((other) => other.id === value.question);
	check(parent);
	const labels = parseLabels(value.is, 1); // a number has no labels, so it cannot be the question of a condition
	check(labels.every((label) => parent.labels.includes(label)));
	return { question: parent.id, labels };
}
