// One of the author's points, asked as a choice is.

import { choice } from "./choice.js";

/** @import { FormType } from "../controls.js" */

/** @type {FormType} */
export const scale = choice;
