// What bits and symbols say, in words, so that a person can see what is sent and what it protects.
//
// Python speaks English, in a terminal. A page may speak any language, so here the strings come with whoever calls:
// `speech.say` fills one in, and `speech.language` tells how to write numbers and lists. The numbers are the same.

import { unanswered } from "./answer.js";
import { Drawn, Flip, Geometric } from "./mechanism.js";
import { labelsOf } from "./question.js";

/** @import { Indices } from "./answer.js" */
/** @import { Field } from "./definition.js" */
/** @import { Fraction } from "./mechanism.js" */
/** @import { Question } from "./question.js" */
/** @typedef {Record<string, string | number>} Values */
/** @typedef {{ language: string, say: (key: string, values?: Values) => string }} Speech */

const MOST_NAMED = 12;
const MORE_DIGITS = 3; // of a level that lies between two values of the grid
const FEWEST_SHOWN = 10n; // devices that do otherwise; fewer would round too much away

/**
 * What the bits of a field say: "no", "notes or phone", "phone: yes".
 * @param {Field} field
 * @param {number[]} bits
 * @param {Speech} speech
 */
export function describe(field, bits, speech) {
	const { mechanism } = field;
	if (mechanism instanceof Flip) return symbolLabel(field, BigInt(bits[0]), speech);
	const places = [...bits.keys()].filter((place) => bits[place] === 1);
	if (mechanism instanceof Drawn) {
		const options = [...field.questions[0].labels, speech.say("no_answer")];
		return places.map((place) => `${options[place >> 1]}: ${speech.say(place % 2 ? "yes" : "no")}`).join(", ");
	}
	const named = places.slice(0, MOST_NAMED).map((place) => symbolLabel(field, BigInt(place), speech));
	if (places.length > MOST_NAMED) named.push(speech.say("more", { count: places.length - MOST_NAMED }));
	return list("disjunction", named, speech);
}

/**
 * What a person said to the questions of a field, before any rounding.
 * @param {Field} field
 * @param {Indices} indices
 * @param {Speech} speech
 */
export function said(field, indices, speech) {
	const answers = field.questions.map((question) => {
		const index = indices[question.id];
		if (index === unanswered(question)) return speech.say("no_answer");
		if (question.levels) return withUnit(question, gridValue(question, index), speech);
		return digitLabel(question, index, speech);
	});
	return answers.join(" + ");
}

/**
 * The words for one symbol of a field; for a joint field, those of each question.
 * @param {Field} field
 * @param {bigint} symbol
 * @param {Speech} speech
 */
export function symbolLabel(field, symbol, speech) {
	const digits = field.cells[Number(symbol)] ?? [symbol];
	return field.questions.map((question, i) => digitLabel(question, digits[i], speech)).join(" + ");
}

/**
 * The words for one symbol of a question.
 * @param {Question} question
 * @param {bigint} symbol
 * @param {Speech} speech
 */
export function digitLabel(question, symbol, speech) {
	if (symbol === question.noAnswer) return speech.say("no_answer");
	if (question.type === "multiple") return list("conjunction", labelsOf(question, symbol), speech);
	if (question.type === "yes_no") return speech.say(question.labels[Number(symbol)]);
	if (question.type !== "number") return question.labels[Number(symbol)];
	if (question.levels) return withUnit(question, levelValue(question, symbol), speech);
	const [low, high] = binRange(question, symbol);
	const highest = withUnit(question, high, speech);
	return low.above === high.above ? highest : speech.say("range", { low: spell(question, low, speech), high: highest });
}

/**
 * The number at an index of the grid.
 * @param {Question} question
 * @param {bigint} index
 * @returns {Fraction}
 */
export function gridValue({ grid }, index) {
	return { above: grid.low + index * grid.step, below: unitOf(grid) };
}

/**
 * The number at a level.
 * @param {Question} question
 * @param {bigint} level
 * @returns {Fraction}
 */
export function levelValue({ grid, levels }, level) {
	const gaps = BigInt(levels - 1);
	return { above: grid.low * gaps + level * (grid.high - grid.low), below: gaps * unitOf(grid) };
}

/**
 * The lowest and the highest number of a bin: all i with i·B div (N+1) = symbol.
 * @param {Question} question
 * @param {bigint} symbol
 */
export function binRange(question, symbol) {
	const bins = BigInt(question.bins);
	/** @param {bigint} bin */
	const first = (bin) => (bin * (question.steps + 1n) + bins - 1n) / bins;
	return [gridValue(question, first(symbol)), gridValue(question, first(symbol + 1n) - 1n)];
}

/**
 * How much noise about every second device adds; zero if more than half send the number as it is.
 * @param {Question} question
 * @param {Geometric} mechanism
 * @returns {Fraction}
 */
export function away(question, mechanism) {
	const { above, below } = levelValue(question, BigInt(mechanism.medianShift()));
	return { above: above - levelValue(question, 0n).above, below };
}

/**
 * Of so many people whose answer it is, so many devices send it, and of as many others so many.
 *
 * There are as many people as it takes to see ten devices that do otherwise: rounded, noise that is rare would look
 * like much more noise, or none.
 * @param {Fraction} p
 * @param {Fraction} q
 */
export function share(p, q) {
	const otherwise = { above: p.below - p.above, below: p.below };
	const rarer = q.above * otherwise.below < otherwise.above * q.below ? q : otherwise;
	let people = 100n;
	while (people * rarer.above < FEWEST_SHOWN * rarer.below) people *= 10n;
	return { people, p: among(people, p), q: among(people, q) };
}

/**
 * So many people times a chance, rounded half to even like Python's.
 * @param {bigint} people
 * @param {Fraction} chance
 */
export function among(people, { above, below }) {
	const whole = (people * above) / below;
	const twice = 2n * ((people * above) % below);
	const up = twice > below || (twice === below && whole % 2n === 1n);
	return whole + BigInt(up);
}

/**
 * How often a device sends the truth.
 * @param {Field} field
 * @param {Speech} speech
 */
export function oddsSentence(field, speech) {
	const { mechanism } = field;
	if (mechanism instanceof Geometric) {
		const [question] = field.questions;
		const off = away(question, mechanism);
		if (off.above === 0n) return speech.say("odds_little");
		return speech.say("odds_noise", { away: withUnit(question, off, speech) });
	}
	const { people, p, q } = share(mechanism.p, mechanism.q);
	const counts = { people: count(people, speech), p: count(p, speech), q: count(q, speech) };
	if (mechanism instanceof Flip) {
		const [no, yes] = [0n, 1n].map((symbol) => symbolLabel(field, symbol, speech));
		return speech.say("odds_flip", { ...counts, yes, no });
	}
	if (mechanism instanceof Drawn) {
		return speech.say("odds_drawn", { ...counts, draw: mechanism.draw, size: mechanism.size });
	}
	return speech.say("odds_named", counts);
}

/**
 * @param {Question} question
 * @param {Fraction} value
 * @param {Speech} speech
 */
export function withUnit(question, value, speech) {
	return `${spell(question, value, speech)} ${question.unit}`.trim();
}

/**
 * A number of a question as a decimal: exact on its grid, and rounded to three digits more between two values.
 * @param {Question} question
 * @param {Fraction} value
 * @param {Speech} speech
 */
export function spell(question, { above, below }, { language }) {
	const places = question.grid.digits + MORE_DIGITS;
	const twice = 2n * above * 10n ** BigInt(places) + below;
	const quotient = twice / (2n * below);
	const units = twice % (2n * below) < 0n ? quotient - 1n : quotient; // BigInts divide towards zero
	const format = new Intl.NumberFormat(language, { maximumFractionDigits: 20 });
	// as text, since a float could not hold all digits
	return format.format(/** @type {Intl.StringNumericLiteral} */ (`${units}e-${places}`));
}

/**
 * A whole number of people or devices.
 * @param {bigint} number
 * @param {Speech} speech
 */
export function count(number, { language }) {
	return number.toLocaleString(language);
}

/**
 * @param {"conjunction" | "disjunction"} type
 * @param {string[]} items
 * @param {Speech} speech
 */
function list(type, items, { language, say }) {
	return new Intl.ListFormat(language, { type }).format(items) || say("none");
}

/** @param {{ digits: number }} grid */
const unitOf = ({ digits }) => 10n ** BigInt(digits);
