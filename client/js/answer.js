// Answers as integers: an answer becomes an index, and an index becomes a symbol. Both are BigInts.
//
// An *index* is exact and private to the device: an option's position, a set's mask, or a number's position on its grid.
// Numbers are read as decimal text and never as binary floats.
// A number with `levels` is then rounded at random to a level, which is the *symbol*. Otherwise index and symbol are equal.

import { questionIdsFor } from "./definition.js";
import { check } from "./errors.js";
import { typeOf } from "./question.js";

/** @import { Field, Survey } from "./definition.js" */
/** @import { Question } from "./question.js" */
/** @import { RandomBytes } from "./sampling.js" */
/** @typedef {Record<string, unknown>} Answers by id of the question; null or undefined means no answer */
/** @typedef {Record<string, bigint>} Indices by id of the question */

/**
 * Return the index of every question by its id; throw bad_answer.
 *
 * If `asked` is the index of a field, only the questions of that field and their filters need an answer.
 * @param {Survey} survey
 * @param {Answers} answers
 * @param {number | null} [asked]
 */
export function encode(survey, answers, asked = null) {
	const ids = new Set(survey.questions.map(({ id }) => id));
	for (const id of Object.keys(answers)) check(ids.has(id), "bad_answer", id);
	const required = asked === null ? ids : questionIdsFor(survey, asked);
	/** @type {Indices} */
	const indices = {};
	/** @type {Record<string, string[]>} */
	const picked = {};
	for (const question of survey.questions) {
		const { id } = question;
		const type = typeOf(question.type);
		const answer = Object.hasOwn(answers, id) ? answers[id] : null;
		const given = answer !== null && answer !== undefined;
		check(given || question.optional || !required.has(id), "bad_answer", id);
		let index = given ? type.indexOf(question, answer) : type.unanswered(question);
		if (!isVisible(question, picked)) index = type.unanswered(question);
		indices[id] = index;
		picked[id] = type.labelsOf(question, index);
	}
	return indices;
}

/**
 * Return whether a question is visible after the labels that were picked for earlier questions.
 *
 * No labels are picked for a hidden question.
 * @param {Question} question
 * @param {Record<string, string[]>} picked
 */
export function isVisible({ showIf }, picked) {
	return !showIf || showIf.labels.some((label) => picked[showIf.question].includes(label));
}

/**
 * Return the symbol of a field from the indices of its questions.
 *
 * Numbers are rounded at random, in the order of the questions. The symbol of a joint field is the position of the result
 * among the possible combinations.
 * @param {Field} field
 * @param {bigint[]} indices
 * @param {RandomBytes} randomBytes
 */
export function symbolOf(field, indices, randomBytes) {
	const digits = field.questions.map((question, i) =>
		typeOf(question.type).symbolOf(question, indices[i], randomBytes),
	);
	if (field.cells.length === 0) return digits[0];
	// a map, so that each combination is found in the same time
	const symbols = new Map(field.cells.map((cell, symbol) => [String(cell), BigInt(symbol)]));
	return /** @type {bigint} */ (symbols.get(String(digits)));
}
