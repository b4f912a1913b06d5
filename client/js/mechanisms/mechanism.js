// Shared code of the mechanisms: their exact privacy loss, parameter checks and descriptions.

import { symbolLabel, typeOf } from "../question.js";
import { DENOMINATOR } from "../sampling.js";
import { list } from "../types/labels.js";

/** @import { Field } from "../definition.js" */
/** @import { Question, Speech } from "../question.js" */
/** @import { RandomBytes } from "../sampling.js" */
/** @typedef {{ above: bigint, below: bigint }} Fraction exact; `below` is positive */
/**
 * P(stored bit 1 | its symbol is true) and P(stored bit 1 | it is not), in parts of `denominator`.
 * @typedef {{ p: bigint, q: bigint, total: bigint }} Chances
 */
/** @typedef {{ people: bigint, p: bigint, q: bigint }} Share a number of people, and numbers of their devices */
/** @typedef {Record<string, any>} Parameters the published ones; thresholds are BigInts */
/**
 * A mechanism: it randomizes a symbol into noisy bits. Its module has the methods of the same class in Python.
 *
 * A symbol is a BigInt. The bits of one field are an array of `width` zeros and ones, the first stored bit first;
 * `size` is the number of symbols. `namedSymbols` returns the symbols that the bits name; none if they name a part of one.
 * `blindDraw` returns a number of people, and how many of their devices (`p`) send the truth. All other devices draw
 * uniformly from all cells, including the true one. It is undefined if no such draw describes the mechanism.
 * @typedef {{
 *   size: number,
 *   width: number,
 *   epsilon: number,
 *   randomize(symbol: bigint, randomBytes: RandomBytes): number[],
 *   isPossible(bits: number[]): boolean,
 *   namedSymbols(bits: number[]): bigint[],
 *   describe(field: Field, bits: number[], speech: Speech): string,
 *   blindDraw(): Share | undefined,
 *   oddsSentence(field: Field, speech: Speech): string,
 * }} Mechanism
 */
/**
 * The class of a mechanism. `fitsJoint`: it can randomize several questions as one symbol. `fit` returns the size required
 * for a field of one question, and the number of symbols that a device processes; it refuses unsuitable questions.
 * @typedef {{
 *   parameters: string[],
 *   fitsJoint: boolean,
 *   fit(form: any, question: Question): { size: bigint, effort: bigint },
 *   new (given: Parameters): Mechanism,
 * }} Kind
 */

const MOST_NAMED = 12;
const FEWEST_SHOWN = 10n; // devices that deviate; smaller numbers would lose too much by rounding

/**
 * Return ln(odds) as a float, accurate for odds near one too.
 * @param {Fraction} odds
 */
export function loss({ above, below }) {
	return Math.log1p(Number(above - below) / Number(below));
}

/**
 * @param {Fraction} one
 * @param {Fraction} other
 */
export const larger = (one, other) => (one.above * other.below > other.above * one.below ? one : other);

/**
 * @param {bigint} keep
 * @param {number} weight
 * @param {number} size
 */
export const isAboveChance = (keep, weight, size) => BigInt(weight) * DENOMINATOR < keep * BigInt(size);

/** @param {number} count */
export const range = (count) => [...Array(count).keys()];

/**
 * Return `width` bits that are 1 at these positions.
 * @param {number} width
 * @param {number[]} places
 */
export function ones(width, places) {
	/** @type {number[]} */
	const bits = Array(width).fill(0);
	for (const place of places) bits[place] = 1;
	return bits;
}

/** @param {number[]} bits */
export const placesOf = (bits) => [...bits.keys()].filter((place) => bits[place] === 1);

/**
 * Fit a mechanism that accepts the symbols of any question.
 * @param {any} _form
 * @param {Question} question
 */
export const fitAny = (_form, { size }) => ({ size, effort: size });

/**
 * Return the labels of the symbols that bits name: "no", "notes or phone".
 * @this {Mechanism}
 * @param {Field} field
 * @param {number[]} bits
 * @param {Speech} speech
 */
export function describeSymbols(field, bits, speech) {
	const symbols = this.namedSymbols(bits);
	const named = symbols.slice(0, MOST_NAMED).map((symbol) => symbolLabel(field, symbol, speech));
	if (symbols.length > MOST_NAMED) named.push(speech.say("more", { count: symbols.length - MOST_NAMED }));
	return list("disjunction", named, speech);
}

/**
 * Return a number of people, and how many of them send an answer if it is true and if it is not true.
 *
 * The number of people is large enough to show ten devices that deviate, because rare noise would be distorted by
 * rounding. The first count is rounded up and the second down, so that protection is never overstated.
 * @param {Chances} chances
 * @returns {Share}
 */
export function share({ p, q, total }) {
	const otherwise = total - p;
	const rarer = q < otherwise ? q : otherwise;
	let people = 100n;
	while (people * rarer < FEWEST_SHOWN * total) people *= 10n;
	return { people, p: (people * p + total - 1n) / total, q: (people * q) / total };
}

/**
 * The truth has p − q of its own, and the rest falls on all cells alike. Nothing where no such draw explains what is
 * sent: where several are named at once, or a coin favours one side, the chances do not add up to one.
 * @param {Chances} chances
 * @param {number} others the number of cells other than the true one
 */
export function blindShare({ p, q, total }, others) {
	const truth = p - q;
	return p + BigInt(others) * q === total ? share({ p: truth, q: total - truth, total }) : undefined;
}

/**
 * Return a sentence on a device that sends the truth or a blind draw; without such a draw, the sentence of `key`.
 * @param {Mechanism & Chances} mechanism
 * @param {string} key
 * @param {Field} field
 * @param {Speech} speech
 */
export function symbolOdds(mechanism, key, field, speech) {
	const { say } = speech;
	const { questions } = field;
	const draw = mechanism.blindDraw();
	const values = { ...mechanism, ...(draw ?? share(mechanism)) };
	const [no, yes] = [0n, 1n].map((symbol) => symbolLabel(field, symbol, speech));
	if (!draw) return say(key, { ...values, no, yes });
	const several = questions.length > 1 || typeOf(questions[0].type).hasSets;
	const cells = say(several ? "other_cells" : "other_answers", values);
	return say("odds_blind", { ...values, other: mechanism.size > 2 ? cells : list("disjunction", [yes, no], speech) });
}
