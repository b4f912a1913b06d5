// The interviewer's page: outcomes ticked on paper become reports. Their coins have fallen; no noise is added to them.

import { Report, fetch, submit, verify } from "/client/js/index.js";
import { assemble, fromText } from "/client/js/report.js";
import { systemBytes } from "/client/js/sampling.js";

const at = (id) => document.getElementById(id);
const { digest, paper, invited, strings } = JSON.parse(at("sheet").textContent);
const say = (key, values = {}) => strings[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
const whole = (x) => new Intl.NumberFormat(document.documentElement.lang).format(x);

const fragment = new URLSearchParams(location.hash.slice(1));
const pin = fragment.get("sha256");
const url = location.origin + location.pathname.replace(/\/enter\/?$/, "") + (pin ? `#sha256=${pin}` : "");
const [SHEET, COUNT] = [`candor-sheet/1 ${digest}`, `candor-sheets/1 ${digest}`];

// this tab remembers what is ticked on a sheet that was not acknowledged, and how many were; nothing else
const memory = {};
const recall = (name) => {
	try {
		return sessionStorage[name];
	} catch {
		return memory[name];
	}
};
const remember = (name, text) => {
	try {
		if (text === undefined) delete sessionStorage[name];
		else sessionStorage[name] = text;
	} catch {
		memory[name] = text;
	}
};

// a ticked outcome as the bytes of its coin: all zeros fall on 1, all ones on 0, whatever the threshold
const FALLEN = { 1: (count) => new Uint8Array(count), 0: (count) => new Uint8Array(count).fill(255) };

let survey, report, kept, sending, missing;

function begin() {
	at("enter").hidden = false;
	if (at("code")) at("code").value = fragment.get("code") ?? "";
	at("enter").addEventListener("input", draw);
	at("send").addEventListener("click", (event) => event.detail > 1 || send()); // the second of a double click
	at("drop").addEventListener("click", () => next(""));
	const text = recall(SHEET);
	if (text) {
		kept = JSON.parse(text);
		for (const input of inputs()) input.checked = kept.values[place(input)] === input.value;
	}
	draw();
}

const inputs = () => [...document.querySelectorAll("#enter input[type=radio]")];
const place = (input) => +input.name.slice("field".length);
const code = () => at("code")?.value.trim();

// makes the report anew at every change; nothing of it has left yet
function draw() {
	const values = survey.fields.map(() => "skipped");
	for (const input of inputs()) if (values[place(input)] === "skipped") values[place(input)] = undefined;
	for (const input of inputs()) if (input.checked) values[place(input)] = input.value;
	const asked = [...survey.fields.keys()].filter((i) => values[i] !== "unpicked");
	missing = undefined;
	if (values.includes(undefined)) missing = say("enter_incomplete");
	else if (survey.ask && asked.length !== survey.ask) missing = say("enter_incomplete_pick", { asked: whole(survey.ask) });
	else if (invited && !code()) missing = say("enter_incomplete_code");
	report = undefined;
	if (kept) report = Report(digest, fromText(kept.id), fromText(kept.bits));
	else if (!missing) report = make(values, asked);
	show(values);
}

// where nothing is ticked the answer is "no answer", randomized by the client's own code
function make(values, asked) {
	const indices = Object.fromEntries(
		survey.fields.flatMap(({ questions }, i) => questions.map((q) => [q.id, paper.includes(i) ? 0n : q.noAnswer])),
	);
	const noise = (field) => FALLEN[values[survey.fields.indexOf(field)]] ?? systemBytes;
	return { ...assemble(survey, indices, asked, noise, systemBytes), values };
}

function show(values) {
	const words = { 1: say("yes"), 0: say("no"), skipped: say("enter_skipped"), unpicked: say("enter_unpicked") };
	const entry = ({ questions }, i) => {
		const [term, text] = [document.createElement("dt"), document.createElement("dd")];
		term.textContent = questions.map((q) => q.text).join(" + ");
		text.textContent = words[values[i]];
		return [term, text];
	};
	at("todo").textContent = missing ?? "";
	at("preview").replaceChildren(...(report ? survey.fields.flatMap(entry) : []));
	at("bytes").hidden = !report;
	at("bytes").querySelector("code").textContent = report?.toJson() ?? "";
	at("count").textContent = say("enter_count", { count: whole(recall(COUNT) ?? 0) });
	for (const input of inputs()) input.disabled = !!kept;
	at("send").textContent = say(kept ? "enter_again" : "enter_send");
	at("kept").hidden = at("dropping").hidden = !kept || sending;
}

async function send() {
	if (sending) return;
	if (missing) {
		at("status").textContent = missing;
		return (inputs().find((input) => !isTicked(input)) ?? at("code") ?? inputs()[0]).focus();
	}
	sending = true;
	const { id, bits } = JSON.parse(report.toJson());
	kept ??= { id, bits, values: report.values };
	remember(SHEET, JSON.stringify(kept)); // before the first byte leaves
	at("status").textContent = say("enter_sending");
	draw();
	try {
		if (invited && !/^[\x21-\x7e]+$/.test(code())) throw Object.assign(new Error(), { code: "not_invited" });
		await submit(url, report, { invitation: code(), attempts: 1 });
		remember(COUNT, `${+(recall(COUNT) ?? 0) + 1}`);
		sending = false;
		next(say("enter_stored"));
	} catch (error) {
		sending = false;
		at("status").textContent = explain(error);
		draw();
	}
}

const isTicked = ({ name }) => inputs().some((input) => input.name === name && input.checked);

// an empty sheet
function next(words) {
	kept = undefined;
	remember(SHEET);
	for (const input of inputs()) input.checked = false;
	if (at("code")) at("code").value = "";
	at("status").textContent = words;
	draw();
	inputs()[0].focus();
}

function explain({ code, message }) {
	if (code === "wrong_survey" || code === "wrong_definition") return say("error_changed");
	return `error_${code}` in strings ? say(`error_${code}`) : say("error_other", { code: code ?? message });
}

try {
	survey = await fetch(url);
	verify(survey);
	if (survey.digest !== digest) throw Object.assign(new Error(), { code: "wrong_survey" });
	begin();
} catch (error) {
	at("trouble").textContent = explain(error);
	at("trouble").hidden = false;
}
