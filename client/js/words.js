// What bits and symbols say, in words, so that a person can see what is sent and what it protects.
//
// Python speaks English, in a terminal. A page may speak any language, so here the strings come with whoever calls:
// `speech.say` fills one in, and `speech.language` tells how to write numbers and lists. The numbers are the same.

import { unanswered } from "./answer.js";
import { Drawn, Flip, Geometric } from "./mechanism.js";
import { labelsOf } from "./question.js";

/** @import { Indices } from "./answer.js" */
/** @import { Field } from "./definition.js" */
/** @import { Fraction, Mechanism } from "./mechanism.js" */
/** @import { Question } from "./question.js" */
/** @typedef {Record<string, any>} Values what fills the blanks; whoever says it writes numbers as its language does */
/** @typedef {{ language: string, say: (key: string, values?: Values) => string }} Speech */

const MOST_NAMED = 12;
const MORE_DIGITS = 3; // of a level that lies between two values of the grid
const FEWEST_SHOWN = 10n; // devices that do otherwise; fewer would round too much away
const MOST_PEOPLE = 1e9; // above that, a chance is called certainty
const NEARLY = 1e-12; // so that sixteen digits of one half are not rounded up
export const SUSPICION = 20; // someone thought: one in so many

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
 * The number at a level; or, counted from zero, how far that is from the lowest.
 * @param {Question} question
 * @param {bigint} level
 * @param {bigint} from
 * @returns {Fraction}
 */
function levelValue({ grid, levels }, level, from = grid.low) {
	const gaps = BigInt(levels - 1);
	return { above: from * gaps + level * (grid.high - grid.low), below: gaps * unitOf(grid) };
}

/**
 * The lowest and the highest number of a bin: all i with i·B div (N+1) = symbol.
 * @param {Question} question
 * @param {bigint} symbol
 */
function binRange(question, symbol) {
	const bins = BigInt(question.bins);
	/** @param {bigint} bin */
	const first = (bin) => (bin * (question.steps + 1n) + bins - 1n) / bins;
	return [gridValue(question, first(symbol)), gridValue(question, first(symbol + 1n) - 1n)];
}

/**
 * Of so many people whose answer it is, so many devices send it, and of as many others so many.
 *
 * There are as many people as it takes to see ten devices that do otherwise: rounded, rare noise would look like much
 * more, or none. The first count is rounded up and the second down: protection never looks better than it is.
 * @param {bigint} p in parts of `below`
 * @param {bigint} q
 * @param {bigint} below
 */
export function share(p, q, below) {
	const otherwise = below - p;
	const rarer = q < otherwise ? q : otherwise;
	let people = 100n;
	while (people * rarer < FEWEST_SHOWN * below) people *= 10n;
	return { people, p: (people * p + below - 1n) / below, q: (people * q) / below };
}

/**
 * Of so many people, so many devices (`p`) send the truth; all others draw blindly from all cells, the truth included.
 *
 * The truth has p − q of its own, and the rest falls on all cells alike. Nothing where no such draw explains what is
 * sent: where several are named at once, or a coin favours one side, the chances do not add up to one.
 * @param {Exclude<Mechanism, Geometric>} mechanism
 */
export function blind(mechanism) {
	const { p, q, size } = mechanism;
	const others = mechanism instanceof Drawn ? 1 : size - 1; // of an option: the other side
	const truth = p.above - q.above;
	return p.above + BigInt(others) * q.above === p.below ? share(truth, p.below - truth, p.below) : undefined;
}

/**
 * What the device does to an answer, in numbers.
 * @param {Field} field
 * @param {Speech} speech
 */
export function oddsSentence(field, speech) {
	const { mechanism } = field;
	const [question, joint] = field.questions;
	const { say } = speech;
	if (mechanism instanceof Geometric) {
		// how much noise about every second device adds; none if more than half send the number as it is
		const away = levelValue(question, BigInt(mechanism.medianShift()), 0n);
		return say(away.above ? "odds_noise" : "odds_little", { away: withUnit(question, away, speech) });
	}
	const told = blind(mechanism);
	const values = { ...mechanism, ...(told ?? share(mechanism.p.above, mechanism.q.above, mechanism.p.below)) };
	if (mechanism instanceof Drawn) return say("odds_drawn", values);
	const [no, yes] = [0n, 1n].map((symbol) => symbolLabel(field, symbol, speech));
	if (told) {
		const cells = say(joint || question.type === "multiple" ? "other_cells" : "other_answers", values);
		return say("odds_blind", { ...values, other: mechanism.size > 2 ? cells : list("disjunction", [yes, no], speech) });
	}
	return say(mechanism instanceof Flip ? "odds_flip" : "odds_several", { ...values, no, yes });
}

/**
 * What a suspicion of one in `suspicion` can become at the most: odds times e^ε, rounded up, out of a hundred people or of
 * as many as leave a doubt; all of them means as good as certain.
 * @param {number} suspicion
 * @param {number} epsilon
 */
export function ofHundred(suspicion, epsilon) {
	const after = 1 / (1 + (suspicion - 1) * Math.exp(-epsilon));
	for (let people = 100; people <= MOST_PEOPLE; people *= 10) {
		const cases = Math.ceil(people * after - NEARLY);
		if (cases < people) return { cases, people };
	}
	return { cases: 1, people: 1 };
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
function spell(question, { above, below }, { language }) {
	const places = question.grid.digits + MORE_DIGITS;
	const twice = 2n * above * 10n ** BigInt(places) + below;
	const quotient = twice / (2n * below);
	const units = twice % (2n * below) < 0n ? quotient - 1n : quotient; // BigInts divide towards zero
	const format = new Intl.NumberFormat(language, { maximumFractionDigits: 20 });
	// as text, since a float could not hold all digits
	return format.format(/** @type {Intl.StringNumericLiteral} */ (`${units}e-${places}`));
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
