// What bits and symbols say, in words, so that a person can see what is sent and what it protects.
//
// Python speaks English, in a terminal. A page may speak any language, so here the strings come with whoever calls:
// `speech.say` fills one in, and `speech.language` tells how to write numbers and lists. The numbers are the same.

import { typeOf } from "./question.js";

/** @import { Indices } from "./answer.js" */
/** @import { Field } from "./definition.js" */
/** @import { Speech } from "./question.js" */

const MOST_PEOPLE = 1e9; // above that, a chance is called certainty
const NEARLY = 1e-12; // so that sixteen digits of one half are not rounded up
export const SUSPICION = 20; // someone thought: one in so many

/**
 * What the bits of a field say: "no", "notes or phone", "phone: yes".
 * @param {Field} field
 * @param {number[]} bits
 * @param {Speech} speech
 */
export const describe = (field, bits, speech) => field.mechanism.describe(field, bits, speech);

/**
 * What a person said to the questions of a field, before any rounding.
 * @param {Field} field
 * @param {Indices} indices
 * @param {Speech} speech
 */
export function said(field, indices, speech) {
	const answers = field.questions.map((question) => {
		const type = typeOf(question.type);
		const index = indices[question.id];
		return index === type.unanswered(question) ? speech.say("no_answer") : type.answerLabel(question, index, speech);
	});
	return answers.join(" + ");
}

/**
 * What the device does to an answer, in numbers.
 * @param {Field} field
 * @param {Speech} speech
 */
export const oddsSentence = (field, speech) => field.mechanism.oddsSentence(field, speech);

/**
 * What a suspicion of one in `suspicion` can become at the most: odds times e^ε, rounded up, out of a hundred people or of
 * as many as leave a doubt; all of them means as good as certain.
 * @param {number} suspicion
 * @param {number} epsilon
 */
export function ofHundred(suspicion, epsilon) {
	const after = 1 / (1 + (suspicion - 1) * Math.exp(-epsilon));
	for (let people = 100; people <= MOST_PEOPLE; people *= 10) {
		const cases = Math.ceil(people * after - NEARLY);
		if (cases < people) return { cases, people };
	}
	return { cases: 1, people: 1 };
}
