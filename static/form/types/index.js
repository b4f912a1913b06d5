// The controls of the question types, by their names in a definition.

export { choice } from "./choice.js";
export { multiple } from "./multiple.js";
export { number } from "./number.js";
export { scale } from "./scale.js";
export { yes_no } from "./yes_no.js";
