// One question of a definition: what is asked, and how many symbols its answers have.

import { checkKeys, items, labelsAt, nameAt, plainTexts } from "./canonical.js";
import { check } from "./errors.js";
import * as types from "./types/index.js";

/** @import { RandomBytes } from "./sampling.js" */
/**
 * A question is shown only if an earlier one was answered with one of these labels.
 * @typedef {{ question: string, labels: string[] }} Condition
 */
/**
 * One question, with what only its type has.
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
 * @property {object} raw as it was published
 */
/** @typedef {Record<string, any>} Values what fills the blanks; whoever says it writes numbers as its language does */
/** @typedef {{ language: string, say: (key: string, values?: Values) => string }} Speech */
/**
 * What a type decides; its module is in `types/`, and has the methods of its twin in Python.
 *
 * `required` and `possible` are its keys beside the common ones, `labelsKey` that of the labels that an author writes.
 * `hasSets`: a symbol is a set of labels, as a mask. `fitsGrid`: several with equal labels may stand in one table.
 * `symbols` counts them without "no answer", for which neither `label` nor `answerLabel` is asked; the index that
 * `answerLabel` gets is not rounded yet. `hasLevels`: its symbols are equally spaced numbers, so noise can be added.
 * @typedef {{
 *   required: string[],
 *   possible: string[],
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
 * Return the type of this name, which a parsed question has.
 * @param {string} name
 */
export const typeOf = (name) => /** @type {QuestionType} */ (TYPES.get(name));

/**
 * Return the words for one symbol of a question.
 * @param {Question} question
 * @param {bigint} symbol
 * @param {Speech} speech
 */
export function digitLabel(question, symbol, speech) {
	return symbol === question.noAnswer ? speech.say("no_answer") : typeOf(question.type).label(question, symbol, speech);
}

/**
 * Return the words for one symbol of a field; for a joint field, those of each question.
 * @param {{ questions: Question[], cells: bigint[][] }} field
 * @param {bigint} symbol
 * @param {Speech} speech
 */
export function symbolLabel({ questions, cells }, symbol, speech) {
	const digits = cells[Number(symbol)] ?? [symbol];
	return questions.map((question, i) => digitLabel(question, digits[i], speech)).join(" + ");
}

/**
 * The questions of a definition, each knowing the earlier ones.
 * @param {unknown} value
 */
export function parseQuestions(value) {
	/** @type {Question[]} */
	const questions = [];
	for (const raw of items(value, 1)) questions.push(parseQuestion(raw, questions));
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
	checkKeys(value, ["id", "type", "text", ...type.required], ["optional", "show_if", ...type.possible]);
	const { id } = value;
	nameAt(id);
	check(!earlier.some((other) => other.id === id));
	plainTexts(value, ["text"]);
	if ("optional" in value) check(value.optional === true && !("show_if" in value)); // which implies it
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
	const labels = labelsAt(value.is, 1); // a number has none of these
	check(labels.every((label) => parent.labels.includes(label)));
	return { question: parent.id, labels };
}
