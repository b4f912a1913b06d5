// The mechanism `flip`: one bit for two symbols.

import { check } from "../errors.js";
import { DENOMINATOR, flipCoin } from "../sampling.js";
import { blindShare, describeSymbols, fitAny, larger, loss, symbolOdds } from "./mechanism.js";

/** @import { Field } from "../definition.js" */
/** @import { Speech } from "../question.js" */
/** @import { RandomBytes } from "../sampling.js" */
/** @import { Parameters } from "./mechanism.js" */

/** One bit for yes or no: Warner's randomized response (1965) and its variants. */
export class Flip {
	static parameters = ["one", "zero"];
	static fitsJoint = true;
	static fit = fitAny;
	size = 2;
	width = 1;
	total = DENOMINATOR;

	/** @param {Parameters} given */
	constructor({ one, zero }) {
		check(zero < one, "bad_mechanism");
		/** @type {bigint} */
		this.p = one;
		/** @type {bigint} */
		this.q = zero;
		// odds of heads and of tails
		this.epsilon = loss(larger({ above: one, below: zero }, { above: DENOMINATOR - zero, below: DENOMINATOR - one }));
	}

	/**
	 * @param {bigint} symbol
	 * @param {RandomBytes} randomBytes
	 */
	randomize(symbol, randomBytes) {
		return [Number(flipCoin(symbol ? this.p : this.q, randomBytes))];
	}

	/** @param {number[]} _bits */
	isPossible(_bits) {
		return true;
	}

	/** @param {number[]} bits */
	namedSymbols(bits) {
		return bits.map(BigInt);
	}

	describe = describeSymbols;

	blindDraw() {
		return blindShare(this, 1);
	}

	/**
	 * @param {Field} field
	 * @param {Speech} speech
	 */
	oddsSentence(field, speech) {
		return symbolOdds(this, "odds_flip", field, speech);
	}
}
