// What a person said, as integers: answers → indices → symbols. All three are BigInts.
//
// An *index* is exact and private to the device: an option's position, a set's mask, or a number's position on its
// grid, found through decimal text and never through binary floats. Numbers with `levels` are then rounded at random
// to a level, which is the *symbol*; elsewhere index and symbol are the same.

import { needed } from "./definition.js";
import { check } from "./errors.js";
import { labelsOf } from "./question.js";
import { below } from "./sampling.js";

/** @import { Field, Survey } from "./definition.js" */
/** @import { Question } from "./question.js" */
/** @import { RandomBytes } from "./sampling.js" */
/** @typedef {Record<string, unknown>} Answers by id of the question; null or undefined is no answer */
/** @typedef {Record<string, bigint>} Indices by id of the question */

const DECIMAL_TEXT = /^([+-]?[0-9]{1,17})(?:\.([0-9]{1,17}))?$/;

/**
 * The index of every question; if one field is asked, only it and its filters need an answer.
 * @param {Survey} survey
 * @param {Answers} answers
 * @param {number | null} [asked]
 */
export function encode(survey, answers, asked = null) {
	const ids = new Set(survey.questions.map(({ id }) => id));
	for (const id of Object.keys(answers)) check(ids.has(id), "bad_answer", id);
	const wanted = asked === null ? ids : needed(survey, asked);
	/** @type {Indices} */
	const indices = {};
	/** @type {Record<string, string[]>} */
	const picked = {};
	for (const question of survey.questions) {
		const { id } = question;
		const answer = Object.hasOwn(answers, id) ? answers[id] : null;
		const given = answer !== null && answer !== undefined;
		check(given || question.optional || !wanted.has(id), "bad_answer", id);
		let index = given ? indexOf(question, answer) : unanswered(question);
		if (!shown(question, picked)) index = unanswered(question);
		indices[id] = index;
		picked[id] = labelsOf(question, index);
	}
	return indices;
}

/**
 * Whether the labels picked so far show this question; a hidden question has picked none.
 * @param {Question} question
 * @param {Record<string, string[]>} picked
 */
export function shown({ showIf }, picked) {
	return !showIf || showIf.labels.some((label) => picked[showIf.question].includes(label));
}

/**
 * The index of one given answer; bad_answer if it does not fit.
 * @param {Question} question
 * @param {unknown} answer
 */
export function indexOf(question, answer) {
	if (question.type === "number") return numberIndex(question, answer);
	if (question.type === "multiple") {
		check(Array.isArray(answer), "bad_answer", question.id);
		const chosen = new Set(answer);
		// all labels, whichever are chosen: no answer takes longer than another
		const mask = question.labels.map((label) => Number(chosen.has(label)));
		check(mask.filter(Boolean).length === answer.length, "bad_answer", question.id); // options, each once
		return BigInt(`0b${mask.reverse().join("")}`);
	}
	if (question.type === "yes_no" && typeof answer === "boolean") return BigInt(answer);
	return labelIndex(question, answer);
}

/**
 * @param {Question} question
 * @param {any} label
 */
function labelIndex({ id, labels }, label) {
	// a table of all, so that no label is found sooner than another
	const place = new Map(labels.map((one, i) => [one, i])).get(label);
	check(place !== undefined, "bad_answer", id);
	return BigInt(place);
}

/**
 * @param {Question} question
 * @param {unknown} answer
 */
function numberIndex({ id, grid, bins, steps }, answer) {
	check(typeof answer === "number" || typeof answer === "string", "bad_answer", id);
	const parts = DECIMAL_TEXT.exec(String(answer));
	check(parts, "bad_answer", id);
	const [, whole, fraction = ""] = parts;
	const decimals = fraction.replace(/0+$/, "");
	check(decimals.length <= grid.digits, "bad_answer", id);
	const value = BigInt(whole.replace("+", "") + decimals.padEnd(grid.digits, "0"));
	const offset = value - grid.low;
	check(value >= grid.low && value <= grid.high && offset % grid.step === 0n, "bad_answer", id);
	const index = offset / grid.step;
	return bins ? (index * BigInt(bins)) / (steps + 1n) : index;
}

/**
 * The index that stands for no answer; a number's lies beyond its grid.
 * @param {Question} question
 */
export function unanswered(question) {
	return question.levels ? question.steps + 1n : question.noAnswer;
}

/**
 * The field's symbol: rounding draws in question order, then the place among the possible combinations.
 * @param {Field} field
 * @param {bigint[]} indices
 * @param {RandomBytes} randomBytes
 */
export function symbolOf(field, indices, randomBytes) {
	const digits = field.questions.map((question, i) =>
		question.levels ? round(question, indices[i], randomBytes) : indices[i],
	);
	if (field.cells.length === 0) return digits[0];
	// a table of all, so that no combination is found sooner than another
	const symbols = new Map(field.cells.map((cell, symbol) => [String(cell), BigInt(symbol)]));
	return /** @type {bigint} */ (symbols.get(String(digits)));
}

/**
 * A level, drawn between the two next to the number; drawn and ignored for no answer.
 * @param {Question} question
 * @param {bigint} index
 * @param {RandomBytes} randomBytes
 */
function round({ levels, steps, noAnswer }, index, randomBytes) {
	const scaled = index * BigInt(levels - 1);
	const up = below(Number(steps), randomBytes) < scaled % steps;
	return index > steps ? noAnswer : scaled / steps + BigInt(up);
}
