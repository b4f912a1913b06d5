// Answers → indices → symbols, all BigInt; numbers round at random to levels.

import { check } from "./errors.js";
import { below } from "./sampling.js";

const fits = (ok, id) => check(ok, "bad_answer", id);

export function encode({ questions, fields }, answers, asked = [...fields.keys()]) {
	for (const id in answers) fits(questions.some((q) => q.id === id), id);
	const wanted = asked.flatMap((place) => fields[place].questions);
	const [indices, picked] = [{}, {}];
	for (const q of questions) {
		const answer = answers[q.id] ?? null;
		fits(answer !== null || q.optional || !wanted.includes(q), q.id);
		const index = answer === null ? q.noAnswer : indexOf(q, answer);
		indices[q.id] = shown(q, picked) ? index : q.noAnswer;
		picked[q.id] = labelsOf(q, indices[q.id]);
	}
	return indices;
}

// a hidden question has picked no labels
export const shown = ({ show_if: c }, picked) => !c || c.is.some((label) => picked[c.question].includes(label));

export const labelsOf = ({ type, labels }, index) =>
	labels.filter((_, i) => (type === "multiple" ? (index >> BigInt(i)) & 1n : index === BigInt(i)));

export function indexOf(q, answer) {
	if (q.type === "number") return numberIndex(q, answer);
	if (q.type === "yes_no" && typeof answer === "boolean") return BigInt(answer);
	const said = q.type === "multiple" ? answer : [answer];
	fits(Array.isArray(said) && new Set(said).size === said.length && said.every((x) => q.labels.includes(x)), q.id);
	const places = said.map((label) => BigInt(q.labels.indexOf(label)));
	return said === answer ? places.reduce((mask, place) => mask | (1n << place), 0n) : places[0];
}

// through decimal text, never binary fractions
function numberIndex({ id, grid, bins, steps }, answer) {
	const { low, high, step, digits } = grid;
	const [, sign, whole, zeros = ""] = /^([+-]?)([0-9]{1,17})(?:\.([0-9]{1,17}))?$/.exec(answer) ?? [];
	const decimals = zeros.replace(/0+$/, "");
	fits(["number", "string"].includes(typeof answer) && whole && decimals.length <= digits, id);
	const value = BigInt(sign + whole + decimals.padEnd(digits, "0")) - low;
	fits(value >= 0n && value <= high - low && value % step === 0n, id);
	return bins ? ((value / step) * BigInt(bins)) / (steps + 1n) : value / step;
}

// rounding draws, then mixed radix
export function symbolOf(field, indices, random) {
	return field.questions.reduce((symbol, { levels, steps, size }, i) => {
		let digit = indices[i];
		if (levels && digit > steps) digit = BigInt(levels);
		else if (levels) {
			const a = digit * BigInt(levels - 1);
			digit = a / steps + BigInt(below(Number(steps), random) < a % steps);
		}
		return (symbol && symbol * BigInt(size)) + digit;
	}, 0n);
}
