// The questions, all on one page or one at a time, as the reader prefers. Conditions are evaluated on the device.

import { isVisible } from "/client/js/answer.js";
import { questionIdsFor } from "/client/js/definition.js";
import { typeOf } from "/client/js/question.js";
import { formType } from "./controls.js";
import { button, el, languageProps, moveFocus, notice, paragraphs, setText, textEl } from "./dom.js";
import { protection, protections } from "./protection.js";
import { say } from "./strings.js";

/** @import { Answers } from "/client/js/answer.js" */
/** @import { Field } from "/client/js/definition.js" */
/** @import { Section } from "/client/js/display.js" */
/** @import { Line, Said } from "./controls.js" */
/** @import { Asked, Localized } from "./language.js" */

/**
 * A question on the page. `check` marks the question and returns whether the reader must stop: if the answer does not fit
 * or, the first time only, if an optional question has no answer.
 * @typedef {object} Item
 * @property {Asked} question
 * @property {Field} [field] the field of the question; undefined for a filter, which is not sent
 * @property {HTMLFieldSetElement} node
 * @property {HTMLInputElement[]} inputs
 * @property {() => Said} read
 * @property {() => boolean} mark show an error, and return whether there is no answer that fits
 * @property {() => boolean} check
 * @property {HTMLElement} count
 * @property {HTMLElement} error
 */
/**
 * A section, or the questions before the first section.
 * @typedef {{ section?: Section, items: Item[] }} Part
 */

const MOST_ON_ONE_PAGE = 6;
const MOST_COLUMNS = 6; // that fit into the width of the text
const WIDE = "(min-width: 48rem)"; // the width from which a battery is a table, as in the stylesheet

// whether one screen is shown at a time, and which; this does not change with the language
let single = false;
let at = 0;

/**
 * Return the form with all questions, or with those of one field and, as filters, those on which they depend.
 * @param {Localized} survey
 * @param {number | null} asked
 * @param {(answers: Answers) => Promise<Element | undefined>} finish uses the answers, or returns a notice if it fails
 * @param {Element | null} [earlier] the same questions in another language, with the answers so far
 */
export function questionnaire(survey, asked, finish, earlier) {
	const ids = asked === null ? null : questionIdsFor(survey.original, asked);
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
		if (!ids || ids.has(question.id)) parts.at(-1)?.items.push(ask(question, field));
	}
	const laid = parts.filter(({ items }) => items.length > 0).map(lay);
	const items = laid.flatMap((part) => part.items);
	let roomy = matchMedia(WIDE).matches;
	if (!earlier) {
		single = screens(items).length > MOST_ON_ONE_PAGE;
		at = 0;
	}
	const problems = el("div");
	const next = textEl("button.primary", "next");
	const back = button("button", "back", () => go(at - 1));
	const layout = button("button.link", "single", () => {
		single = !single;
		roomy = matchMedia(WIDE).matches; // it does not change while a screen is shown
		go(0);
	});
	const note = textEl("p.note", "once");
	// if the filters hide all questions of the field
	const nothing = asked !== null && textEl("p.note", "hidden");
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
	 * Return a section with its heading, text and questions; a battery has one explanation for all its answers.
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
	 * Return the screens: one for each question, or for each battery if the window is wide enough.
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

	// return the questions that are visible after the answers so far
	function open() {
		/** @type {Record<string, string[]>} */
		const picked = {};
		return items.filter(({ question: { id, type, original }, read }) => {
			const visible = isVisible(original, picked);
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
		setText(next, last ? "randomize" : "next");
		setText(layout, single ? "together" : "single");
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
		const stops = (last ? list : here).filter((item) => item.check());
		if (stops.length > 0) {
			const bad = stops.some(({ read }) => read() === undefined);
			const lines = stops.map((item) => line(item, bad, all));
			const message = notice(bad ? "errors" : "left", {}, el("ul", {}, lines));
			if (!bad) message.className = "summary"; // nothing is wrong
			tell(message);
		} else if (last) {
			// the id of a question may be "constructor"
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
		moveFocus(problems);
	}

	/**
	 * @param {Item} item
	 * @param {boolean} why whether to add the error
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
 * Return statements on one scale: rows of a table if the window is wide enough, otherwise one below the other. Each row is
 * a group named by its statement, and each button is named by its point, so the head is hidden from screen readers.
 * @param {Item[]} items
 * @param {Element[]} nodes
 */
function battery(items, nodes) {
	const points = items[0].question.labels.map((label) => el("span", {}, label));
	if (items.some(({ question }) => question.optional)) points.push(textEl("span", "no_answer"));
	const kind = points.length > MOST_COLUMNS ? "div.battery many" : "div.battery";
	const table = el(kind, {}, el("p.points", { "aria-hidden": "true" }, points), nodes);
	table.style.setProperty("--points", String(points.length));
	return table;
}

/**
 * Return one question. The ids of its parts have a dot, which no question's id has.
 * @param {Asked} question
 * @param {Field} [field]
 * @returns {Item}
 */
function ask(question, field) {
	const id = `q-${question.id}`;
	const { optional } = question;
	const { nodes, inputs, empty, read, wrong, hint } = formType(question).control(question, id);
	const error = el("p.error", { id: `${id}.error` });
	const count = el("span.count", languageProps);
	const hints = [
		!field && textEl("p.filter", "filter", {}, { id: `${id}.filter` }),
		hint && textEl("p.hint", hint[0], hint[1], { id: `${id}.hint` }),
		optional && textEl("p.hint", "leave", {}, { id: `${id}.leave` }),
	];
	const described = [...hints, error].flatMap((hint) => (hint ? hint.id : []));
	const node = el(
		"fieldset",
		{ tabindex: -1, "aria-describedby": described.join(" ") },
		el("legend", { id }, count, " ", el("span", {}, question.text)),
		hints,
		error,
		nodes,
	);
	let hinted = false;
	const isSkipped = () => optional && empty();
	const readShown = () => (isSkipped() ? null : read());
	const mark = () => {
		const bad = readShown() === undefined;
		/** @type {Line | null} */
		const line = bad ? wrong() : hinted && isSkipped() ? ["left"] : null;
		error.replaceChildren(line ? textEl("span", ...line) : "");
		error.className = line && !bad ? "note" : "error";
		for (const input of inputs) input.setAttribute("aria-invalid", String(bad));
		return bad;
	};
	const check = () => {
		const first = isSkipped() && !hinted;
		hinted ||= first;
		return mark() || first;
	};
	return { question, field, node, inputs, read: readShown, mark, check, count, error };
}
