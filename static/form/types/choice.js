// One of the author's options, or of the points of a scale.

import { labelled, oneOf } from "../options.js";

/** @import { FormType } from "../controls.js" */

/** @type {FormType} */
export const choice = {
	control: (question) => oneOf(question, labelled("radio", question)),
	rounding: () => "",
};
