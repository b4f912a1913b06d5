// The labels of a question as radio buttons or check boxes.

import { drawBelow, systemBytes } from "/client/js/sampling.js";
import { el, textEl } from "./dom.js";

/** @import { Question } from "/client/js/question.js" */
/** @import { Control, Said } from "./controls.js" */
/** @import { Asked } from "./language.js" */
/** @typedef {{ answer: string | string[] | null, input: HTMLInputElement, node: Element }} Option */

/**
 * @param {"checkbox" | "radio"} type
 * @param {string} name
 * @param {Option["answer"]} answer
 * @param {Element} text
 * @returns {Option}
 */
export function option(type, name, answer, text) {
	const input = el("input", { type, name });
	return { answer, input, node: el("label.option", {}, input, text) };
}

/**
 * @param {"checkbox" | "radio"} type
 * @param {string} name
 */
export const noAnswer = (type, name) => option(type, name, null, textEl("span", "no_answer"));

/**
 * The order of the options of each question, as long as this page is open.
 * @type {Map<string, number[]>}
 */
const orders = new Map();

/**
 * Return the order of the options, shuffled if the author wants it. It draws its own bytes and does not affect a report.
 * @param {Question} question
 */
function orderOf({ id, labels, shuffle }) {
	const order = orders.get(id) ?? [...labels.keys()];
	if (orders.has(id)) return order;
	for (let i = order.length - 1; shuffle && i > 0; i--) {
		const j = Number(drawBelow(i + 1, systemBytes));
		[order[i], order[j]] = [order[j], order[i]];
	}
	orders.set(id, order);
	return order;
}

/**
 * Return the author's labels as options; each answers with the label of the original.
 * @param {"checkbox" | "radio"} type
 * @param {Asked} question
 */
export const labelOptions = (type, question) =>
	orderOf(question).map((i) =>
		option(type, question.id, question.original.labels[i], el("span", {}, question.labels[i])),
	);

/** @param {Option[]} options */
export const listTicked = (options) => options.filter(({ input }) => input.checked);

/**
 * @param {Option[]} options
 * @param {() => Said} read
 * @returns {Control}
 */
export const tickable = (options, read) => ({
	nodes: options.map(({ node }) => node),
	inputs: options.map(({ input }) => input),
	empty: () => listTicked(options).length === 0,
	read,
	wrong: () => ["missing"],
	hint: null,
});

/**
 * Return the control for one of some options, or for no answer if the question is optional.
 * @param {Asked} question
 * @param {Option[]} options
 */
export function oneOf({ id, optional }, options) {
	const all = optional ? [...options, noAnswer("radio", id)] : options;
	return tickable(all, () => listTicked(all)[0]?.answer);
}
