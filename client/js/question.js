// One question of a definition: what is asked, and how many symbols its answers have.

import { checkKeys, decimal, integer, items, labelsAt, nameAt, plainTexts } from "./canonical.js";
import { check } from "./errors.js";

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
 * @property {true} [shuffle]
 * @property {Condition | null} showIf
 * @property {string} unit
 * @property {number} levels 0 if it has none
 * @property {number} bins 0 if it has none
 * @property {Grid} grid of a number
 * @property {bigint} steps N: a number's index runs from 0 to N
 * @property {bigint} noAnswer the last symbol of an optional question; without it, the number of symbols
 * @property {bigint} size the number of symbols
 * @property {object} raw as it was published
 */

const MOST_STEPS = 2n ** 31n - 1n;
const NO_GRID = { low: 0n, high: 0n, step: 1n, digits: 0 };

/**
 * For each type: the keys it needs and those it may have, beside the common ones.
 * @type {Map<unknown, { required: string[], possible: string[] }>}
 */
const TYPES = new Map([
	["yes_no", { required: [], possible: [] }],
	["choice", { required: ["options"], possible: ["shuffle"] }],
	["scale", { required: ["points"], possible: ["scores"] }],
	["multiple", { required: ["options"], possible: ["shuffle"] }],
	["number", { required: ["min", "max", "step"], possible: ["unit", "levels", "bins"] }],
]);

/**
 * The labels that an index stands for: one, several for a multiple, none for no answer or a number.
 * @param {Question} question
 * @param {bigint} index
 */
export function labelsOf({ type, labels }, index) {
	if (type === "multiple") {
		const mask = index.toString(2).padStart(labels.length, "0");
		return labels.filter((_, i) => mask.at(-1 - i) === "1");
	}
	return labels.slice(Number(index), Number(index) + 1);
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
	const keys = TYPES.get(value?.type);
	check(keys);
	const { required, possible } = keys;
	checkKeys(value, ["id", "type", "text", ...required], ["optional", "show_if", ...possible]);
	const { id, type } = value;
	nameAt(id);
	check(!earlier.some((other) => other.id === id));
	plainTexts(value, ["text"]);
	if ("optional" in value) check(value.optional === true && !("show_if" in value)); // which implies it
	if ("shuffle" in value) check(value.shuffle === true);
	const showIf = "show_if" in value ? parseCondition(value.show_if, earlier) : null;
	/** @type {string[]} */
	let labels = [];
	let number = { unit: "", levels: 0, bins: 0, grid: NO_GRID, steps: 0n };
	if (type === "yes_no") labels = ["no", "yes"];
	else if (type === "number") number = parseNumber(value);
	else labels = labelsAt(value.options ?? value.points, 2);
	if ("scores" in value) check(items(value.scores, 2).map(decimal).length === labels.length);
	const count = BigInt(labels.length || number.levels || number.bins);
	const noAnswer = type === "multiple" ? 1n << count : count;
	const optional = "optional" in value || "show_if" in value;
	const size = noAnswer + BigInt(optional);
	return { ...value, ...number, labels, optional, showIf, noAnswer, size, raw: value };
}

/** @param {any} value */
function parseNumber(value) {
	const grid = toGrid(decimal(value.min), decimal(value.max), decimal(value.step));
	const range = grid.high - grid.low;
	check(range > 0n && grid.step > 0n && range % grid.step === 0n);
	const steps = range / grid.step;
	check(steps <= MOST_STEPS);
	plainTexts(value, ["unit"]);
	check("levels" in value !== "bins" in value);
	const { unit = "", levels = 0, bins = 0 } = value;
	integer(levels || bins, 2, Number(steps) + 1);
	return { unit, levels, bins, grid, steps };
}

/**
 * Three decimals as integers in the largest unit 10^−digits that fits them all.
 * @param {string[]} decimals
 * @returns {Grid}
 */
function toGrid(...decimals) {
	const parts = decimals.map((decimal) => decimal.split("."));
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
	checkKeys(value, ["question", "is"]);
	const parent = earlier.find((other) => other.id === value.question);
	check(parent && parent.type !== "number");
	const labels = labelsAt(value.is, 1);
	check(labels.every((label) => parent.labels.includes(label)));
	return { question: parent.id, labels };
}
