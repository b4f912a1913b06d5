// Yes or no, in our own words; yes first.

import { ours } from "../dom.js";
import { oneOf, option } from "../options.js";

/** @import { FormType } from "../controls.js" */

/** @type {FormType} */
export const yes_no = {
	control: (question) =>
		oneOf(
			question,
			["yes", "no"].map((label) => option("radio", question.id, label, ours("span", label))),
		),
	rounding: () => "",
};
