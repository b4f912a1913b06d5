// The controls of a choice or a scale: one of the author's labels.

import { labelOptions, oneOf } from "../options.js";

/** @import { FormType } from "../controls.js" */

/** @type {FormType} */
export const choice = {
	control: (question) => oneOf(question, labelOptions("radio", question)),
	describeRounding: () => "",
};
