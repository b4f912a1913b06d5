// The questions, all on one page or one at a time, as the reader likes. Branches are taken here, on the device.

import { indexOf, labelsOf, shown } from "/client/js/answer.js";
import { arrive, button, details, el, notice, ours } from "./dom.js";
import { epsilon, gridValue, oddsOf, say } from "./words.js";

const MOST_ON_ONE_PAGE = 6;

// `finish` takes the answers, and gives a notice if it cannot
export function questionnaire(survey, asked, finish) {
	const wanted = asked.flatMap((place) => survey.fields[place].questions);
	const items = survey.questions.filter((q) => wanted.includes(q)).map((q) => ask(survey, q));
	let [single, at] = [items.length > MOST_ON_ONE_PAGE, 0];
	const problems = el("div");
	const next = ours("button.primary", "next");
	const back = button("button", "back", () => go(at - 1));
	const layout = button("button.link", "single", () => go(0, (single = !single)));
	const note = ours("p.note", "once");
	const form = el(
		"form",
		{ novalidate: true, autocomplete: "off", submit: advance, input: update, change: update },
		problems,
		items.map(({ node }) => node),
		note,
		el("p.actions", {}, next, back, items[1] && layout),
	);
	update();
	return form;

	// the questions that the answers so far lead to
	function open() {
		const picked = {};
		return items.filter(({ q, read }) => {
			const visible = shown(q, picked);
			const answer = visible ? read() : null;
			picked[q.id] = answer == null ? [] : labelsOf(q, indexOf(q, answer));
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
		back.hidden = !single || !at;
		next.textContent = say(last ? "randomize" : "next");
		layout.textContent = say(single ? "together" : "single");
		return [list, last];
	}

	function go(place) {
		at = place;
		problems.replaceChildren();
		const [list] = update();
		list[single ? at : 0].node.focus();
		form.scrollIntoView();
	}

	function advance(event) {
		event.preventDefault();
		const [list, last] = update();
		const wrong = (last ? list : [list[at]]).filter((item) => item.check());
		if (wrong[0]) return tell(notice("errors", {}, el("ul", {}, wrong.map((item) => line(item, list.indexOf(item))))));
		if (!last) return go(at + 1);
		// a question may be called "constructor"
		const answers = Object.create(null);
		for (const { q, read } of list) answers[q.id] = read();
		const problem = finish(answers);
		if (problem) tell(problem);
	}

	function tell(problem) {
		problems.replaceChildren(problem);
		arrive(problems);
	}

	function line({ q, error, inputs }, place) {
		const jump = () => {
			if (single) go(place);
			inputs[0].focus();
		};
		return el("li", {}, el("button.link", { type: "button", click: jump }, q.text), " ", error.textContent);
	}
}

// `read` gives the answer: undefined while there is none that fits. No id of a question has a dot.
function ask(survey, q) {
	const id = `q-${q.id}`;
	const { nodes, inputs, read, wrong, hint } = q.type === "number" ? number(q, id) : options(q);
	const error = el("p.error", { id: `${id}.error` });
	const count = ours("span.count", "progress", {});
	const node = el(
		"fieldset",
		{ tabindex: -1, "aria-describedby": `${hint ? `${id}.hint ` : ""}${id}.error` },
		el("legend", { id }, count, " ", el("span", {}, q.text)),
		hint && ours("p.hint", ...hint, { id: `${id}.hint` }),
		error,
		nodes,
		protection(survey, q),
	);
	const check = () => {
		const bad = read() === undefined;
		error.replaceChildren(bad ? ours("span", ...wrong()) : "");
		for (const input of inputs) input.setAttribute("aria-invalid", bad);
		return bad;
	};
	return { q, node, inputs, read, check, count, error };
}

function option(type, name, text) {
	const input = el("input", { type, name });
	return { input, node: el("label.option", {}, input, text) };
}

function options({ id, type, labels, optional }) {
	const several = type === "multiple";
	const make = (answer, text) => ({ answer, ...option(several ? "checkbox" : "radio", id, text) });
	const made = labels.map((label) => make(label, type === "yes_no" ? ours("span", label) : el("span", {}, label)));
	if (type === "yes_no") made.reverse();
	if (several) made.push(make([], ours("span", "none")));
	if (optional) made.push(make(null, ours("span", "no_answer")));
	const alone = ({ answer }) => several && typeof answer !== "string";
	for (const one of made)
		one.input.addEventListener("change", () => {
			for (const other of made) if (other !== one && (alone(one) || alone(other))) other.input.checked = false;
		});
	const read = () => {
		const picked = made.filter(({ input }) => input.checked);
		return several && picked[0] && !alone(picked[0]) ? picked.map(({ answer }) => answer) : picked[0]?.answer;
	};
	const inputs = made.map(({ input }) => input);
	return { nodes: made.map(({ node }) => node), inputs, read, wrong: () => ["missing"], hint: several && ["several", {}] };
}

const fits = (q, text) => {
	try {
		return indexOf(q, text) >= 0;
	} catch {}
};

// A comma is a decimal point; but "1,000" could be a thousand as well as one, and is not guessed.
function decimalText(q, said) {
	const text = said.trim().replace(",", ".").replace("−", "-");
	const thousands = /^\D?[1-9]\d{0,2}\.\d{3}$/.test(text) && fits(q, text.replace(".", ""));
	const odd = q.grid.digits < 3 && /\.\d{3}$/.test(text);
	return !thousands && !odd && fits(q, text) ? text : undefined;
}

function number(q, id) {
	const { grid, steps, unit, optional } = q;
	const values = { low: gridValue(q, 0), high: gridValue(q, steps), step: gridValue(q, 1, 0n) };
	const inputmode = grid.low < 0 ? "text" : "decimal";
	const told = { "aria-labelledby": id, "aria-describedby": `${id}.hint ${id}.error` };
	const input = el("input", { type: "text", inputmode, size: 12, spellcheck: "false", ...told });
	const skip = option("checkbox", id, ours("span", "no_answer"));
	input.addEventListener("input", () => (skip.input.checked = false));
	skip.input.addEventListener("change", () => (input.value = ""));
	const read = () => (skip.input.checked ? null : decimalText(q, input.value));
	const nodes = [el("p", {}, input, " ", unit), optional && skip.node];
	const wrong = () => (input.value ? ["bad_number", values] : ["missing"]);
	return { nodes, inputs: [input], read, wrong, hint: ["number", values] };
}

// the odds of this survey's own integers
function protection(survey, q) {
	const field = survey.fields.find(({ questions }) => questions.includes(q));
	const { key, values, dots = [] } = oddsOf(field);
	const others = field.questions.filter((other) => other !== q).map(({ text }) => text);
	const own = field.mechanism.epsilon;
	const all = tree(survey, q).reduce((sum, { mechanism }) => sum + mechanism.epsilon, 0);
	const share = (at) => say("progress", { at, total: values.people });
	const captions = [`${values.yes}: ${share(values.p)}`, `${values.no}: ${share(values.q)}`];
	const figure = (count, i) => el("figure", {}, hundred(count), el("figcaption", {}, captions[i]));
	return details(
		"protection",
		q.levels && ours("p", "rounded", q),
		others[0] && ours("p", "joint", { questions: others.join(" + ") }),
		ours("p", key, values),
		dots.map(figure),
		ours("p", "costs", { epsilon: epsilon(own) }),
		all > own && ours("p", "depends", { epsilon: epsilon(all) }),
	);
}

// The fields that tell something about a question: its own, and those of all questions that are shown or hidden with
// it. A condition looks back, so one pass finds the first question of each tree.
function tree({ questions, fields }, { id }) {
	const first = {};
	for (const q of questions) first[q.id] = q.show_if ? first[q.show_if.question] : q.id;
	return fields.filter((field) => field.questions.some((q) => first[q.id] === first[id]));
}

// a hundred people as dots: the round ends of lines without length
function hundred(count) {
	const places = Array.from({ length: 100 }, (_, i) => `M${(i % 10) + 0.5} ${Math.floor(i / 10) + 0.5}h0`);
	const off = el("path", { d: places.join("") });
	const on = el("path.on", { d: places.slice(0, count).join("") });
	return el("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, off, on);
}
