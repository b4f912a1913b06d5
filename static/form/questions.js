// The questions, all on one page or one at a time, as the reader likes. Branches are taken here, on the device.

import { shown } from "/client/js/answer.js";
import { needed } from "/client/js/definition.js";
import { typeOf } from "/client/js/question.js";
import { formType } from "./controls.js";
import { arrive, button, el, notice, ours, paragraphs, tongue } from "./dom.js";
import { protection, protections } from "./protection.js";
import { say } from "./strings.js";

/** @import { Answers } from "/client/js/answer.js" */
/** @import { Field } from "/client/js/definition.js" */
/** @import { Section } from "/client/js/display.js" */
/** @import { Said } from "./controls.js" */
/** @import { Asked, Localized } from "./language.js" */

/**
 * A question on the page. `check` tells whether something keeps one from going on, and marks it: no answer that fits
 * or, the first time, that an optional question was left out.
 * @typedef {object} Item
 * @property {Asked} question
 * @property {Field} [field] that it is sent with; none if it is only asked to know what comes next
 * @property {HTMLFieldSetElement} node
 * @property {HTMLInputElement[]} inputs
 * @property {() => Said} read
 * @property {() => boolean} mark whether there is no answer that fits
 * @property {() => boolean} check
 * @property {HTMLElement} count
 * @property {HTMLElement} error
 */
/**
 * A section, or what stands before the first.
 * @typedef {{ section?: Section, items: Item[] }} Part
 */

const MOST_ON_ONE_PAGE = 6;
const MOST_COLUMNS = 6; // in the width of the text
const WIDE = "(min-width: 48rem)"; // where a battery is a table, as in the stylesheet

// whether one screen is shown at a time, and which; it stays when the language changes
let single = false;
let at = 0;

/**
 * All questions, or those of the asked field and, as filters, those on which they depend.
 * @param {Localized} survey
 * @param {number | null} asked
 * @param {(answers: Answers) => Promise<Element | undefined>} finish takes the answers, and gives a notice if it cannot
 * @param {Element | null} [earlier] the same questions in another language, as far as they were answered
 */
export function questionnaire(survey, asked, finish, earlier) {
	const put = asked === null ? null : needed(survey.original, asked);
	const sent = asked === null ? survey.fields : [survey.fields[asked]];
	const blocks = sent
		.filter(({ questions }) => questions.length > 1)
		.map((field) => ({ field, node: protection(survey, field) }));
	/** @type {Part[]} */
	const parts = [{ items: [] }];
	for (const question of survey.questions) {
		const section = survey.sections?.find(({ first }) => first === question.id);
		if (section) parts.push({ section, items: [] });
		const field = sent.find(({ questions }) => questions.includes(question));
		if (!put || put.has(question.id)) parts.at(-1)?.items.push(ask(question, field));
	}
	const laid = parts.filter(({ items }) => items.length > 0).map(lay);
	const items = laid.flatMap((part) => part.items);
	let roomy = matchMedia(WIDE).matches;
	if (!earlier) {
		single = screens(items).length > MOST_ON_ONE_PAGE;
		at = 0;
	}
	const problems = el("div");
	const next = ours("button.primary", "next");
	const back = button("button", "back", () => go(at - 1));
	const layout = button("button.link", "single", () => {
		single = !single;
		roomy = matchMedia(WIDE).matches; // not while somebody is on a screen
		go(0);
	});
	const note = ours("p.note", "once");
	// if the filters hide all that was drawn
	const nothing = asked !== null && ours("p.note", "hidden");
	const form = el(
		"form",
		{ novalidate: true, autocomplete: "off", submit: advance, input: update, change: update },
		problems,
		laid.map(({ node }) => node),
		nothing,
		note,
		el("p.actions", {}, next, back, items.length > 1 && layout),
	);
	const before = earlier?.querySelectorAll("input") ?? [];
	form.querySelectorAll("input").forEach((input, i) => {
		input.checked = before[i]?.checked;
		input.value = before[i]?.value ?? input.value;
	});
	update();
	return form;

	/**
	 * A heading and an introduction, and what stands under them; a battery tells once how its answers are protected.
	 * @param {Part} part
	 */
	function lay({ section, items }) {
		const grid = section?.grid && items.length > 1;
		const title = section && el("h2", { tabindex: -1 }, section.title);
		const nodes = items.flatMap(({ question, field, node }) => {
			if (!grid && field?.questions.length === 1) node.append(protection(survey, field));
			const ended = blocks.filter(({ field }) => field.questions.at(-1) === question);
			return [node, ...ended.map((block) => block.node)];
		});
		const apart = items.flatMap(({ field }) => (field?.questions.length === 1 ? field : []));
		const node = el(
			"section",
			{},
			title,
			paragraphs(section?.text),
			grid ? battery(items, nodes) : nodes,
			grid && apart.length > 0 && protections(survey, apart),
		);
		return { items, grid, title, node };
	}

	/**
	 * What stands on one screen: a question, or a whole battery if there is room for it.
	 * @param {Item[]} list
	 */
	function screens(list) {
		/** @type {Item[][]} */
		const all = [];
		for (const item of list) {
			const part = laid.find(({ items }) => items.includes(item));
			const last = all.at(-1) ?? [];
			if (roomy && part?.grid && part.items.includes(last[0])) last.push(item);
			else all.push([item]);
		}
		return all;
	}

	// the questions that the answers so far lead to
	function open() {
		/** @type {Record<string, string[]>} */
		const picked = {};
		return items.filter(({ question: { id, type, original }, read }) => {
			const visible = shown(original, picked);
			const answer = visible ? read() : null;
			const given = answer !== null && answer !== undefined;
			const { indexOf, labelsOf } = typeOf(type);
			picked[id] = given ? labelsOf(original, indexOf(original, answer)) : [];
			return visible;
		});
	}

	function update() {
		const list = open();
		const all = screens(list);
		const counted = list.filter(({ field }) => field);
		const here = single ? (all[at] ?? all[0]) : list;
		for (const item of items) {
			item.node.hidden = !here.includes(item);
			const progress = { at: counted.indexOf(item) + 1, total: counted.length };
			item.count.textContent = item.field ? say("progress", progress) : "";
			if (item.error.textContent) item.mark();
		}
		if (!list.some(({ error }) => error.textContent)) problems.replaceChildren();
		/** @param {Item[]} some */
		const unseen = (some) => some.every(({ node }) => node.hidden);
		for (const part of laid) part.node.hidden = unseen(part.items);
		for (const { field, node } of blocks) node.hidden = unseen(items.filter((item) => item.field === field));
		if (nothing) nothing.hidden = counted.length > 0 || list.some(({ read }) => (read() ?? null) === null);
		const last = !single || at >= all.length - 1;
		note.hidden = !last;
		back.hidden = !single || at === 0;
		next.textContent = say(last ? "randomize" : "next");
		layout.textContent = say(single ? "together" : "single");
		return { list, all, here, last };
	}

	/** @param {number} place */
	function go(place) {
		at = place;
		problems.replaceChildren();
		const { list, here } = update();
		const [first] = here;
		const begun = laid.find((part) => part.items.find((item) => list.includes(item)) === first);
		(begun?.title ?? first.node).focus();
		form.scrollIntoView();
	}

	/** @param {Event} event */
	async function advance(event) {
		event.preventDefault();
		const { list, all, here, last } = update();
		const held = (last ? list : here).filter((item) => item.check());
		if (held.length > 0) {
			const bad = held.some(({ read }) => read() === undefined);
			const lines = held.map((item) => line(item, bad, all));
			const told = notice(bad ? "errors" : "left", {}, el("ul", {}, lines));
			if (!bad) told.className = "summary"; // nothing is wrong
			tell(told);
		} else if (last) {
			// a question may be called "constructor"
			const answers = Object.create(null);
			for (const { question, read } of list) answers[question.id] = read();
			next.disabled = true;
			const problem = await finish(answers);
			next.disabled = false;
			if (problem) tell(problem);
		} else {
			go(at + 1);
		}
	}

	/** @param {Element} problem */
	function tell(problem) {
		problems.replaceChildren(problem);
		arrive(problems);
	}

	/**
	 * @param {Item} item
	 * @param {boolean} why whether to say it
	 * @param {Item[][]} all
	 */
	function line(item, why, all) {
		const jump = () => {
			if (single) go(all.findIndex((screen) => screen.includes(item)));
			item.inputs[0].focus();
		};
		const { question, error } = item;
		const lead = el("button.link", { type: "button", click: jump }, question.text);
		return el("li", {}, lead, why && [" ", error.textContent]);
	}
}

/**
 * Statements on one scale: the rows of a table where there is room for it, else one after the other. Rows are groups
 * with the names of their statements, and every button has the name of its point, so the head is for the eye.
 * @param {Item[]} items
 * @param {Element[]} nodes
 */
function battery(items, nodes) {
	const points = items[0].question.labels.map((label) => el("span", {}, label));
	if (items.some(({ question }) => question.optional)) points.push(ours("span", "no_answer"));
	const kind = points.length > MOST_COLUMNS ? "div.battery many" : "div.battery";
	const table = el(kind, {}, el("p.points", { "aria-hidden": "true" }, points), nodes);
	table.style.setProperty("--points", String(points.length));
	return table;
}

/**
 * One question; no id of a question has a dot.
 * @param {Asked} question
 * @param {Field} [field]
 * @returns {Item}
 */
function ask(question, field) {
	const id = `q-${question.id}`;
	const { optional } = question;
	const { nodes, inputs, empty, read, wrong, hint } = formType(question).control(question, id);
	const error = el("p.error", { id: `${id}.error` });
	const count = el("span.count", tongue);
	const hints = [
		!field && ours("p.filter", "filter", {}, { id: `${id}.filter` }),
		hint && ours("p.hint", hint[0], hint[1], { id: `${id}.hint` }),
		optional && ours("p.hint", "leave", {}, { id: `${id}.leave` }),
	];
	const described = [...hints, error].flatMap((one) => (one ? one.id : []));
	const node = el(
		"fieldset",
		{ tabindex: -1, "aria-describedby": described.join(" ") },
		el("legend", { id }, count, " ", el("span", {}, question.text)),
		hints,
		error,
		nodes,
	);
	let hinted = false;
	const left = () => optional && empty();
	const said = () => (left() ? null : read());
	const mark = () => {
		const bad = said() === undefined;
		const told = bad ? say(...wrong()) : hinted && left() ? say("left").replace("\n", " ") : "";
		error.replaceChildren(told && el("span", tongue, told));
		error.className = told && !bad ? "note" : "error";
		for (const input of inputs) input.setAttribute("aria-invalid", String(bad));
		return bad;
	};
	const check = () => {
		const first = left() && !hinted;
		hinted ||= first;
		return mark() || first;
	};
	return { question, field, node, inputs, read: said, mark, check, count, error };
}
