// The controls of a scale, which are those of a choice.

import { choice } from "./choice.js";

/** @import { FormType } from "../controls.js" */

/** @type {FormType} */
export const scale = choice;
