// The questions, all on one page or one at a time, as the reader likes. Branches are taken here, on the device.

import { indexOf, shown } from "/client/js/answer.js";
import { needed } from "/client/js/definition.js";
import { Flip, Geometric } from "/client/js/mechanism.js";
import { labelsOf } from "/client/js/question.js";
import { among, count, gridValue, oddsSentence, share, symbolLabel, withUnit } from "/client/js/words.js";
import { arrive, button, details, el, notice, ours, tongue } from "./dom.js";
import { epsilon, say, speech } from "./strings.js";

/** @import { Answers } from "/client/js/answer.js" */
/** @import { Field, Survey } from "/client/js/definition.js" */
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
 * @param {(answers: Answers) => Element | undefined} finish takes the answers, and gives a notice if it cannot
 */
export function questionnaire(survey, asked, finish) {
	const { questions, fields } = survey;
	const sent = asked === null ? questions : fields[asked].questions;
	const put = asked === null ? questions : questions.filter(({ id }) => needed(survey, asked).has(id));
	const items = put.map((question) => ask(survey, question, sent.includes(question)));
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
	const form = el(
		"form",
		{ novalidate: true, autocomplete: "off", submit: advance, input: update, change: update },
		problems,
		items.map(({ node }) => node),
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
		for (const item of items) {
			const place = list.indexOf(item);
			item.node.hidden = place < 0 || (single && place !== at);
			item.count.textContent = say("progress", { at: place + 1, total: list.length });
			if (item.error.textContent) item.check();
		}
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
	function advance(event) {
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
			const problem = finish(answers);
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
 * One question, and how its answer is protected if it is sent; no id of a question has a dot.
 * @param {Survey} survey
 * @param {Question} question
 * @param {boolean} sent
 * @returns {Item}
 */
function ask(survey, question, sent) {
	const id = `q-${question.id}`;
	const { nodes, inputs, read, wrong, hint } = question.type === "number" ? number(question, id) : options(question);
	const error = el("p.error", { id: `${id}.error` });
	const count = ours("span.count", "progress", {});
	const described = [!sent && `${id}.filter`, hint && `${id}.hint`, `${id}.error`].filter(Boolean);
	const node = el(
		"fieldset",
		{ tabindex: -1, "aria-describedby": described.join(" ") },
		el("legend", { id }, count, " ", el("span", {}, question.text)),
		!sent && ours("p.hint", "filter", {}, { id: `${id}.filter` }),
		hint && ours("p.hint", hint[0], hint[1], { id: `${id}.hint` }),
		error,
		nodes,
		sent && protection(survey, question),
	);
	const check = () => {
		const bad = read() === undefined;
		error.replaceChildren(bad ? ours("span", ...wrong()) : "");
		for (const input of inputs) input.setAttribute("aria-invalid", String(bad));
		return bad;
	};
	return { question, node, inputs, read, check, count, error };
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
		if (!several || picked.length === 0 || alone(picked[0])) return picked[0]?.answer;
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
	const origin = { ...question, grid: { ...grid, low: 0n } }; // where one step is as far as it is long
	const values = {
		low: withUnit(question, gridValue(question, 0n), speech),
		high: withUnit(question, gridValue(question, steps), speech),
		step: withUnit(question, gridValue(origin, 1n), speech),
	};
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
		read: () => (skip.input.checked ? null : decimalText(question, input.value)),
		wrong: () => (input.value ? ["bad_number", values] : ["missing"]),
		hint: ["number", values],
	};
}

/**
 * The odds of this survey's own integers.
 * @param {Survey} survey
 * @param {Question} question
 */
function protection(survey, question) {
	const field = /** @type {Field} */ (survey.fields.find(({ questions }) => questions.includes(question)));
	const { levels } = question;
	const others = field.questions.filter((other) => other !== question).map(({ text }) => text);
	const own = field.mechanism.epsilon;
	const linked = survey.ask ? [field] : tree(survey, question); // with `ask` the others are not sent
	const all = linked.reduce((sum, { mechanism }) => sum + mechanism.epsilon, 0);
	return details(
		"protection",
		levels > 0 && ours("p", "rounded", { levels }),
		others.length > 0 && ours("p", "joint", { questions: others.join(" + ") }),
		el("p", tongue, oddsSentence(field, speech)),
		figures(field),
		ours("p", "costs", { epsilon: epsilon(own) }),
		all > own && ours("p", "depends", { epsilon: epsilon(all) }),
	);
}

/**
 * Those with the answer and those without it, a hundred people each; noise on a number has no such picture.
 * @param {Field} field
 */
function figures(field) {
	const { mechanism } = field;
	if (mechanism instanceof Geometric) return [];
	const flip = mechanism instanceof Flip;
	const { people, p, q } = share(mechanism.p, mechanism.q);
	/**
	 * @param {string} name
	 * @param {bigint} devices
	 * @param {{ above: bigint, below: bigint }} chance
	 */
	const figure = (name, devices, chance) => {
		const told = say("progress", { at: count(devices, speech), total: count(people, speech) });
		return el("figure", {}, hundred(Number(among(100n, chance))), el("figcaption", {}, `${name}: ${told}`));
	};
	return [
		figure(flip ? symbolLabel(field, 1n, speech) : say("with"), p, mechanism.p),
		figure(flip ? symbolLabel(field, 0n, speech) : say("without"), q, mechanism.q),
	];
}

/**
 * The fields that tell something about a question: its own, and those of all questions that are shown or hidden with
 * it. A condition looks back, so one pass finds the first question of each tree.
 * @param {Survey} survey
 * @param {Question} question
 */
function tree({ questions, fields }, { id }) {
	/** @type {Record<string, string>} */
	const first = {};
	for (const { id, showIf } of questions) first[id] = showIf ? first[showIf.question] : id;
	return fields.filter((field) => field.questions.some((question) => first[question.id] === first[id]));
}

/**
 * A hundred people as dots: the round ends of lines without length.
 * @param {number} count
 */
function hundred(count) {
	const places = Array.from({ length: 100 }, (_, i) => `M${(i % 10) + 0.5} ${Math.floor(i / 10) + 0.5}h0`);
	const off = el("path", { d: places.join("") });
	const on = el("path.on", { d: places.slice(0, count).join("") });
	return el("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, off, on);
}
