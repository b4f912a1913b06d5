// What a survey spends, recomputed from its integers, against what it claims and what the person allows.
//
// The budget adds up over fields (basic composition); with `ask` a device answers one of them, so the largest counts.
// Nothing here trusts the server's own figure. ε is a float here, which the slack covers; Python's is exact.

import { check } from "./errors.js";

/** @import { Survey } from "./definition.js" */
/** @typedef {number | string | null | undefined} Limit the most ε to spend; null allows any */

const SLACK = 1e-9;

/**
 * The survey's ε; throws above_claim or above_limit.
 * @param {Survey} survey
 * @param {{ limit?: Limit }} [options]
 */
export function verify(survey, { limit = null } = {}) {
	const losses = survey.fields.map((field) => field.mechanism.epsilon);
	const epsilon = spend(losses, Boolean(survey.ask));
	check(epsilon <= Number(survey.epsilon) + SLACK, "above_claim");
	checkLimit(epsilon, limit);
	return epsilon;
}

/**
 * The sum of the losses of all fields, or the largest, if a device answers one of them.
 * @param {number[]} losses
 * @param {boolean} ask
 */
export function spend(losses, ask) {
	return losses.reduce((sum, loss) => (ask ? Math.max(sum, loss) : sum + loss), 0);
}

/**
 * Throws if ε, with what was spent already, is more than the person allows.
 * @param {number | string} epsilon
 * @param {Limit} limit
 * @param {string} [code]
 */
export function checkLimit(epsilon, limit, code = "above_limit") {
	check(limit === null || Number(epsilon) <= Number(limit) + SLACK, code);
}
