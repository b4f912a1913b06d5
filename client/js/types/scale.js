// A scale: one of the author's points, which have an order and may have scores.

import { decimal, items, labelsAt } from "../canonical.js";
import { check } from "../errors.js";
import { oneLabel } from "./labels.js";

/** @import { QuestionType } from "../question.js" */

/** @type {QuestionType} */
export const scale = {
	...oneLabel,
	required: ["points"],
	possible: ["scores"],
	labelsKey: "points",
	fitsGrid: true,

	parse(value) {
		const labels = labelsAt(value.points, 2);
		if ("scores" in value) check(items(value.scores, 2).map(decimal).length === labels.length);
		return { labels };
	},
};
