// What the types share whose answers have labels: an answer is one of them, and its index and symbol are its place.

import { check } from "../errors.js";

/** @import { Question, QuestionType, Speech } from "../question.js" */

/** @satisfies {Partial<QuestionType>} */
export const oneLabel = {
	hasSets: false,

	/** @param {Question} question */
	symbols: ({ labels }) => BigInt(labels.length),

	/**
	 * @param {Question} question
	 * @param {any} answer
	 */
	indexOf({ id, labels }, answer) {
		// a table of all, so that no label is found sooner than another
		const place = new Map(labels.map((label, i) => [label, i])).get(answer);
		check(place !== undefined, "bad_answer", id);
		return BigInt(place);
	},

	/** @param {Question} question */
	unanswered: ({ noAnswer }) => noAnswer,

	/**
	 * @param {Question} question
	 * @param {bigint} index
	 */
	labelsOf: ({ labels }, index) => labels.slice(Number(index), Number(index) + 1),

	/**
	 * @param {Question} _
	 * @param {bigint} index
	 */
	symbolOf: (_, index) => index,

	/**
	 * @param {Question} question
	 * @param {bigint} symbol
	 * @param {Speech} _speech
	 */
	label: ({ labels }, symbol, _speech) => labels[Number(symbol)],

	/**
	 * @this {QuestionType}
	 * @param {Question} question
	 * @param {bigint} index
	 * @param {Speech} speech
	 */
	answerLabel(question, index, speech) {
		return this.label(question, index, speech);
	},

	hasLevels: () => false,
};

/**
 * Join texts by "and" or "or", as the language does; "none of them" where there are none.
 * @param {"conjunction" | "disjunction"} type
 * @param {string[]} texts
 * @param {Speech} speech
 */
export function list(type, texts, { language, say }) {
	return new Intl.ListFormat(language, { type }).format(texts) || say("none");
}
