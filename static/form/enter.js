// The interviewer's page: outcomes ticked on paper become reports. They are random already, so no noise is added.

import { symbolOf } from "/client/js/answer.js";
import { CandorError } from "/client/js/errors.js";
import { typeOf } from "/client/js/question.js";
import { fromBase64url, ID_BYTES, pack, Report, toBase64url } from "/client/js/report.js";
import { fetch, submit } from "/client/js/respond.js";
import { systemBytes } from "/client/js/sampling.js";
import { verify } from "/client/js/verify.js";

/** @import { Survey } from "/client/js/definition.js" */
/** @typedef {string | undefined} Outcome of a field: "1", "0", "unpicked", "skipped", or nothing ticked yet */
/** @typedef {{ id: string, bits: string, values: Outcome[] }} Kept a report that is not acknowledged yet */

/** @param {string} id */
const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @type {{ digest: string, paper: number[], strings: Record<string, string> }} */
const { digest, paper, strings } = JSON.parse(at("sheet").textContent);

/**
 * @param {string} key
 * @param {Record<string, string>} [values]
 */
const say = (key, values = {}) => strings[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
/**
 * Show one of our strings, and its key in `data-text`.
 * @param {string} id
 * @param {string} [key] nothing to show none
 * @param {Record<string, string>} [values]
 */
function tell(id, key = "", values) {
	const node = at(id);
	node.dataset.text = key;
	node.textContent = key && say(key, values);
}
/** @param {number} number */
const formatCount = (number) => new Intl.NumberFormat(document.documentElement.lang).format(number);

const pin = new URLSearchParams(location.hash.slice(1)).get("sha256");
const url = location.origin + location.pathname.replace(/\/enter\/?$/, "") + (pin ? `#sha256=${pin}` : "");
const SHEET = `candor-sheet/1 ${digest}`;
const COUNT = `candor-sheets/1 ${digest}`;

// this tab stores only the ticks of a sheet that is not acknowledged yet, and the number of acknowledged sheets
/** @type {Record<string, string | undefined>} */
const memory = {};
/**
 * @param {string} name
 * @returns {string | undefined}
 */
const recall = (name) => {
	try {
		return sessionStorage[name];
	} catch {
		return memory[name];
	}
};
/**
 * @param {string} name
 * @param {string} [text] nothing to forget it
 */
const remember = (name, text) => {
	try {
		if (text === undefined) delete sessionStorage[name];
		else sessionStorage[name] = text;
	} catch {
		memory[name] = text;
	}
};
const readCount = () => Number(recall(COUNT) ?? 0);

/** @type {Survey} */
let survey;
/**
 * The report to be sent.
 * @type {Report | undefined}
 */
let report;
/** @type {Outcome[]} */
let values = [];
/** @type {Kept | undefined} */
let kept;
let sending = false;
/**
 * The key of the sentence on the missing ticks; undefined if the sheet is complete.
 * @type {string | undefined}
 */
let missing;

function begin() {
	at("enter").hidden = false;
	at("enter").addEventListener("input", draw);
	at("send").addEventListener("click", (event) => {
		if (event.detail <= 1) send(); // not the second click of a double click
	});
	at("drop").addEventListener("click", () => next());
	const text = recall(SHEET);
	if (text) {
		/** @type {Kept} */
		const sheet = JSON.parse(text);
		for (const input of inputs()) input.checked = sheet.values[place(input)] === input.value;
		kept = sheet;
	}
	draw();
}

/** @returns {HTMLInputElement[]} */
const inputs = () =>
	[...document.querySelectorAll("#enter input[type=radio]")].filter((node) => node instanceof HTMLInputElement);
/** @param {HTMLInputElement} input */
const place = (input) => Number(input.name.slice("field".length));

// make a new report at every change, and show it
function draw() {
	values = survey.fields.map(() => "skipped");
	for (const input of inputs()) values[place(input)] = undefined;
	for (const input of inputs()) if (input.checked) values[place(input)] = input.value;
	const asked = [...survey.fields.keys()].filter((i) => values[i] !== "unpicked");
	missing = lack(asked);
	report = undefined;
	if (kept) report = new Report(digest, fromBase64url(kept.id), fromBase64url(kept.bits));
	else if (!missing) report = make(asked);
	show();
}

/** @param {number[]} asked */
function lack(asked) {
	if (values.includes(undefined)) return "enter_incomplete";
	if (survey.ask && asked.length !== 1) return "enter_incomplete_pick";
	return undefined;
}

/**
 * Return the report of the sheet. A tick is the bit itself, because it was randomized on paper. A question that is not on
 * the sheet gets "no answer", randomized by the client's own code.
 * @param {number[]} asked
 */
function make(asked) {
	const parts = survey.fields.map((field, i) => {
		if (survey.ask && asked[0] !== i) return null;
		if (paper.includes(i)) return [Number(values[i])];
		const codes = field.questions.map((question) => typeOf(question.type).unanswered(question));
		return field.mechanism.randomize(symbolOf(field, codes, systemBytes), systemBytes);
	});
	return new Report(digest, systemBytes(ID_BYTES), pack(survey, parts));
}

function show() {
	/** @type {Record<string, string>} */
	const words = { 1: say("yes"), 0: say("no"), skipped: say("enter_skipped"), unpicked: say("enter_unpicked") };
	const lines = survey.fields.flatMap(({ questions }, i) => {
		const term = document.createElement("dt");
		const text = document.createElement("dd");
		term.textContent = questions.map((question) => question.text).join(" + ");
		text.textContent = words[values[i] ?? ""] ?? "";
		return [term, text];
	});
	tell("todo", missing);
	at("preview").replaceChildren(...(report ? lines : []));
	at("bytes").hidden = !report;
	/** @type {HTMLElement} */ (at("bytes").querySelector("code")).textContent = report?.toJson() ?? "";
	tell("count", "enter_count", { count: formatCount(readCount()) });
	for (const input of inputs()) input.disabled = Boolean(kept);
	tell("send", kept ? "enter_again" : "enter_send");
	const idle = !kept || sending;
	at("kept").hidden = idle;
	at("dropping").hidden = idle;
}

async function send() {
	if (sending) return;
	if (missing || !report) {
		tell("status", missing);
		(inputs().find((input) => !isTicked(input)) ?? inputs()[0]).focus();
		return;
	}
	sending = true;
	kept ??= { id: toBase64url(report.id), bits: toBase64url(report.bits), values };
	remember(SHEET, JSON.stringify(kept)); // before the first byte leaves
	tell("status", "enter_sending");
	draw();
	try {
		await submit(url, report, { attempts: 1 });
		remember(COUNT, String(readCount() + 1));
		sending = false;
		next("enter_stored");
	} catch (error) {
		sending = false;
		tell("status", ...explain(error));
		draw();
	}
}

/** @param {HTMLInputElement} input */
const isTicked = ({ name }) => inputs().some((input) => input.name === name && input.checked);

/**
 * Show an empty sheet.
 * @param {string} [key] of the message about the last one
 */
function next(key) {
	kept = undefined;
	remember(SHEET);
	for (const input of inputs()) input.checked = false;
	tell("status", key);
	draw();
	inputs()[0].focus();
}

/**
 * Return the key of the message about an error, and its values.
 * @param {unknown} error
 * @returns {[key: string, values?: Record<string, string>]}
 */
function explain(error) {
	const { code, message } = /** @type {Partial<CandorError>} */ (error);
	if (code === "wrong_survey" || code === "wrong_definition") return ["error_changed"];
	return `error_${code}` in strings ? [`error_${code}`] : ["error_other", { code: code ?? message ?? "" }];
}

try {
	survey = await fetch(url);
	verify(survey);
	if (survey.digest !== digest) throw new CandorError("wrong_survey");
	begin();
} catch (error) {
	tell("trouble", ...explain(error));
	at("trouble").hidden = false;
}
