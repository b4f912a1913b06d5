// The type `scale`: one of several ordered points, which may have scores.

import { parseDecimal, parseLabels, parseList } from "../canonical.js";
import { check } from "../errors.js";
import { singleLabel } from "./labels.js";

/** @import { QuestionType } from "../question.js" */

/** @type {QuestionType} */
export const scale = {
	...singleLabel,
	requiredKeys: ["points"],
	optionalKeys: ["scores"],
	labelsKey: "points",
	fitsGrid: true,

	parse(value) {
		const labels = parseLabels(value.points, 2);
		if ("scores" in value) check(parseList(value.scores, 2).map(parseDecimal).length === labels.length);
		return { labels };
	},
};
