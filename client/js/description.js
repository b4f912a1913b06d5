// Descriptions of bits and symbols, so that a respondent can see what is sent and how it is protected.
//
// Python prints English in a terminal. A page may use any language, so here the caller provides the strings:
// `speech.say` fills in a string, and `speech.language` determines the format of numbers and lists. The numbers are equal.

import { typeOf } from "./question.js";

/** @import { Indices } from "./answer.js" */
/** @import { Field } from "./definition.js" */
/** @import { Speech } from "./question.js" */

const MOST_PEOPLE = 1e9; // a chance that needs more people to show a doubt is called certainty
const NEARLY = 1e-12; // so that the rounding error of a float is not rounded up
export const SUSPICION = 20; // a prior suspicion of one in so many

/**
 * Return a description of the bits of a field: "no", "notes or phone", "phone: yes".
 * @param {Field} field
 * @param {number[]} bits
 * @param {Speech} speech
 */
export const describe = (field, bits, speech) => field.mechanism.describe(field, bits, speech);

/**
 * Return the respondent's answers to the questions of a field, before any rounding.
 * @param {Field} field
 * @param {Indices} indices
 * @param {Speech} speech
 */
export function formatAnswers(field, indices, speech) {
	const answers = field.questions.map((question) => {
		const type = typeOf(question.type);
		const index = indices[question.id];
		return index === type.unanswered(question) ? speech.say("no_answer") : type.answerLabel(question, index, speech);
	});
	return answers.join(" + ");
}

/**
 * Return a sentence on how the device randomizes an answer, with numbers.
 * @param {Field} field
 * @param {Speech} speech
 */
export const oddsSentence = (field, speech) => field.mechanism.oddsSentence(field, speech);

/**
 * Return the most that a suspicion of one in `suspicion` can become, as cases and people.
 *
 * The odds grow by a factor of at most e^ε. The result is rounded up. The number of people is 100, or more if 100 would
 * leave no doubt. Equal numbers mean practical certainty.
 * @param {number} suspicion
 * @param {number} epsilon
 */
export function posteriorInHundred(suspicion, epsilon) {
	const after = 1 / (1 + (suspicion - 1) * Math.exp(-epsilon));
	for (let people = 100; people <= MOST_PEOPLE; people *= 10) {
		const cases = Math.ceil(people * after - NEARLY);
		if (cases < people) return { cases, people };
	}
	return { cases: 1, people: 1 };
}
