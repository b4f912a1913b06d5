// What the device does to an answer, in this survey's own numbers.

import { oddsSentence } from "/client/js/description.js";
import { formType } from "./controls.js";
import { details, el, ours, tongue } from "./dom.js";
import { epsilon, say, speech } from "./strings.js";

/** @import { Field, Survey } from "/client/js/definition.js" */
/** @import { Question } from "/client/js/question.js" */
/** @import { Leaf } from "./dom.js" */

/**
 * How the numbers of a field are rounded, and what chance does then.
 * @param {Field} field
 */
export function explain(field) {
	const roundings = field.questions.map((question) => formType(question).rounding(question));
	return [...roundings, oddsSentence(field, speech)].filter(Boolean).join(" ");
}

/**
 * For the first screen; nothing if all these fields have no common words.
 * @param {Field[]} fields
 */
export function dice(fields) {
	const odds = fields.length === 1 ? explain(fields[0]) : atMost(fields);
	return odds && `${say("rolls")} ${odds}`;
}

/**
 * The field that sends the truth most often, if all of them draw blindly otherwise.
 * @param {Field[]} fields
 */
function atMost(fields) {
	const each = fields.map(({ mechanism }) => mechanism.blindDraw());
	const [most] = each.sort((a, b) => (a && b ? Number(b.p * a.people - a.p * b.people) : 0));
	return most && each.every(Boolean) && say("rolls_each", most);
}

/**
 * @param {Survey} survey
 * @param {Field} field
 */
export function protection(survey, field) {
	return details(field.questions.length > 1 ? "protection_block" : "protection", told(survey, field, "costs"));
}

/**
 * Several answers, each protected by itself: what holds for more than one is said once.
 * @param {Survey} survey
 * @param {Field[]} fields
 */
export function protections(survey, fields) {
	/** @type {Map<string, { texts: string[], lines: Leaf[] }>} */
	const kinds = new Map();
	for (const field of fields) {
		const lines = told(survey, field, "costs_each");
		const key = el("p", {}, lines).textContent;
		const kind = kinds.get(key) ?? { texts: [], lines };
		kind.texts.push(field.questions[0].text);
		kinds.set(key, kind);
	}
	const all = [...kinds.values()];
	const named = all.map(({ texts, lines }) => el("div", {}, kinds.size > 1 && el("b", {}, texts.join(" + ")), lines));
	return details("protection_block", named);
}

/**
 * @param {Survey} survey
 * @param {Field} field
 * @param {"costs" | "costs_each"} costs
 * @returns {Leaf[]}
 */
function told(survey, field, costs) {
	const { questions, mechanism } = field;
	const block = questions.length > 1;
	const own = mechanism.epsilon;
	const linked = survey.ask ? [field] : tree(survey, questions); // with `ask` the others are not sent
	const all = linked.reduce((sum, { mechanism }) => sum + mechanism.epsilon, 0);
	return [
		block && ours("p", "joint", { questions: questions.map(({ text }) => text).join(" + ") }),
		el("p", tongue, explain(field)),
		ours("p", costs, { epsilon: epsilon(own) }),
		all > own && ours("p", "depends", { epsilon: epsilon(all) }),
	];
}

/**
 * The fields that tell something about some questions: their own, and those of all questions that are shown or hidden
 * with them. A condition looks back, so one pass finds the first question of each tree.
 * @param {Survey} survey
 * @param {Question[]} asked
 */
function tree({ questions, fields }, asked) {
	/** @type {Record<string, string>} */
	const first = {};
	for (const { id, showIf } of questions) first[id] = showIf ? first[showIf.question] : id;
	const trees = asked.map(({ id }) => first[id]);
	return fields.filter((field) => field.questions.some(({ id }) => trees.includes(first[id])));
}
