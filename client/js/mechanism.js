// The mechanisms: how a symbol becomes noisy bits, and exactly how much that gives away.
//
// The loss ε of a mechanism is `times · ln(odds)`, with `odds` an exact fraction of the published integers. A mechanism
// that exists is valid: the constructors refuse everything else.
//
// A symbol is a BigInt. The bits of one field are an array of `width` zeros and ones, the first stored bit first; `size`
// is the number of symbols. `p` = P(stored bit 1 | its symbol is true) and `q` = P(stored bit 1 | it is not).

import { choose, conform, isCount, isText, isThreshold } from "./canonical.js";
import { check } from "./errors.js";
import { coin, pick, WHOLE } from "./sampling.js";

/** @import { Schema } from "./canonical.js" */
/** @import { RandomBytes } from "./sampling.js" */
/** @typedef {{ above: bigint, below: bigint }} Fraction exact; `below` is positive */
/** @typedef {Record<string, any>} Parameters as published, but thresholds are BigInts; with the field's `size` */
/** @typedef {Flip | Subset | Unary | Sampled | Geometric} Mechanism */

const LARGEST_SIZE = 2 ** 20; // more symbols than any report can carry
const LONGEST_DRAW = 10_000; // mean coins of one geometric noise
const MOST_CLAMPING = 2 ** -40;

/**
 * ln(odds), as a float: odds near one keep their digits.
 * @param {Fraction} odds
 */
function loss({ above, below }) {
	return Math.log1p(Number(above - below) / Number(below));
}

/**
 * What a coin's side tells at the most, if it is heads with p for one answer and with q < p for another.
 * @param {Fraction} p
 * @param {Fraction} q of the same `below`
 */
function coinOdds(p, q) {
	const heads = { above: p.above, below: q.above };
	const tails = { above: q.below - q.above, below: p.below - p.above };
	return heads.above * tails.below > tails.above * heads.below ? heads : tails;
}

/** P(1 | true) = one/2^64 and P(1 | not true) = zero/2^64. */
class Coins {
	/** @param {Parameters} given */
	constructor({ one, zero }) {
		check(zero < one, "bad_mechanism");
		/** @type {bigint} */
		this.one = one;
		/** @type {bigint} */
		this.zero = zero;
		this.p = { above: this.one, below: WHOLE };
		this.q = { above: this.zero, below: WHOLE };
		this.epsilon = loss(coinOdds(this.p, this.q));
	}

	/** @param {number[]} _bits */
	possible(_bits) {
		return true;
	}
}

/** One bit for yes or no: Warner's randomized response (1965) and all its kin. */
export class Flip extends Coins {
	size = 2;
	width = 1;

	/**
	 * @param {bigint} symbol
	 * @param {RandomBytes} randomBytes
	 */
	randomize(symbol, randomBytes) {
		return [Number(coin(symbol ? this.one : this.zero, randomBytes))];
	}
}

/**
 * A random set of `weight` symbols that holds the true one with probability keep/2^64 (Ye and Barg 2018).
 * Weight 1 is k-ary randomized response.
 */
export class Subset {
	/** @param {Parameters} given */
	constructor({ size, weight, keep }) {
		check(isSize(size) && weight >= 1 && weight < size, "bad_mechanism");
		check(BigInt(weight) * WHOLE < keep * BigInt(size), "bad_mechanism"); // keep is above chance
		/** @type {number} */
		this.size = size;
		/** @type {number} */
		this.width = size;
		/** @type {number} */
		this.weight = weight;
		/** @type {bigint} */
		this.keep = keep;
		/** @type {Fraction} */
		this.p = { above: keep, below: WHOLE };
		this.q = { above: BigInt(weight) * WHOLE - keep, below: BigInt(size - 1) * WHOLE };
		this.epsilon = loss({ above: keep * BigInt(size - weight), below: (WHOLE - keep) * BigInt(weight) });
	}

	/**
	 * @param {bigint} symbol
	 * @param {RandomBytes} randomBytes
	 */
	randomize(symbol, randomBytes) {
		const truth = Number(symbol);
		const bits = zeros(this.size);
		bits[truth] = Number(coin(this.keep, randomBytes));
		const others = range(this.size).filter((other) => other !== truth);
		for (const other of pick(this.weight - bits[truth], others, randomBytes)) bits[other] = 1;
		return bits;
	}

	/** @param {number[]} bits */
	possible(bits) {
		return countOnes(bits) === this.weight;
	}
}

/** One coin for every symbol: `one` for the true symbol, `zero` for each other (Wang et al. 2017). */
export class Unary extends Coins {
	/** @param {Parameters} given */
	constructor(given) {
		super(given);
		check(isSize(given.size), "bad_mechanism");
		/** @type {number} */
		this.size = given.size;
		this.width = this.size;
		this.epsilon = loss({ above: this.one * (WHOLE - this.zero), below: this.zero * (WHOLE - this.one) });
	}

	/**
	 * @param {bigint} symbol
	 * @param {RandomBytes} randomBytes
	 */
	randomize(symbol, randomBytes) {
		const truth = Number(symbol);
		return range(this.size).map((i) => Number(coin(i === truth ? this.one : this.zero, randomBytes)));
	}
}

/**
 * A set of options, of which `draw` random ones are asked, each with a flip; which ones is disclosed.
 *
 * The symbol is the set as a mask, option 0 least significant; `size` is the number of options. Stored are two bits for
 * every option: (asked, reported 0) and (asked, reported 1). No amplification is claimed.
 */
export class Sampled extends Coins {
	/** @param {Parameters} given */
	constructor(given) {
		super(given);
		check(isSize(given.size) && given.draw >= 1 && given.draw <= given.size, "bad_mechanism");
		/** @type {number} */
		this.size = given.size;
		this.width = 2 * this.size;
		/** @type {number} */
		this.draw = given.draw;
		this.epsilon *= this.draw;
	}

	/**
	 * @param {bigint} symbol
	 * @param {RandomBytes} randomBytes
	 */
	randomize(symbol, randomBytes) {
		const bits = zeros(this.width);
		const drawn = pick(this.draw, range(this.size), randomBytes).sort((a, b) => a - b);
		for (const option of drawn) {
			const chosen = (symbol >> BigInt(option)) & 1n;
			const heads = coin(chosen ? this.one : this.zero, randomBytes);
			bits[2 * option + Number(heads)] = 1;
		}
		return bits;
	}

	/** @param {number[]} bits */
	possible(bits) {
		return countOnes(bits) === this.draw && range(this.size).every((i) => !(bits[2 * i] && bits[2 * i + 1]));
	}
}

/**
 * A level plus two-sided geometric noise of ratio r = ratio/2^64, clamped to `width` bits in two's complement.
 *
 * P(noise = k) = (1−r)/(1+r) · r^|k| (Ghosh, Roughgarden and Sundararajan 2009). `size` is the number of levels; from
 * the lowest to the highest the loss is (size − 1) · ln(1/r), and clamping adds nothing to it.
 */
export class Geometric {
	/** @param {Parameters} given */
	constructor({ size, ratio, width }) {
		/** @type {number} */
		this.size = size;
		/** @type {number} */
		this.width = width;
		/** @type {bigint} */
		this.ratio = ratio;
		/** The ratio as a float: for limits and for display, never for coins. */
		this.r = Number(ratio) / Number(WHOLE);
		/** Levels run from −half to half − 1. */
		this.half = 2 ** (width - 1);
		this.epsilon = (size - 1) * loss({ above: WHOLE, below: ratio });
		check(width >= 2 && width <= 32 && 2 / (1 - this.r) <= LONGEST_DRAW, "bad_mechanism");
		check(size >= 2 && size <= this.half && this.clamping() < MOST_CLAMPING, "bad_mechanism");
	}

	/** The probability that the noise is cut off, at the highest level, where it is largest. */
	clamping() {
		const { r, half, size } = this;
		return (r ** (half - size + 1) + r ** (half + size)) / (1 + r);
	}

	/**
	 * @param {bigint} symbol
	 * @param {RandomBytes} randomBytes
	 */
	randomize(symbol, randomBytes) {
		let level = Number(symbol);
		while (coin(this.ratio, randomBytes)) level++;
		while (coin(this.ratio, randomBytes)) level--;
		const clamped = Math.max(-this.half, Math.min(this.half - 1, level));
		const stored = BigInt.asUintN(this.width, BigInt(clamped));
		return Array.from(stored.toString(2).padStart(this.width, "0"), Number);
	}

	/** @param {number[]} _bits */
	possible(_bits) {
		return true;
	}

	/**
	 * The noisy level that stored bits spell; it may be negative.
	 * @param {number[]} bits
	 */
	level(bits) {
		return BigInt.asIntN(this.width, BigInt(`0b${bits.join("")}`));
	}

	/** The largest k with P(|noise| ≥ k) ≥ ½, where P(|noise| ≥ k) = 2 r^k/(1+r) for k ≥ 1; for display. */
	medianShift() {
		return Math.max(0, Math.trunc(Math.log((1 + this.r) / 4) / Math.log(this.r)));
	}
}

const COINS = { one: isThreshold, zero: isThreshold };

/** @type {Record<string, { make: new (given: Parameters) => Mechanism, parameters: Schema }>} */
const KINDS = {
	flip: { make: Flip, parameters: COINS },
	subset: { make: Subset, parameters: { size: isCount, weight: isCount, keep: isThreshold } },
	unary: { make: Unary, parameters: { size: isCount, ...COINS } },
	sampled: { make: Sampled, parameters: { size: isCount, draw: isCount, ...COINS } },
	geometric: { make: Geometric, parameters: { ratio: isThreshold, width: isCount } },
};

/**
 * The mechanism of a field with `size` symbols (`size` options, for `sampled`).
 * @param {any} value
 * @param {bigint} size
 * @returns {Mechanism}
 */
export function parse(value, size) {
	const { make, parameters } = choose(value.kind, KINDS);
	conform(value, { kind: isText, ...parameters });
	/** @type {Parameters} */
	const given = { size: Number(size) };
	for (const [name, test] of Object.entries(parameters)) {
		given[name] = test === isThreshold ? BigInt(value[name]) : value[name];
	}
	const mechanism = new make(given);
	check(BigInt(mechanism.size) === size, "bad_mechanism");
	return mechanism;
}

/** @param {number} size */
const isSize = (size) => size >= 2 && size <= LARGEST_SIZE;

/** @param {number} count */
const range = (count) => [...Array(count).keys()];

/** @param {number} count @returns {number[]} */
const zeros = (count) => Array(count).fill(0);

/** @param {number[]} bits */
const countOnes = (bits) => bits.filter((bit) => bit === 1).length;
