// The mechanisms: how a symbol becomes noisy bits, and exactly how much that gives away. One module each.
//
// The loss ε of a mechanism is ln(odds), with the odds an exact fraction of the published integers: the largest ratio of
// the probabilities of one output under two inputs. A mechanism that exists is valid: the constructors refuse everything
// else. Each draws a number of bytes that depends on its parameters alone, but for the rare repeats of `below`: neither
// the answer nor the outcome shows in how much was drawn.
//
// `p` = P(stored bit 1 | its symbol is true) and `q` = P(stored bit 1 | it is not), both in parts of `whole`.

import { checkKeys, integer, threshold } from "../canonical.js";
import { check } from "../errors.js";
import { Drawn } from "./drawn.js";
import { Flip } from "./flip.js";
import { Geometric } from "./geometric.js";
import { Subset } from "./subset.js";

/** @import { Kind, Mechanism, Parameters } from "./mechanism.js" */

/** @type {Map<unknown, Kind>} */
const KINDS = new Map(Object.entries({ flip: Flip, subset: Subset, drawn: Drawn, geometric: Geometric }));
const THRESHOLDS = ["one", "zero", "keep", "ratio"]; // published as text, since they may be above 2^53

/**
 * Return the class of a mechanism in its published form; nothing if there is none, which `parse` refuses.
 * @param {any} form
 */
export const kindOf = (form) => KINDS.get(form?.kind);

/**
 * The mechanism of a field with `size` symbols (`size` options, for `drawn`).
 * @param {any} value
 * @param {bigint} size
 * @returns {Mechanism}
 */
export function parse(value, size) {
	const kind = kindOf(value);
	check(kind);
	checkKeys(value, ["kind", ...kind.parameters]);
	/** @type {Parameters} */
	const given = {};
	for (const name of kind.parameters) {
		given[name] = THRESHOLDS.includes(name) ? threshold(value[name]) : integer(value[name], 0);
	}
	check(BigInt(given.size ?? 2) === size, "bad_mechanism");
	return new kind(given);
}
