// The type `yes_no`: labels that the author does not write.

import { singleLabel } from "./labels.js";

/** @import { QuestionType } from "../question.js" */

/** @type {QuestionType} */
export const yes_no = {
	...singleLabel,
	requiredKeys: [],
	optionalKeys: [],
	labelsKey: null,
	fitsGrid: false,
	parse: () => ({ labels: ["no", "yes"] }),
	indexOf: (question, answer) => (typeof answer === "boolean" ? BigInt(answer) : singleLabel.indexOf(question, answer)),
	label: ({ labels }, symbol, { say }) => say(labels[Number(symbol)]),
};
