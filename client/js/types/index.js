// The types of questions: one line each, by the name that a definition has for it.

export { choice } from "./choice.js";
export { multiple } from "./multiple.js";
export { number } from "./number.js";
export { scale } from "./scale.js";
export { yes_no } from "./yes_no.js";
