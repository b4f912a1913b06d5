// The mechanism `geometric`: a level plus geometric noise.

import { check } from "../errors.js";
import { typeOf } from "../question.js";
import { DENOMINATOR, drawWord } from "../sampling.js";
import { levelValue, withUnit } from "../types/number.js";
import { describeSymbols, larger, loss, ones, placesOf, range } from "./mechanism.js";

/** @import { Field } from "../definition.js" */
/** @import { Question, Speech } from "../question.js" */
/** @import { RandomBytes } from "../sampling.js" */
/** @import { NumberQuestion } from "../types/number.js" */
/** @import { Parameters } from "./mechanism.js" */

const MOST_LEVELS = 64; // of geometric noise

/**
 * A level plus two-sided geometric noise of ratio r = ratio/2^64, clamped to the range of the levels.
 *
 * P(noise ≥ k) = r^k/(1+r), rounded up to G_k/2^64 (Ghosh, Roughgarden and Sundararajan 2009). The noise is drawn from
 * one word. The bit of the noisy level is set.
 */
export class Geometric {
	static parameters = ["size", "ratio"];
	static fitsJoint = false;

	/**
	 * @param {any} _form
	 * @param {Question} question
	 */
	static fit(_form, question) {
		check(typeOf(question.type).hasLevels(question) && !question.optional, "bad_mechanism");
		return { size: question.size, effort: question.size };
	}

	/** @param {Parameters} given */
	constructor({ size, ratio }) {
		check(size >= 2 && size <= MOST_LEVELS, "bad_mechanism");
		/** @type {number} */
		this.size = size;
		/** @type {number} */
		this.width = size;
		/** G_1 … G_(size−1): P(noise ≥ k) in parts of 2^64, rounded up. */
		this.tails = range(this.size - 1).map((i) => {
			const power = BigInt(i + 1);
			const over = (DENOMINATOR + ratio) << (64n * power);
			return (((ratio ** power) << 128n) + over - 1n) / over;
		});
		const least = [DENOMINATOR - this.tails[0], ...this.tails]; // P(noise ≥ d) for d = 0, 1, …, in the same parts
		const exactly = this.tails.map((tail, d) => least[d] - tail).sort((a, b) => (a < b ? -1 : 1));
		check(exactly[0] > 0n, "bad_mechanism");
		// at the ends, where the noise is clamped, and between them
		const ends = { above: least[0], below: least[size - 1] };
		this.epsilon = loss(larger(ends, { above: exactly[size - 2], below: exactly[0] }));
	}

	/**
	 * @param {bigint} symbol
	 * @param {RandomBytes} randomBytes
	 */
	randomize(symbol, randomBytes) {
		const up = drawWord(randomBytes);
		const down = DENOMINATOR - 1n - up;
		const noise = this.tails.reduce((sum, tail) => sum + Number(up < tail) - Number(down < tail), 0);
		const level = Math.max(0, Math.min(this.size - 1, Number(symbol) + noise));
		return ones(this.width, [level]);
	}

	/** @param {number[]} bits */
	isPossible(bits) {
		return placesOf(bits).length === 1;
	}

	/** Return the largest k with P(|noise| ≥ k) ≥ ½, before clamping; for display. */
	medianShift() {
		return this.tails.filter((tail) => 4n * tail >= DENOMINATOR).length;
	}

	/** @param {number[]} bits */
	namedSymbols(bits) {
		return placesOf(bits).map(BigInt);
	}

	describe = describeSymbols;

	blindDraw() {
		return undefined;
	}

	/**
	 * Return a sentence on the noise that about every second device exceeds or equals.
	 * @param {Field} field
	 * @param {Speech} speech
	 */
	oddsSentence({ questions }, speech) {
		const question = /** @type {NumberQuestion} */ (questions[0]);
		const noise = levelValue(question, BigInt(this.medianShift()), 0n);
		return speech.say(noise.above ? "odds_noise" : "odds_little", { away: withUnit(question, noise, speech) });
	}
}
