// What a person said, as integers: answers → indices → symbols. All three are BigInts.
//
// An *index* is exact and private to the device: an option's position, a set's mask, or a number's position on its
// grid, found through decimal text and never through binary floats. Numbers with `levels` are then rounded at random
// to a level, which is the *symbol*; elsewhere index and symbol are the same.

import { check } from "./errors.js";
import { below } from "./sampling.js";

/** @import { Field, Question, Survey } from "./definition.js" */
/** @import { RandomBytes } from "./sampling.js" */
/** @typedef {Record<string, unknown>} Answers by id of the question; null or undefined is no answer */
/** @typedef {Record<string, bigint>} Indices by id of the question */

const DECIMAL_TEXT = /^([+-]?[0-9]{1,17})(?:\.([0-9]{1,17}))?$/;

/**
 * The index of every question; those outside the fields at the `asked` positions need no answer.
 * @param {Survey} survey
 * @param {Answers} answers
 * @param {number[]} [asked]
 */
export function encode(survey, answers, asked = [...survey.fields.keys()]) {
	for (const id of Object.keys(answers)) {
		const known = survey.questions.some((question) => question.id === id);
		check(known, "bad_answer", id);
	}
	const wanted = asked.flatMap((position) => survey.fields[position].questions);
	/** @type {Indices} */
	const indices = {};
	/** @type {Record<string, string[]>} */
	const picked = {};
	for (const question of survey.questions) {
		const answer = Object.hasOwn(answers, question.id) ? answers[question.id] : null;
		const given = answer !== null && answer !== undefined;
		check(given || question.optional || !wanted.includes(question), "bad_answer", question.id);
		let index = given ? indexOf(question, answer) : unanswered(question);
		if (!shown(question, picked)) index = unanswered(question);
		indices[question.id] = index;
		picked[question.id] = labelsOf(question, index);
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
		check(Array.isArray(answer) && new Set(answer).size === answer.length, "bad_answer", question.id);
		return answer.reduce((mask, label) => mask | (1n << labelIndex(question, label)), 0n);
	}
	if (question.type === "yes_no" && typeof answer === "boolean") return BigInt(answer);
	return labelIndex(question, answer);
}

/**
 * @param {Question} question
 * @param {any} label
 */
function labelIndex({ id, labels }, label) {
	check(labels.includes(label), "bad_answer", id);
	return BigInt(labels.indexOf(label));
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
 * The labels that an index stands for: one, several for a multiple, none for no answer or a number.
 * @param {Question} question
 * @param {bigint} index
 */
export function labelsOf({ type, labels }, index) {
	if (type === "multiple") return labels.filter((_, i) => (index >> BigInt(i)) & 1n);
	return labels.slice(Number(index), Number(index) + 1);
}

/**
 * The field's symbol: rounding draws in question order, then mixed radix, the first question most significant.
 * @param {Field} field
 * @param {bigint[]} indices
 * @param {RandomBytes} randomBytes
 */
export function symbolOf(field, indices, randomBytes) {
	let symbol = 0n;
	field.questions.forEach((question, i) => {
		let digit = indices[i];
		if (question.levels) {
			digit = digit <= question.steps ? round(question, digit, randomBytes) : BigInt(question.levels);
		}
		symbol = symbol * question.size + digit;
	});
	return symbol;
}

/**
 * @param {Question} question
 * @param {bigint} index
 * @param {RandomBytes} randomBytes
 */
function round({ levels, steps }, index, randomBytes) {
	const scaled = index * BigInt(levels - 1);
	const up = below(Number(steps), randomBytes) < scaled % steps;
	return scaled / steps + BigInt(up);
}
