// The controls of a yes or no question, with our own labels; yes is first.

import { textEl } from "../dom.js";
import { oneOf, option } from "../options.js";

/** @import { FormType } from "../controls.js" */

/** @type {FormType} */
export const yes_no = {
	control: (question) =>
		oneOf(
			question,
			["yes", "no"].map((label) => option("radio", question.id, label, textEl("span", label))),
		),
	describeRounding: () => "",
};
