// What all mechanisms share: words for bits and chances, an exact privacy loss, and the checks of their constructors.

import { symbolLabel, typeOf } from "../question.js";
import { WHOLE } from "../sampling.js";
import { list } from "../types/labels.js";

/** @import { Field } from "../definition.js" */
/** @import { Question, Speech } from "../question.js" */
/** @import { RandomBytes } from "../sampling.js" */
/** @typedef {{ above: bigint, below: bigint }} Fraction exact; `below` is positive */
/**
 * P(stored bit 1 | its symbol is true) and P(stored bit 1 | it is not), in parts of `whole`.
 * @typedef {{ p: bigint, q: bigint, whole: bigint }} Chances
 */
/** @typedef {{ people: bigint, p: bigint, q: bigint }} Share of so many people, so many devices */
/** @typedef {Record<string, any>} Parameters as published, but thresholds are BigInts */
/**
 * A way from a symbol to noisy bits; its module has the methods of its twin in Python.
 *
 * A symbol is a BigInt. The bits of one field are an array of `width` zeros and ones, the first stored bit first;
 * `size` is the number of symbols. `namedSymbols` are those that the bits name; none if they name a part of one.
 * `blindDraw`: of so many people, so many devices (`p`) send the truth, and all others draw blindly from all cells, the
 * truth included; nothing where no such draw explains what is sent.
 * @typedef {{
 *   size: number,
 *   width: number,
 *   epsilon: number,
 *   randomize(symbol: bigint, randomBytes: RandomBytes): number[],
 *   possible(bits: number[]): boolean,
 *   namedSymbols(bits: number[]): bigint[],
 *   describe(field: Field, bits: number[], speech: Speech): string,
 *   blindDraw(): Share | undefined,
 *   oddsSentence(field: Field, speech: Speech): string,
 * }} Mechanism
 */
/**
 * The class of a mechanism. `fitsJoint`: it may randomize several questions together. `fit` refuses a question that it
 * is not for; it gives the size that the mechanism must have, and how many symbols a device has to look at.
 * @typedef {{
 *   parameters: string[],
 *   fitsJoint: boolean,
 *   fit(form: any, question: Question): { size: bigint, effort: bigint },
 *   new (given: Parameters): Mechanism,
 * }} Kind
 */

const MOST_NAMED = 12;
const FEWEST_SHOWN = 10n; // devices that do otherwise; fewer would round too much away

/**
 * ln(odds), as a float: odds near one keep their digits.
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
export const isAboveChance = (keep, weight, size) => BigInt(weight) * WHOLE < keep * BigInt(size);

/** @param {number} count */
export const range = (count) => [...Array(count).keys()];

/**
 * So many bits, ones at these places.
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
 * For a mechanism that takes the symbols of any question.
 * @param {any} _form
 * @param {Question} question
 */
export const fitAny = (_form, { size }) => ({ size, effort: size });

/**
 * Name the symbols that bits name: "no", "notes or phone".
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
 * Of so many people whose answer it is, so many devices send it, and of as many others so many.
 *
 * There are as many people as it takes to see ten devices that do otherwise: rounded, rare noise would look like much
 * more, or none. The first count is rounded up and the second down: protection never looks better than it is.
 * @param {Chances} chances
 * @returns {Share}
 */
export function share({ p, q, whole }) {
	const otherwise = whole - p;
	const rarer = q < otherwise ? q : otherwise;
	let people = 100n;
	while (people * rarer < FEWEST_SHOWN * whole) people *= 10n;
	return { people, p: (people * p + whole - 1n) / whole, q: (people * q) / whole };
}

/**
 * The truth has p − q of its own, and the rest falls on all cells alike. Nothing where no such draw explains what is
 * sent: where several are named at once, or a coin favours one side, the chances do not add up to one.
 * @param {Chances} chances
 * @param {number} others the cells that are not true
 */
export function blindShare({ p, q, whole }, others) {
	const truth = p - q;
	return p + BigInt(others) * q === whole ? share({ p: truth, q: whole - truth, whole }) : undefined;
}

/**
 * What a device sends, drawn blindly otherwise if that explains it; else in the words of this key.
 * @param {Mechanism & Chances} mechanism
 * @param {string} key
 * @param {Field} field
 * @param {Speech} speech
 */
export function symbolOdds(mechanism, key, field, speech) {
	const { say } = speech;
	const { questions } = field;
	const told = mechanism.blindDraw();
	const values = { ...mechanism, ...(told ?? share(mechanism)) };
	const [no, yes] = [0n, 1n].map((symbol) => symbolLabel(field, symbol, speech));
	if (!told) return say(key, { ...values, no, yes });
	const several = questions.length > 1 || typeOf(questions[0].type).hasSets;
	const cells = say(several ? "other_cells" : "other_answers", values);
	return say("odds_blind", { ...values, other: mechanism.size > 2 ? cells : list("disjunction", [yes, no], speech) });
}
