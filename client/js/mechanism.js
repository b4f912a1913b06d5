// The mechanisms: how a symbol becomes noisy bits, and exactly how much that gives away.
//
// The loss ε of a mechanism is ln(odds), with the odds an exact fraction of the published integers: the largest ratio of
// the probabilities of one output under two inputs. A mechanism that exists is valid: the constructors refuse everything
// else. Each draws a number of bytes that depends on its parameters alone, but for the rare repeats of `below`: neither
// the answer nor the outcome shows in how much was drawn.
//
// A symbol is a BigInt. The bits of one field are an array of `width` zeros and ones, the first stored bit first; `size`
// is the number of symbols. `p` = P(stored bit 1 | its symbol is true) and `q` = P(stored bit 1 | it is not).

import { checkKeys, integer, threshold } from "./canonical.js";
import { check } from "./errors.js";
import { below, coin, pick, WHOLE, word } from "./sampling.js";

/** @import { RandomBytes } from "./sampling.js" */
/** @typedef {{ above: bigint, below: bigint }} Fraction exact; `below` is positive */
/** @typedef {Record<string, any>} Parameters as published, but thresholds are BigInts */
/** @typedef {Flip | Subset | Drawn | Geometric} Mechanism */

export const MOST_DRAWN = 16; // options of a multiple at once: 2^16 sets
const MOST_LEVELS = 64; // of geometric noise

/**
 * ln(odds), as a float: odds near one keep their digits.
 * @param {Fraction} odds
 */
function loss({ above, below }) {
	return Math.log1p(Number(above - below) / Number(below));
}

/**
 * @param {Fraction} one
 * @param {Fraction} other
 */
const larger = (one, other) => (one.above * other.below > other.above * one.below ? one : other);

/** One bit for yes or no: Warner's randomized response (1965) and all its kin. */
export class Flip {
	size = 2;
	width = 1;

	/** @param {Parameters} given */
	constructor({ one, zero }) {
		check(zero < one, "bad_mechanism");
		/** @type {bigint} */
		this.one = one;
		/** @type {bigint} */
		this.zero = zero;
		this.p = { above: this.one, below: WHOLE };
		this.q = { above: this.zero, below: WHOLE };
		// of heads, and of tails
		this.epsilon = loss(larger({ above: one, below: zero }, { above: WHOLE - zero, below: WHOLE - one }));
	}

	/**
	 * @param {bigint} symbol
	 * @param {RandomBytes} randomBytes
	 */
	randomize(symbol, randomBytes) {
		return [Number(coin(symbol ? this.one : this.zero, randomBytes))];
	}

	/** @param {number[]} _bits */
	possible(_bits) {
		return true;
	}
}

/**
 * A random set of `weight` symbols that holds the true one with probability keep/2^64 (Ye and Barg 2018).
 * Weight 1 is k-ary randomized response.
 */
export class Subset {
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
		/** @type {Fraction} */
		this.p = { above: keep * others, below: WHOLE * others };
		this.q = { above: BigInt(weight) * WHOLE - keep, below: WHOLE * others };
		this.epsilon = loss({ above: keep * BigInt(size - weight), below: (WHOLE - keep) * BigInt(weight) });
	}

	/**
	 * @param {bigint} symbol
	 * @param {RandomBytes} randomBytes
	 */
	randomize(symbol, randomBytes) {
		const truth = Number(symbol);
		const held = coin(this.keep, randomBytes);
		const others = range(this.size).filter((other) => other !== truth);
		const picked = pick(this.weight, others, randomBytes);
		const last = picked.length - 1;
		picked[last] = held ? truth : picked[last];
		return ones(this.width, picked);
	}

	/** @param {number[]} bits */
	possible(bits) {
		return countOnes(bits) === this.weight;
	}
}

/**
 * A set of options, of which `draw` random ones are asked together; which ones is disclosed.
 *
 * The symbol is the set as a mask, option 0 least significant; `size` is the number of options. What was selected among
 * the asked is one of 2^draw sets, kept with probability keep/2^64, otherwise another one. Stored are two bits for every
 * option: (asked, reported 0) and (asked, reported 1); p and q are those of one asked option.
 */
export class Drawn {
	/** @param {Parameters} given */
	constructor({ size, draw, keep }) {
		const sets = 2 ** draw;
		check(draw >= 1 && draw <= size && draw <= MOST_DRAWN && isAboveChance(keep, 1, sets), "bad_mechanism");
		/** @type {number} */
		this.size = size;
		this.width = 2 * this.size;
		/** @type {number} */
		this.draw = draw;
		/** How many sets the asked options have. */
		this.sets = sets;
		/** @type {bigint} */
		this.keep = keep;
		const others = BigInt(sets - 1);
		const half = BigInt(sets / 2);
		const moved = WHOLE - this.keep;
		this.p = { above: this.keep * others + moved * (half - 1n), below: WHOLE * others };
		this.q = { above: moved * half, below: WHOLE * others };
		this.epsilon = loss({ above: this.keep * others, below: moved });
	}

	/**
	 * @param {bigint} symbol
	 * @param {RandomBytes} randomBytes
	 */
	randomize(symbol, randomBytes) {
		const asked = pick(this.draw, range(this.size), randomBytes).sort((a, b) => a - b);
		const chosen = asked.map((option) => Number((symbol >> BigInt(option)) & 1n));
		const truth = chosen.reduce((mask, bit, i) => mask | (bit << i), 0);
		const held = coin(this.keep, randomBytes);
		const other = below(this.sets - 1, randomBytes);
		const sent = held ? truth : other + Number(other >= truth);
		const places = asked.map((option, i) => 2 * option + ((sent >> i) & 1));
		return ones(this.width, places);
	}

	/** @param {number[]} bits */
	possible(bits) {
		return countOnes(bits) === this.draw && range(this.size).every((i) => !(bits[2 * i] && bits[2 * i + 1]));
	}
}

/**
 * A level plus two-sided geometric noise of ratio r = ratio/2^64, clamped to the levels there are.
 *
 * P(noise ≥ k) = r^k/(1+r), rounded up to G_k/2^64 (Ghosh, Roughgarden and Sundararajan 2009); one word decides. The
 * bit of the noisy level is set.
 */
export class Geometric {
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
			const over = (WHOLE + ratio) << (64n * power);
			return (((ratio ** power) << 128n) + over - 1n) / over;
		});
		const least = [WHOLE - this.tails[0], ...this.tails]; // P(noise ≥ d) for d = 0, 1, …, in the same parts
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
		const up = word(randomBytes);
		const down = WHOLE - 1n - up;
		const noise = this.tails.reduce((sum, tail) => sum + Number(up < tail) - Number(down < tail), 0);
		const level = Math.max(0, Math.min(this.size - 1, Number(symbol) + noise));
		return ones(this.width, [level]);
	}

	/** @param {number[]} bits */
	possible(bits) {
		return countOnes(bits) === 1;
	}

	/** The largest k with P(|noise| ≥ k) ≥ ½, before anything is clamped; for display. */
	medianShift() {
		return this.tails.filter((tail) => 4n * tail >= WHOLE).length;
	}
}

/**
 * The class of each kind, and its parameters.
 * @type {Map<unknown, [make: new (given: Parameters) => Mechanism, ...parameters: string[]]>}
 */
const KINDS = new Map([
	["flip", [Flip, "one", "zero"]],
	["subset", [Subset, "size", "weight", "keep"]],
	["drawn", [Drawn, "size", "draw", "keep"]],
	["geometric", [Geometric, "size", "ratio"]],
]);
const THRESHOLDS = ["one", "zero", "keep", "ratio"];

/**
 * The mechanism of a field with `size` symbols (`size` options, for `drawn`).
 * @param {any} value
 * @param {bigint} size
 * @returns {Mechanism}
 */
export function parse(value, size) {
	const known = KINDS.get(value?.kind);
	check(known);
	const [make, ...parameters] = known;
	checkKeys(value, ["kind", ...parameters]);
	/** @type {Parameters} */
	const given = {};
	for (const name of parameters) {
		given[name] = THRESHOLDS.includes(name) ? threshold(value[name]) : integer(value[name], 0);
	}
	check(BigInt(given.size ?? 2) === size, "bad_mechanism");
	return new make(given);
}

/**
 * @param {bigint} keep
 * @param {number} weight
 * @param {number} size
 */
const isAboveChance = (keep, weight, size) => BigInt(weight) * WHOLE < keep * BigInt(size);

/** @param {number} count */
const range = (count) => [...Array(count).keys()];

/**
 * So many bits, ones at these places.
 * @param {number} width
 * @param {number[]} places
 */
function ones(width, places) {
	/** @type {number[]} */
	const bits = Array(width).fill(0);
	for (const place of places) bits[place] = 1;
	return bits;
}

/** @param {number[]} bits */
const countOnes = (bits) => bits.filter((bit) => bit === 1).length;
