// The type `choice`: one of several options.

import { parseLabels } from "../canonical.js";
import { singleLabel } from "./labels.js";

/** @import { QuestionType } from "../question.js" */

/** @type {QuestionType} */
export const choice = {
	...singleLabel,
	requiredKeys: ["options"],
	optionalKeys: ["shuffle"],
	labelsKey: "options",
	fitsGrid: false,
	parse: ({ options }) => ({ labels: parseLabels(options, 2) }),
};
