// The form: fetch and verify, ask, randomize once, show what will be sent, send, keep a receipt.

import { Ledger, Report, fetch, submit, verify } from "/client/js/index.js";
import { fromText } from "/client/js/report.js";
import { arrive, button, details, el, notice, ours } from "./dom.js";
import { questionnaire } from "./questions.js";
import { receipt, review } from "./review.js";
import { chance, epsilon, strings } from "./words.js";

// in the browser's storage, beside the ledger
const LIMIT = "candor-limit/1";
// with its pin and invitation
const url = location.href;
const [root, status] = ["form", "status"].map((id) => document.getElementById(id));
const { state, invited } = root.dataset;
// `seen` is the entry of the ledger that the page shows
let [ledger, survey, answers, seen, blocked] = [new Ledger()];
const limit = () => ledger.storage[LIMIT] ?? 10;

addEventListener("hashchange", () => location.reload());
// the browser may bring the page back as it was left, with answers in it, perhaps for somebody else
addEventListener("pageshow", ({ persisted }) => persisted && survey && renew());
// another tab has made, sent or forgotten the report
addEventListener("storage", () => survey && recorded() !== JSON.stringify(seen) && renew());

try {
	survey = await fetch(url);
	verify(survey);
	show();
	if (root.querySelector("form")) status.replaceChildren(ours("span.heard", "loaded"));
} catch ({ code }) {
	const lost = code === "unreachable" && button("button", "retry", () => location.reload());
	place(problem(lost ? "no_definition" : code, "bad_definition", lost));
}
root.setAttribute("aria-busy", "false");

// where this device stands: sent, made and not sent, forgotten under our eyes, or not asked yet
function show() {
	blocked = false;
	try {
		const entry = ledger.read().reports[survey.digest];
		if (!entry && seen) return place(notice("forgotten", {}, button("button", "anew", anew)), device());
		seen = entry;
		if (entry) return entry.stored ? thank(entry, "stored") : preview(entry);
		if (state !== "open") return root.replaceChildren();
		if (invited && !/[#&]code=/.test(url)) return place(problem("no_code"));
		verify(survey, { limit: limit() });
		const asked = ledger.asked(survey);
		place(summary(), questionnaire(survey, asked, (given) => make(given, asked)), device());
	} catch ({ code }) {
		if (code === "ledger_unavailable") {
			// there is storage, but it takes nothing
			ledger = Object.assign(new Ledger({ [LIMIT]: limit() }), { persistent: false });
			return show();
		}
		blocked = true;
		place(problem(code), device());
	}
}

function renew() {
	answers = null;
	show();
}

function anew() {
	seen = undefined;
	again();
}

function again() {
	show();
	arrive(root);
}

// what the ledger says now about this survey, as text
function recorded() {
	try {
		return JSON.stringify(ledger.read().reports[survey.digest]);
	} catch {
		return "damaged";
	}
}

function place(...nodes) {
	root.replaceChildren(ledger.persistent ? "" : ours("p.note", "memory"), ...nodes);
}

function problem(code = "error", otherwise = "not_made", ...more) {
	return notice(Object.hasOwn(strings, code) ? code : otherwise, { code, limit: limit() }, ...more);
}

function summary() {
	const before = ledger.spent(survey.slug);
	const all = verify(survey) + before;
	const { ask, fields } = survey;
	return el(
		"section.summary",
		{},
		ours("p", "total", { chance: chance(all), epsilon: epsilon(all) }),
		before > 0 && ours("p", "earlier", { epsilon: epsilon(before) }),
		ask && ours("p", "ask", { ask, total: fields.length }),
	);
}

// once and for all: the ledger writes it down before anything is shown
function make(given, asked) {
	try {
		// it may have been forgotten in another tab, and would draw other questions now
		if (`${ledger.asked(survey)}` !== `${asked}`) return problem("other_questions");
		answers = ledger.make(survey, given, { limit: limit() }).made ? given : null;
	} catch ({ code }) {
		return problem(code);
	}
	again();
}

function preview(shown) {
	const { node, send, problems } = review(survey, shown, answers, invited);
	send.addEventListener("click", async () => {
		if (recorded() !== JSON.stringify(shown)) {
			renew();
			return arrive(root);
		}
		send.disabled = true;
		status.replaceChildren(ours("span", "sending"));
		try {
			const report = Report(survey.digest, fromText(shown.id), fromText(shown.bits));
			const outcome = await submit(url, report, { attempts: 1 });
			answers = null;
			try {
				// only a mark for display
				ledger.markStored(survey.digest);
				seen = ledger.read().reports[survey.digest];
			} catch {}
			thank(shown, outcome);
			arrive(root);
		} catch ({ code }) {
			send.disabled = false;
			send.textContent = strings.retry;
			problems.replaceChildren(problem(code, "refused"));
			arrive(problems);
		}
		status.replaceChildren();
	});
	place(node, device());
}

function thank(sent, outcome) {
	place(receipt(survey, sent, outcome), el("section.note", {}, ours("p", "shared"), forgetting()), device());
}

function forgetting() {
	return details("forget", ours("p", "forget_more"), button("button", "forget_yes", () => again(ledger.forget())));
}

// what this device has spent, the person's own limit, and how to forget
function device() {
	let [total, spent] = [0, []];
	try {
		// a damaged ledger has nothing to tell, but can be forgotten
		total = ledger.spent();
		spent = Object.values(ledger.read().reports).map((entry) => `${entry.slug}: ε = ${epsilon(entry.epsilon)}`);
	} catch {}
	const change = () => {
		if (input.value && input.validity.valid) ledger.storage[LIMIT] = input.value;
		input.value = limit();
	};
	const input = el("input", { type: "number", min: 0, step: "any", value: limit(), change });
	const node = details(
		"device",
		ours("p", "spent", { epsilon: epsilon(total) }),
		el("ul", {}, spent.map((line) => el("li", {}, line))),
		el("p", {}, el("label", {}, ours("span", "limit"), " ", input)),
		blocked && el("p", {}, button("button", "retry", again)),
		ours("p.hint", "secret"),
		!seen?.stored && forgetting(),
	);
	node.open = blocked;
	return node;
}
