// A choice: one of the author's options.

import { labelsAt } from "../canonical.js";
import { oneLabel } from "./labels.js";

/** @import { QuestionType } from "../question.js" */

/** @type {QuestionType} */
export const choice = {
	...oneLabel,
	required: ["options"],
	possible: ["shuffle"],
	labelsKey: "options",
	fitsGrid: false,
	parse: ({ options }) => ({ labels: labelsAt(options, 2) }),
};
