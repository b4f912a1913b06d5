// The mechanism `subset`: a random set of symbols.

import { check } from "../errors.js";
import { DENOMINATOR, flipCoin, pick } from "../sampling.js";
import {
	blindShare,
	describeSymbols,
	fitAny,
	isAboveChance,
	loss,
	ones,
	placesOf,
	range,
	symbolOdds,
} from "./mechanism.js";

/** @import { Field } from "../definition.js" */
/** @import { Speech } from "../question.js" */
/** @import { RandomBytes } from "../sampling.js" */
/** @import { Parameters } from "./mechanism.js" */

/**
 * A random set of `weight` symbols that holds the true one with probability keep/2^64 (Ye and Barg 2018).
 * Weight 1 is k-ary randomized response.
 */
export class Subset {
	static parameters = ["size", "weight", "keep"];
	static fitsJoint = true;
	static fit = fitAny;

	/** @param {Parameters} given */
	constructor({ size, weight, keep }) {
		check(weight >= 1 && weight < size && isAboveChance(keep, weight, size), "bad_mechanism");
		/** @type {number} */
		this.size = size;
		/** @type {number} */
		this.width = size;
		/** @type {number} */
		this.weight = weight;
		/** @type {bigint} */
		this.keep = keep;
		const others = BigInt(size - 1);
		/** @type {bigint} */
		this.p = keep * others;
		this.q = BigInt(weight) * DENOMINATOR - keep;
		this.total = DENOMINATOR * others;
		this.epsilon = loss({ above: keep * BigInt(size - weight), below: (DENOMINATOR - keep) * BigInt(weight) });
	}

	/**
	 * @param {bigint} symbol
	 * @param {RandomBytes} randomBytes
	 */
	randomize(symbol, randomBytes) {
		const truth = Number(symbol);
		const isTrue = flipCoin(this.keep, randomBytes);
		const others = range(this.size).filter((other) => other !== truth);
		const picked = pick(this.weight, others, randomBytes);
		const last = picked.length - 1;
		picked[last] = isTrue ? truth : picked[last];
		return ones(this.width, picked);
	}

	/** @param {number[]} bits */
	isPossible(bits) {
		return placesOf(bits).length === this.weight;
	}

	/** @param {number[]} bits */
	namedSymbols(bits) {
		return placesOf(bits).map(BigInt);
	}

	describe = describeSymbols;

	blindDraw() {
		return blindShare(this, this.size - 1);
	}

	/**
	 * @param {Field} field
	 * @param {Speech} speech
	 */
	oddsSentence(field, speech) {
		return symbolOdds(this, "odds_several", field, speech);
	}
}
