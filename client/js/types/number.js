// The type `number`: a number on a grid, read as decimal text and never as a binary float. It is rounded at random to a
// level, or assigned to a bin.

import { parseDecimal, parseInteger, parseTexts } from "../canonical.js";
import { check } from "../errors.js";
import { drawBelow } from "../sampling.js";

/** @import { Fraction } from "../mechanisms/mechanism.js" */
/** @import { Question, QuestionType, Speech } from "../question.js" */
/** @import { RandomBytes } from "../sampling.js" */

/**
 * min, max and step as integers, in units of 10^−digits.
 * @typedef {{ low: bigint, high: bigint, step: bigint, digits: number }} Grid
 */
/**
 * A question of this type; its index runs from 0 to `steps`. Either `levels` or `bins` is 0.
 * @typedef {Question & { unit: string, levels: number, bins: number, grid: Grid, steps: bigint }} NumberQuestion
 */

const DECIMAL_TEXT = /^([+-]?[0-9]{1,17})(?:\.([0-9]{1,17}))?$/;
const MOST_STEPS = 2n ** 31n - 1n;
const MORE_DIGITS = 3; // of a level that lies between two values of the grid

/** @satisfies {QuestionType} */
export const number = {
	requiredKeys: ["min", "max", "step"],
	optionalKeys: ["unit", "levels", "bins"],
	labelsKey: null,
	hasSets: false,
	fitsGrid: false,

	/** @param {any} value */
	parse(value) {
		const grid = toGrid(parseDecimal(value.min), parseDecimal(value.max), parseDecimal(value.step));
		const range = grid.high - grid.low;
		check(range > 0n && grid.step > 0n && range % grid.step === 0n);
		const steps = range / grid.step;
		check(steps <= MOST_STEPS);
		parseTexts(value, ["unit"]);
		check("levels" in value !== "bins" in value);
		const { unit = "", levels = 0, bins = 0 } = value;
		parseInteger(levels || bins, 2, Number(steps) + 1);
		return { labels: [], unit, levels, bins, grid, steps };
	},

	/** @param {NumberQuestion} question */
	symbols: ({ levels, bins }) => BigInt(levels || bins),

	/**
	 * @param {NumberQuestion} question
	 * @param {unknown} answer
	 */
	indexOf({ id, grid, bins, steps }, answer) {
		check(typeof answer === "number" || typeof answer === "string", "bad_answer", id);
		const parts = DECIMAL_TEXT.exec(String(answer));
		check(parts, "bad_answer", id);
		const [, whole, fraction = ""] = parts;
		const decimals = fraction.replace(/0+$/, "");
		check(decimals.length <= grid.digits, "bad_answer", id);
		const value = BigInt(whole.replace("+", "") + decimals.padEnd(grid.digits, "0"));
		const offset = value - grid.low;
		check(value >= grid.low && value <= grid.high && offset % grid.step === 0n, "bad_answer", id);
		const index = offset / grid.step;
		return bins ? (index * BigInt(bins)) / (steps + 1n) : index;
	},

	/**
	 * Return the index that stands for no answer; with levels it lies beyond the grid.
	 * @param {NumberQuestion} question
	 */
	unanswered: ({ levels, steps, noAnswer }) => (levels ? steps + 1n : noAnswer),

	/** @returns {string[]} */
	labelsOf: () => [],

	/**
	 * Return the symbol of an index: with levels, one of the two nearest levels. For no answer the draw is ignored.
	 * @param {NumberQuestion} question
	 * @param {bigint} index
	 * @param {RandomBytes} randomBytes
	 */
	symbolOf({ levels, steps, noAnswer }, index, randomBytes) {
		if (!levels) return index;
		const scaled = index * BigInt(levels - 1);
		const up = drawBelow(Number(steps), randomBytes) < scaled % steps;
		return index > steps ? noAnswer : scaled / steps + BigInt(up);
	},

	/**
	 * @param {NumberQuestion} question
	 * @param {bigint} symbol
	 * @param {Speech} speech
	 */
	label(question, symbol, speech) {
		if (question.levels) return withUnit(question, levelValue(question, symbol), speech);
		const [low, high] = binRange(question, symbol);
		const highest = withUnit(question, high, speech);
		return low.above === high.above
			? highest
			: speech.say("range", { low: spell(question, low, speech), high: highest });
	},

	/**
	 * @param {NumberQuestion} question
	 * @param {bigint} index
	 * @param {Speech} speech
	 * @returns {string}
	 */
	answerLabel: (question, index, speech) =>
		question.levels ? withUnit(question, gridValue(question, index), speech) : number.label(question, index, speech),

	/** @param {NumberQuestion} question */
	hasLevels: ({ levels }) => levels > 0,
};

/**
 * Return three decimals as integers in the largest common unit 10^−digits.
 * @param {string[]} decimals
 * @returns {Grid}
 */
function toGrid(...decimals) {
	const parts = decimals.map((decimal) => decimal.split("."));
	const digits = Math.max(...parts.map(([, fraction = ""]) => fraction.length));
	const [low, high, step] = parts.map(([whole, fraction = ""]) => BigInt(whole + fraction.padEnd(digits, "0")));
	return { low, high, step, digits };
}

/**
 * Return the number at an index of the grid.
 * @param {NumberQuestion} question
 * @param {bigint} index
 * @returns {Fraction}
 */
export function gridValue({ grid }, index) {
	return { above: grid.low + index * grid.step, below: unitOf(grid) };
}

/**
 * Return the number at a level; with `from` zero, its distance from the lowest level.
 * @param {NumberQuestion} question
 * @param {bigint} level
 * @param {bigint} from
 * @returns {Fraction}
 */
export function levelValue({ grid, levels }, level, from = grid.low) {
	const gaps = BigInt(levels - 1);
	return { above: from * gaps + level * (grid.high - grid.low), below: gaps * unitOf(grid) };
}

/**
 * Return the lowest and the highest number of a bin: all i with i·B div (N+1) = symbol.
 * @param {NumberQuestion} question
 * @param {bigint} symbol
 */
function binRange(question, symbol) {
	const bins = BigInt(question.bins);
	/** @param {bigint} bin */
	const first = (bin) => (bin * (question.steps + 1n) + bins - 1n) / bins;
	return [gridValue(question, first(symbol)), gridValue(question, first(symbol + 1n) - 1n)];
}

/**
 * @param {NumberQuestion} question
 * @param {Fraction} value
 * @param {Speech} speech
 */
export function withUnit(question, value, speech) {
	return `${spell(question, value, speech)} ${question.unit}`.trim();
}

/**
 * Return a number as a decimal: exact on the question's grid, rounded to three more digits between two values.
 * @param {NumberQuestion} question
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

/** @param {{ digits: number }} grid */
const unitOf = ({ digits }) => 10n ** BigInt(digits);
