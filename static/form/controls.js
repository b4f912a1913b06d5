// The inputs of one question: five types, and how to read what was ticked or typed.

import { indexOf } from "/client/js/answer.js";
import { below, systemBytes } from "/client/js/sampling.js";
import { gridValue, withUnit } from "/client/js/words.js";
import { el, ours } from "./dom.js";
import { speech } from "./strings.js";

/** @import { Question } from "/client/js/question.js" */
/** @import { Values } from "/client/js/words.js" */
/** @import { Leaf } from "./dom.js" */
/** @import { Asked } from "./language.js" */
/** @typedef {string | string[] | null | undefined} Said undefined while there is no answer that fits */
/** @typedef {[key: string, values?: Values]} Line one of our strings */

/**
 * The inputs of a question, and how to read them.
 * @typedef {object} Control
 * @property {Leaf[]} nodes
 * @property {HTMLInputElement[]} inputs
 * @property {() => boolean} empty whether nothing is ticked or typed
 * @property {() => Said} read
 * @property {() => Line} wrong what to say when nothing that fits was read
 * @property {Line | null} hint
 */

/**
 * @param {Asked} question
 * @param {string} id
 * @returns {Control}
 */
export const control = (question, id) => (question.type === "number" ? number(question, id) : options(question));

/**
 * @param {"checkbox" | "radio"} type
 * @param {string} name
 * @param {Element} text
 */
function option(type, name, text) {
	const input = el("input", { type, name });
	return { input, node: el("label.option", {}, input, text) };
}

/**
 * The places of the options, as long as this page is open.
 * @type {Map<string, number[]>}
 */
const orders = new Map();

/**
 * Yes first; shuffled, if the author wants it, by bytes of its own: a report draws others, and says nothing of them.
 * @param {Question} question
 */
function orderOf({ id, type, labels, shuffle }) {
	const order = orders.get(id) ?? [...labels.keys()];
	if (orders.has(id)) return order;
	if (type === "yes_no") order.reverse();
	for (let i = order.length - 1; shuffle && i > 0; i--) {
		const j = Number(below(i + 1, systemBytes));
		[order[i], order[j]] = [order[j], order[i]];
	}
	orders.set(id, order);
	return order;
}

/**
 * @param {Asked} question
 * @returns {Control}
 */
function options(question) {
	const { id, type, labels, optional, original } = question;
	const several = type === "multiple";
	/**
	 * @param {string | string[] | null} answer
	 * @param {Element} text
	 */
	const make = (answer, text) => ({ answer, ...option(several ? "checkbox" : "radio", id, text) });
	const made = orderOf(question).map((i) =>
		make(original.labels[i], type === "yes_no" ? ours("span", labels[i]) : el("span", {}, labels[i])),
	);
	if (several) made.push(make([], ours("span", "none")));
	if (optional) made.push(make(null, ours("span", "no_answer")));
	/** @param {{ answer: string | string[] | null }} one */
	const alone = ({ answer }) => several && typeof answer !== "string";
	for (const one of made) {
		one.input.addEventListener("change", () => {
			for (const other of made) if (other !== one && (alone(one) || alone(other))) other.input.checked = false;
		});
	}
	const picked = () => made.filter(({ input }) => input.checked);
	const read = () => {
		const [first, ...more] = picked();
		return several && first && !alone(first) ? [first, ...more].flatMap(({ answer }) => answer ?? []) : first?.answer;
	};
	return {
		nodes: made.map(({ node }) => node),
		inputs: made.map(({ input }) => input),
		empty: () => picked().length === 0,
		read,
		wrong: () => ["missing"],
		hint: several ? ["several"] : null,
	};
}

/**
 * @param {Question} question
 * @param {string} text
 */
function fits(question, text) {
	try {
		indexOf(question, text);
		return true;
	} catch {
		return false;
	}
}

/**
 * A comma is a decimal point; but "1,000" could be a thousand as well as one, and is not guessed.
 * @param {Question} question
 * @param {string} typed
 */
function decimalText(question, typed) {
	const text = typed.trim().replace(",", ".").replace("−", "-");
	const thousands = /^\D?[1-9]\d{0,2}\.\d{3}$/.test(text) && fits(question, text.replace(".", ""));
	const odd = question.grid.digits < 3 && /\.\d{3}$/.test(text);
	return !thousands && !odd && fits(question, text) ? text : undefined;
}

/**
 * @param {Question} question
 * @param {string} id
 * @returns {Control}
 */
function number(question, id) {
	const { grid, steps, unit, optional } = question;
	const bare = { ...question, unit: "" };
	const origin = { ...bare, grid: { ...grid, low: 0n } }; // where one step is as far as it is long
	const step = withUnit(origin, gridValue(origin, 1n), speech);
	const values = {
		low: withUnit(bare, gridValue(bare, 0n), speech),
		high: withUnit(question, gridValue(question, steps), speech),
		step,
	};
	const whole = step === "1" && grid.low % grid.step === 0n;
	const inputmode = grid.low < 0n ? "text" : "decimal";
	const told = { "aria-labelledby": id, "aria-describedby": `${id}.hint ${id}.error` };
	const input = el("input", { type: "text", inputmode, size: 12, spellcheck: "false", ...told });
	const skip = option("checkbox", id, ours("span", "no_answer"));
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
