// What a survey spends, against its claim and the person's limit.

import { check } from "./errors.js";

export function verify(survey, { limit = null } = {}) {
	const losses = survey.fields.map((field) => field.mechanism.epsilon).sort((a, b) => b - a);
	const epsilon = losses.slice(0, survey.ask).reduce((a, b) => a + b, 0);
	check(epsilon <= +survey.epsilon + 1e-9, "above_claim");
	checkLimit(epsilon, limit);
	return epsilon;
}

export function checkLimit(epsilon, limit) {
	check(limit === null || epsilon <= +limit + 1e-9, "above_limit", `ε = ${epsilon} > ${limit}`);
}
