// Some options of a set, drawn on the device.

import { integer } from "../canonical.js";
import { check } from "../errors.js";
import { typeOf } from "../question.js";
import { below, coin, pick, WHOLE } from "../sampling.js";
import { blindShare, isAboveChance, loss, ones, placesOf, range } from "./mechanism.js";

/** @import { Field } from "../definition.js" */
/** @import { Question, Speech } from "../question.js" */
/** @import { RandomBytes } from "../sampling.js" */
/** @import { Parameters } from "./mechanism.js" */

const MOST_DRAWN = 16; // options of a multiple at once: 2^16 sets

/**
 * A set of options, of which `draw` random ones are asked together; which ones is disclosed.
 *
 * The symbol is the set as a mask, option 0 least significant; `size` is the number of options. What was selected among
 * the asked is one of 2^draw sets, kept with probability keep/2^64, otherwise another one. Stored are two bits for every
 * option: (asked, reported 0) and (asked, reported 1); p and q are those of one asked option.
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
		integer(draw, 1, MOST_DRAWN);
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
		/** How many sets the asked options have. */
		this.sets = sets;
		/** @type {bigint} */
		this.keep = keep;
		const others = BigInt(sets - 1);
		const half = BigInt(sets / 2);
		const moved = WHOLE - this.keep;
		this.p = this.keep * others + moved * (half - 1n);
		this.q = moved * half;
		this.whole = WHOLE * others;
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
		return placesOf(bits).length === this.draw && range(this.size).every((i) => !(bits[2 * i] && bits[2 * i + 1]));
	}

	/** @returns {bigint[]} */
	namedSymbols() {
		return []; // but some of its options
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
		return blindShare(this, 1); // of an option: the other side
	}

	/**
	 * @param {Field} _field
	 * @param {Speech} speech
	 */
	oddsSentence(_field, { say }) {
		return say("odds_drawn", { ...this, ...this.blindDraw() });
	}
}
