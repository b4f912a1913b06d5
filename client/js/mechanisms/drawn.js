// The mechanism `drawn`: the device draws some options at random and reports on them only.

import { parseInteger } from "../canonical.js";
import { check } from "../errors.js";
import { typeOf } from "../question.js";
import { DENOMINATOR, drawBelow, flipCoin, pick } from "../sampling.js";
import { blindShare, isAboveChance, loss, ones, placesOf, range } from "./mechanism.js";

/** @import { Field } from "../definition.js" */
/** @import { Question, Speech } from "../question.js" */
/** @import { RandomBytes } from "../sampling.js" */
/** @import { Parameters } from "./mechanism.js" */

const MOST_DRAWN = 16; // options of one report: 2^16 sets

/**
 * A report on `draw` options that the device draws at random; the report discloses which options these are.
 *
 * The symbol is the set of selected options as a mask, option 0 least significant; `size` is the number of options. The
 * selection among the drawn options is one of 2^draw sets. It is reported with probability keep/2^64, otherwise another
 * set. Two bits are stored for each option: (drawn, reported 0) and (drawn, reported 1). `p` and `q` are those of one
 * drawn option.
 */
export class Drawn {
	static parameters = ["size", "draw", "keep"];
	static fitsJoint = false;

	/**
	 * @param {any} form
	 * @param {Question} question
	 */
	static fit({ draw }, { type, labels, optional }) {
		check(typeOf(type).hasSets, "bad_mechanism");
		parseInteger(draw, 1, MOST_DRAWN);
		return { size: BigInt(labels.length) + BigInt(optional), effort: 1n << BigInt(draw) };
	}

	/** @param {Parameters} given */
	constructor({ size, draw, keep }) {
		const sets = 2 ** draw;
		check(draw >= 1 && draw <= size && draw <= MOST_DRAWN && isAboveChance(keep, 1, sets), "bad_mechanism");
		/** @type {number} */
		this.size = size;
		this.width = 2 * this.size;
		/** @type {number} */
		this.draw = draw;
		/** The number of sets of the drawn options. */
		this.sets = sets;
		/** @type {bigint} */
		this.keep = keep;
		const others = BigInt(sets - 1);
		const half = BigInt(sets / 2);
		const rest = DENOMINATOR - this.keep;
		this.p = this.keep * others + rest * (half - 1n);
		this.q = rest * half;
		this.total = DENOMINATOR * others;
		this.epsilon = loss({ above: this.keep * others, below: rest });
	}

	/**
	 * @param {bigint} symbol
	 * @param {RandomBytes} randomBytes
	 */
	randomize(symbol, randomBytes) {
		const options = pick(this.draw, range(this.size), randomBytes).sort((a, b) => a - b);
		const bits = options.map((option) => Number((symbol >> BigInt(option)) & 1n));
		const truth = bits.reduce((mask, bit, i) => mask | (bit << i), 0);
		const isTrue = flipCoin(this.keep, randomBytes);
		const other = drawBelow(this.sets - 1, randomBytes);
		const report = isTrue ? truth : other + Number(other >= truth);
		const places = options.map((option, i) => 2 * option + ((report >> i) & 1));
		return ones(this.width, places);
	}

	/** @param {number[]} bits */
	isPossible(bits) {
		return placesOf(bits).length === this.draw && range(this.size).every((i) => !(bits[2 * i] && bits[2 * i + 1]));
	}

	/** @returns {bigint[]} */
	namedSymbols() {
		return []; // the bits name options, not a symbol
	}

	/**
	 * @param {Field} field
	 * @param {number[]} bits
	 * @param {Speech} speech
	 */
	describe({ questions }, bits, { say }) {
		const options = [...questions[0].labels, say("no_answer")];
		return placesOf(bits)
			.map((place) => `${options[place >> 1]}: ${say(place % 2 ? "yes" : "no")}`)
			.join(", ");
	}

	blindDraw() {
		return blindShare(this, 1); // the other cell of an option: yes or no
	}

	/**
	 * @param {Field} _field
	 * @param {Speech} speech
	 */
	oddsSentence(_field, { say }) {
		return say("odds_drawn", { ...this, ...this.blindDraw() });
	}
}
