// The type `multiple`: any number of options. The index is the set as a mask, option 0 least significant.

import { check } from "../errors.js";
import { choice } from "./choice.js";
import { list } from "./labels.js";

/** @import { QuestionType } from "../question.js" */

/** @type {QuestionType} */
export const multiple = {
	...choice,
	hasSets: true,
	symbols: ({ labels }) => 1n << BigInt(labels.length),

	indexOf({ id, labels }, answer) {
		check(Array.isArray(answer), "bad_answer", id);
		const answers = new Set(answer);
		// every label is visited, so that each answer takes the same time
		const mask = labels.map((label) => Number(answers.has(label)));
		check(mask.filter(Boolean).length === answer.length, "bad_answer", id); // options, each once
		return BigInt(`0b${mask.reverse().join("")}`);
	},

	labelsOf({ labels }, index) {
		const mask = index.toString(2).padStart(labels.length, "0");
		return labels.filter((_, i) => mask.at(-1 - i) === "1");
	},

	label: (question, symbol, speech) => list("conjunction", multiple.labelsOf(question, symbol), speech),
};
