// Shared code of the types whose answer is one label; index and symbol are the position of the label.

import { check } from "../errors.js";

/** @import { Question, QuestionType, Speech } from "../question.js" */

/** @satisfies {Partial<QuestionType>} */
export const singleLabel = {
	hasSets: false,

	/** @param {Question} question */
	symbols: ({ labels }) => BigInt(labels.length),

	/**
	 * @param {Question} question
	 * @param {any} answer
	 */
	indexOf({ id, labels }, answer) {
		// a map, so that each label is found in the same time
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
 * Return texts joined by "and" or "or" in the current language; "none of them" if there are none.
 * @param {"conjunction" | "disjunction"} type
 * @param {string[]} texts
 * @param {Speech} speech
 */
export function list(type, texts, { language, say }) {
	return new Intl.ListFormat(language, { type }).format(texts) || say("none");
}
