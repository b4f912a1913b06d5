// The questions, all on one page or one at a time, as the reader likes. Branches are taken here, on the device.

import { indexOf, shown } from "/client/js/answer.js";
import { needed } from "/client/js/definition.js";
import { labelsOf } from "/client/js/question.js";
import { gridValue, withUnit } from "/client/js/words.js";
import { arrive, button, el, notice, ours, tongue } from "./dom.js";
import { protection } from "./protection.js";
import { say, speech } from "./strings.js";

/** @import { Answers } from "/client/js/answer.js" */
/** @import { Survey } from "/client/js/definition.js" */
/** @import { Question } from "/client/js/question.js" */
/** @import { Values } from "/client/js/words.js" */
/** @import { Leaf } from "./dom.js" */
/** @typedef {string | string[] | null | undefined} Said undefined while there is no answer that fits */
/** @typedef {[key: string, values?: Values]} Line one of our strings */

/**
 * The inputs of a question, and how to read them.
 * @typedef {object} Control
 * @property {Leaf[]} nodes
 * @property {HTMLInputElement[]} inputs
 * @property {() => Said} read
 * @property {() => Line} wrong what to say when nothing that fits was read
 * @property {Line | null} hint
 */
/**
 * A question on the page; `check` marks it if there is no answer that fits, and tells whether it did.
 * @typedef {object} Item
 * @property {Question} question
 * @property {boolean} sent and not only asked to know what comes next
 * @property {HTMLFieldSetElement} node
 * @property {HTMLInputElement[]} inputs
 * @property {() => Said} read
 * @property {() => boolean} check
 * @property {HTMLElement} count
 * @property {HTMLElement} error
 */

const MOST_ON_ONE_PAGE = 6;

/**
 * All questions, or those of the asked field and, as filters, those on which they depend.
 * @param {Survey} survey
 * @param {number | null} asked
 * @param {(answers: Answers) => Promise<Element | undefined>} finish takes the answers, and gives a notice if it cannot
 */
export function questionnaire(survey, asked, finish) {
	const { questions, fields } = survey;
	const sent = asked === null ? fields : [fields[asked]];
	const put = asked === null ? questions : questions.filter(({ id }) => needed(survey, asked).has(id));
	const parts = sent.map((field) => ({ field, node: protection(survey, field) }));
	const blocks = parts.filter(({ field }) => field.questions.length > 1);
	const items = put.map((question) => {
		const part = parts.find(({ field }) => field.questions.includes(question));
		return ask(question, Boolean(part), part && !blocks.includes(part) && part.node);
	});
	let single = items.length > MOST_ON_ONE_PAGE;
	let at = 0;
	const problems = el("div");
	const next = ours("button.primary", "next");
	const back = button("button", "back", () => go(at - 1));
	const layout = button("button.link", "single", () => {
		single = !single;
		go(0);
	});
	const note = ours("p.note", "once");
	// if the filters hide all that was drawn
	const nothing = asked !== null && ours("p.note", "hidden");
	const form = el(
		"form",
		{ novalidate: true, autocomplete: "off", submit: advance, input: update, change: update },
		problems,
		items.flatMap(({ question, node }) => {
			const ended = blocks.filter(({ field }) => field.questions.at(-1) === question);
			return [node, ...ended.map((block) => block.node)];
		}),
		nothing,
		note,
		el("p.actions", {}, next, back, items.length > 1 && layout),
	);
	update();
	return form;

	// the questions that the answers so far lead to
	function open() {
		/** @type {Record<string, string[]>} */
		const picked = {};
		return items.filter(({ question, read }) => {
			const visible = shown(question, picked);
			const answer = visible ? read() : null;
			const given = answer !== null && answer !== undefined;
			picked[question.id] = given ? labelsOf(question, indexOf(question, answer)) : [];
			return visible;
		});
	}

	function update() {
		const list = open();
		const counted = list.filter(({ sent }) => sent);
		for (const item of items) {
			const place = list.indexOf(item);
			item.node.hidden = place < 0 || (single && place !== at);
			const progress = { at: counted.indexOf(item) + 1, total: counted.length };
			item.count.textContent = item.sent ? say("progress", progress) : "";
			if (item.error.textContent) item.check();
		}
		if (!list.some(({ error }) => error.textContent)) problems.replaceChildren();
		for (const { field, node } of blocks) {
			node.hidden = !items.some((item) => field.questions.includes(item.question) && !item.node.hidden);
		}
		if (nothing) nothing.hidden = counted.length > 0 || list.some(({ read }) => (read() ?? null) === null);
		const last = !single || at >= list.length - 1;
		note.hidden = !last;
		back.hidden = !single || at === 0;
		next.textContent = say(last ? "randomize" : "next");
		layout.textContent = say(single ? "together" : "single");
		return { list, last };
	}

	/** @param {number} place */
	function go(place) {
		at = place;
		problems.replaceChildren();
		const { list } = update();
		list[single ? at : 0].node.focus();
		form.scrollIntoView();
	}

	/** @param {Event} event */
	async function advance(event) {
		event.preventDefault();
		const { list, last } = update();
		const wrong = (last ? list : [list[at]]).filter((item) => item.check());
		if (wrong.length > 0) {
			const lines = wrong.map((item) => line(item, list.indexOf(item)));
			tell(notice("errors", {}, el("ul", {}, lines)));
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
	 * @param {number} place
	 */
	function line({ question, error, inputs }, place) {
		const jump = () => {
			if (single) go(place);
			inputs[0].focus();
		};
		return el("li", {}, el("button.link", { type: "button", click: jump }, question.text), " ", error.textContent);
	}
}

/**
 * One question; no id of a question has a dot.
 * @param {Question} question
 * @param {boolean} sent
 * @param {Leaf} shield if it is a field of its own
 * @returns {Item}
 */
function ask(question, sent, shield) {
	const id = `q-${question.id}`;
	const { nodes, inputs, read, wrong, hint } = question.type === "number" ? number(question, id) : options(question);
	const error = el("p.error", { id: `${id}.error` });
	const count = el("span.count", tongue);
	const hints = [
		!sent && ours("p.filter", "filter", {}, { id: `${id}.filter` }),
		hint && ours("p.hint", hint[0], hint[1], { id: `${id}.hint` }),
		question.optional && ours("p.hint", "leave", {}, { id: `${id}.leave` }),
	];
	const described = [...hints, error].flatMap((one) => (one ? one.id : []));
	const node = el(
		"fieldset",
		{ tabindex: -1, "aria-describedby": described.join(" ") },
		el("legend", { id }, count, " ", el("span", {}, question.text)),
		hints,
		error,
		nodes,
		shield,
	);
	const check = () => {
		const bad = read() === undefined;
		error.replaceChildren(bad ? ours("span", ...wrong()) : "");
		for (const input of inputs) input.setAttribute("aria-invalid", String(bad));
		return bad;
	};
	return { question, sent, node, inputs, read, check, count, error };
}

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
 * @param {Question} question
 * @returns {Control}
 */
function options({ id, type, labels, optional }) {
	const several = type === "multiple";
	/**
	 * @param {string | string[] | null} answer
	 * @param {Element} text
	 */
	const make = (answer, text) => ({ answer, ...option(several ? "checkbox" : "radio", id, text) });
	const made = labels.map((label) => make(label, type === "yes_no" ? ours("span", label) : el("span", {}, label)));
	if (type === "yes_no") made.reverse();
	if (several) made.push(make([], ours("span", "none")));
	if (optional) made.push(make(null, ours("span", "no_answer")));
	/** @param {{ answer: string | string[] | null }} one */
	const alone = ({ answer }) => several && typeof answer !== "string";
	for (const one of made) {
		one.input.addEventListener("change", () => {
			for (const other of made) if (other !== one && (alone(one) || alone(other))) other.input.checked = false;
		});
	}
	const read = () => {
		const picked = made.filter(({ input }) => input.checked);
		if (picked.length === 0) return optional ? null : undefined;
		if (!several || alone(picked[0])) return picked[0].answer;
		return picked.flatMap(({ answer }) => answer ?? []);
	};
	return {
		nodes: made.map(({ node }) => node),
		inputs: made.map(({ input }) => input),
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
		read: () => (optional && input.value.trim() === "" ? null : decimalText(question, input.value)),
		wrong: () => [input.value ? "bad_number" : "missing"],
		hint: [whole ? "whole" : "number", values],
	};
}
