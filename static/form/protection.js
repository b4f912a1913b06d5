// Explanations of how the device randomizes an answer, with the numbers of this survey.

import { oddsSentence } from "/client/js/description.js";
import { formType } from "./controls.js";
import { details, el, languageProps, textEl } from "./dom.js";
import { epsilon, say, speech } from "./strings.js";

/** @import { Field, Survey } from "/client/js/definition.js" */
/** @import { Question } from "/client/js/question.js" */
/** @import { Leaf } from "./dom.js" */

/**
 * Return an explanation of a field: how its numbers are rounded, and how it is randomized.
 * @param {Field} field
 */
export function explain(field) {
	const roundings = field.questions.map((question) => formType(question).describeRounding(question));
	return [...roundings, oddsSentence(field, speech)].filter(Boolean).join(" ");
}

/**
 * Return the explanation for the first screen; a false value if there is no common one for these fields.
 * @param {Field[]} fields
 */
export function dice(fields) {
	const odds = fields.length === 1 ? explain(fields[0]) : atMost(fields);
	return odds && `${say("rolls")} ${odds}`;
}

/**
 * Return the sentence of the field that sends the truth most often, if all fields have a blind draw.
 * @param {Field[]} fields
 */
function atMost(fields) {
	const draws = fields.map(({ mechanism }) => mechanism.blindDraw());
	const [most] = draws.sort((a, b) => (a && b ? Number(b.p * a.people - a.p * b.people) : 0));
	return most && draws.every(Boolean) && say("rolls_each", most);
}

/**
 * @param {Survey} survey
 * @param {Field} field
 */
export function protection(survey, field) {
	return details(field.questions.length > 1 ? "protection_block" : "protection", explanation(survey, field, "costs"));
}

/**
 * Return the explanations of several fields; fields with the same explanation share one.
 * @param {Survey} survey
 * @param {Field[]} fields
 */
export function protections(survey, fields) {
	/** @type {Map<string, { texts: string[], lines: Leaf[] }>} */
	const kinds = new Map();
	for (const field of fields) {
		const lines = explanation(survey, field, "costs_each");
		const key = el("p", {}, lines).textContent;
		const kind = kinds.get(key) ?? { texts: [], lines };
		kind.texts.push(field.questions[0].text);
		kinds.set(key, kind);
	}
	const all = [...kinds.values()];
	const blocks = all.map(({ texts, lines }) => el("div", {}, kinds.size > 1 && el("b", {}, texts.join(" + ")), lines));
	return details("protection_block", blocks);
}

/**
 * @param {Survey} survey
 * @param {Field} field
 * @param {"costs" | "costs_each"} costs
 * @returns {Leaf[]}
 */
function explanation(survey, field, costs) {
	const { questions, mechanism } = field;
	const block = questions.length > 1;
	const own = mechanism.epsilon;
	const linked = survey.ask ? [field] : tree(survey, questions); // with `ask` the others are not sent
	const all = linked.reduce((sum, { mechanism }) => sum + mechanism.epsilon, 0);
	return [
		block && textEl("p", "joint", { questions: questions.map(({ text }) => text).join(" + ") }),
		el("p", languageProps, explain(field)),
		textEl("p", costs, { epsilon: epsilon(own) }),
		all > own && textEl("p", "depends", { epsilon: epsilon(all) }),
	];
}

/**
 * Return the fields that reveal something about some questions: their own, and those of all questions that are shown or
 * hidden with them. Conditions refer to earlier questions, so one pass finds the first question of each tree.
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
