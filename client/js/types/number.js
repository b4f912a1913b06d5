// A number on a grid, found through decimal text and never through binary floats. What is sent of it is a level, to
// which it is rounded at random, or a bin.

import { decimal, integer, plainTexts } from "../canonical.js";
import { check } from "../errors.js";
import { below } from "../sampling.js";

/** @import { Fraction } from "../mechanisms/mechanism.js" */
/** @import { Question, QuestionType, Speech } from "../question.js" */
/** @import { RandomBytes } from "../sampling.js" */

/**
 * min, max and step as integers, in units of 10^−digits.
 * @typedef {{ low: bigint, high: bigint, step: bigint, digits: number }} Grid
 */
/**
 * What only a number has; its index runs from 0 to `steps`. It has levels or bins, and of the others 0.
 * @typedef {Question & { unit: string, levels: number, bins: number, grid: Grid, steps: bigint }} NumberQuestion
 */

const DECIMAL_TEXT = /^([+-]?[0-9]{1,17})(?:\.([0-9]{1,17}))?$/;
const MOST_STEPS = 2n ** 31n - 1n;
const MORE_DIGITS = 3; // of a level that lies between two values of the grid

/** @satisfies {QuestionType} */
export const number = {
	required: ["min", "max", "step"],
	possible: ["unit", "levels", "bins"],
	labelsKey: null,
	hasSets: false,
	fitsGrid: false,

	/** @param {any} value */
	parse(value) {
		const grid = toGrid(decimal(value.min), decimal(value.max), decimal(value.step));
		const range = grid.high - grid.low;
		check(range > 0n && grid.step > 0n && range % grid.step === 0n);
		const steps = range / grid.step;
		check(steps <= MOST_STEPS);
		plainTexts(value, ["unit"]);
		check("levels" in value !== "bins" in value);
		const { unit = "", levels = 0, bins = 0 } = value;
		integer(levels || bins, 2, Number(steps) + 1);
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
	 * With levels, it lies beyond the grid.
	 * @param {NumberQuestion} question
	 */
	unanswered: ({ levels, steps, noAnswer }) => (levels ? steps + 1n : noAnswer),

	/** @returns {string[]} */
	labelsOf: () => [],

	/**
	 * A level, drawn between the two next to the number; drawn and ignored for no answer.
	 * @param {NumberQuestion} question
	 * @param {bigint} index
	 * @param {RandomBytes} randomBytes
	 */
	symbolOf({ levels, steps, noAnswer }, index, randomBytes) {
		if (!levels) return index;
		const scaled = index * BigInt(levels - 1);
		const up = below(Number(steps), randomBytes) < scaled % steps;
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
 * Three decimals as integers in the largest unit 10^−digits that fits them all.
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
 * The number at an index of the grid.
 * @param {NumberQuestion} question
 * @param {bigint} index
 * @returns {Fraction}
 */
export function gridValue({ grid }, index) {
	return { above: grid.low + index * grid.step, below: unitOf(grid) };
}

/**
 * The number at a level; or, counted from zero, how far that is from the lowest.
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
 * The lowest and the highest number of a bin: all i with i·B div (N+1) = symbol.
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
 * A number of a question as a decimal: exact on its grid, and rounded to three digits more between two values.
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
