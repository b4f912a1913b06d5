// The check of a survey's privacy budget: recomputed from its integers, and compared with its claim and the limits.
//
// The budget adds up over fields (basic composition). With `ask` a device answers only one field, so the largest counts.
// The server's own figure is not trusted. ε is a float here, and SLACK covers its error; in Python it is exact.

import { check } from "./errors.js";

/** @import { Survey } from "./definition.js" */
/** @typedef {number | string | null | undefined} Limit the largest ε; null allows any */

const SLACK = 1e-9;

/**
 * Return the ε of a survey; throw above_claim or above_limit.
 * @param {Survey} survey
 * @param {{ limit?: Limit }} [options]
 */
export function verify(survey, { limit = null } = {}) {
	const losses = survey.fields.map((field) => field.mechanism.epsilon);
	const epsilon = composeLosses(losses, Boolean(survey.ask));
	check(epsilon <= Number(survey.epsilon) + SLACK, "above_claim");
	checkLimit(epsilon, limit);
	return epsilon;
}

/**
 * Return the sum of the fields' losses, or the largest loss if a device answers only one field (`ask`).
 * @param {number[]} losses
 * @param {boolean} ask
 */
export function composeLosses(losses, ask) {
	return losses.reduce((sum, loss) => (ask ? Math.max(sum, loss) : sum + loss), 0);
}

/**
 * Throw `code` if ε, including the ε already spent, is above the respondent's limit.
 * @param {number | string} epsilon
 * @param {Limit} limit
 * @param {string} [code]
 */
export function checkLimit(epsilon, limit, code = "above_limit") {
	check(limit === null || Number(epsilon) <= Number(limit) + SLACK, code);
}
