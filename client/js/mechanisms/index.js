// The mechanisms, one module each: how a symbol becomes noisy bits, and the exact privacy loss.
//
// The loss ε of a mechanism is ln(odds), with the odds an exact fraction of the published integers: the largest ratio of
// the probabilities of one output under two inputs. Every mechanism object is valid, because the constructors refuse
// invalid parameters. The number of bytes that a mechanism draws depends only on its parameters, apart from rare
// repetitions in `drawBelow`. So it reveals neither the answer nor the outcome.
//
// `p` = P(stored bit 1 | its symbol is true) and `q` = P(stored bit 1 | it is not), both in parts of `denominator`.

import { checkKeys, parseInteger, parseThreshold } from "../canonical.js";
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
 * Return the class of the mechanism in a published form; undefined if its kind is unknown.
 * @param {any} form
 */
export const kindOf = (form) => KINDS.get(form?.kind);

/**
 * Return the mechanism of a field with `size` symbols, or options for `drawn`; throw CandorError.
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
		given[name] = THRESHOLDS.includes(name) ? parseThreshold(value[name]) : parseInteger(value[name], 0);
	}
	check(BigInt(given.size ?? 2) === size, "bad_mechanism");
	return new kind(given);
}
