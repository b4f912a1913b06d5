// What a person said, as integers: answers → indices → symbols. All three are BigInts.
//
// An *index* is exact and private to the device: an option's position, a set's mask, or a number's position on its
// grid, found through decimal text and never through binary floats. Numbers with `levels` are then rounded at random
// to a level, which is the *symbol*; elsewhere index and symbol are the same.

import { needed } from "./definition.js";
import { check } from "./errors.js";
import { typeOf } from "./question.js";

/** @import { Field, Survey } from "./definition.js" */
/** @import { Question } from "./question.js" */
/** @import { RandomBytes } from "./sampling.js" */
/** @typedef {Record<string, unknown>} Answers by id of the question; null or undefined is no answer */
/** @typedef {Record<string, bigint>} Indices by id of the question */

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
		const type = typeOf(question.type);
		const answer = Object.hasOwn(answers, id) ? answers[id] : null;
		const given = answer !== null && answer !== undefined;
		check(given || question.optional || !wanted.has(id), "bad_answer", id);
		let index = given ? type.indexOf(question, answer) : type.unanswered(question);
		if (!shown(question, picked)) index = type.unanswered(question);
		indices[id] = index;
		picked[id] = type.labelsOf(question, index);
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
 * The field's symbol: rounding draws in question order, then the place among the possible combinations.
 * @param {Field} field
 * @param {bigint[]} indices
 * @param {RandomBytes} randomBytes
 */
export function symbolOf(field, indices, randomBytes) {
	const digits = field.questions.map((question, i) =>
		typeOf(question.type).symbolOf(question, indices[i], randomBytes),
	);
	if (field.cells.length === 0) return digits[0];
	// a table of all, so that no combination is found sooner than another
	const symbols = new Map(field.cells.map((cell, symbol) => [String(cell), BigInt(symbol)]));
	return /** @type {bigint} */ (symbols.get(String(digits)));
}
