// The controls of a number: a text field, so that no browser interprets a comma.

import { digitLabel } from "/client/js/question.js";
import { number as client, gridValue, withUnit } from "/client/js/types/number.js";
import { el } from "../dom.js";
import { noAnswer } from "../options.js";
import { say, speech } from "../strings.js";

/** @import { NumberQuestion } from "/client/js/types/number.js" */
/** @import { Control, FormType } from "../controls.js" */
/** @import { Asked } from "../language.js" */

const MOST_LISTED = 5; // values that a number may be rounded to

/** @satisfies {FormType} */
export const number = { control, describeRounding };

/**
 * @param {NumberQuestion} question
 * @param {string} text
 */
function fits(question, text) {
	try {
		client.indexOf(question, text);
		return true;
	} catch {
		return false;
	}
}

/**
 * Return typed text as decimal text; undefined if it does not fit.
 *
 * A comma is a decimal point. "1,000" could mean one or a thousand, so it is refused.
 * @param {NumberQuestion} question
 * @param {string} typed
 */
function decimalText(question, typed) {
	const text = typed.trim().replace(",", ".").replace("−", "-");
	const thousands = /^\D?[1-9]\d{0,2}\.\d{3}$/.test(text) && fits(question, text.replace(".", ""));
	const odd = question.grid.digits < 3 && /\.\d{3}$/.test(text);
	return !thousands && !odd && fits(question, text) ? text : undefined;
}

/**
 * @param {Asked & NumberQuestion} question
 * @param {string} id
 * @returns {Control}
 */
function control(question, id) {
	const { grid, steps, unit, optional } = question;
	const bare = { ...question, unit: "" };
	const origin = { ...bare, grid: { ...grid, low: 0n } }; // on this grid the number at index 1 is the step
	const step = withUnit(origin, gridValue(origin, 1n), speech);
	const values = {
		low: withUnit(bare, gridValue(bare, 0n), speech),
		high: withUnit(question, gridValue(question, steps), speech),
		step,
	};
	const whole = step === "1" && grid.low % grid.step === 0n;
	const inputmode = grid.low < 0n ? "text" : "decimal";
	const described = { "aria-labelledby": id, "aria-describedby": `${id}.hint ${id}.error` };
	const input = el("input", { type: "text", inputmode, size: 12, spellcheck: "false", ...described });
	const skip = noAnswer("checkbox", id);
	input.addEventListener("input", () => {
		skip.input.checked = false;
	});
	skip.input
		.addEventListener("change", () => {
			input.value = "";
		});
	return {
		nodes: [el("p", {}, input, " ", unit), optional && skip.node],
		inputs: [input],
		empty: () => input.value.trim() === "" && !skip.input.checked,
		read: () => (skip.input.checked ? null : decimalText(question, input.value)),
		wrong: () => [input.value ? "bad_number" : "missing"],
		hint: [whole ? "whole" : "number", values],
	};
}

/**
 * Return a sentence on the values that a number is rounded to; empty if no number is rounded.
 * @param {NumberQuestion} question
 */
function describeRounding(question) {
	const { levels, steps } = question;
	if (levels === 0 || BigInt(levels) > steps) return "";
	const all = Array.from({ length: levels }, (_, level) => digitLabel(question, BigInt(level), speech));
	const listed = new Intl.ListFormat(speech.language, { type: "disjunction" }).format(all);
	const values = levels > MOST_LISTED ? `${all[0]}, ${all[1]}, … ${all[levels - 1]}` : listed;
	return say("rounded", { values });
}
