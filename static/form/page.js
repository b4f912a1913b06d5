// The form: fetch and verify, ask, randomize once, show what will be sent, send, keep a receipt.

import { CandorError, fetch, Ledger, Report, submit, verify } from "/client/js/index.js";
import { fromText } from "/client/js/report.js";
import { arrive, button, details, el, notice, ours, tongue } from "./dom.js";
import { dice } from "./protection.js";
import { questionnaire } from "./questions.js";
import { receipt, review } from "./review.js";
import { chance, epsilon, say, strings } from "./strings.js";

/** @import { Answers } from "/client/js/answer.js" */
/** @import { Survey } from "/client/js/definition.js" */
/** @import { Entry } from "/client/js/ledger.js" */
/** @import { Child } from "./dom.js" */

// in the browser's storage, beside the ledger
const LIMIT = "candor-limit/1";
// where a suspicion of 5 in 100 becomes 50 in 100
const EVEN = Math.log(19);
// with its pin and invitation
const url = location.href;
const root = /** @type {HTMLElement} */ (document.getElementById("form"));
const status = /** @type {HTMLElement} */ (document.getElementById("status"));
const told = document.getElementById("promise");
const general = told ? [...told.children] : [];
const isOpen = root.dataset.state === "open";
const invited = Boolean(root.dataset.invited);

let ledger = new Ledger();
/** @type {Survey} */
let survey;
/**
 * What the person said, until the report is stored; nothing else remembers it.
 * @type {Answers | null}
 */
let answers = null;
/**
 * The entry of the ledger that the page shows.
 * @type {Entry | undefined}
 */
let seen;
let blocked = false;

/** @returns {number | string} */
const limit = () => ledger.storage[LIMIT] ?? 10;

/** @param {unknown} error */
const codeOf = (error) => (error instanceof CandorError ? error.code : undefined);

addEventListener("hashchange", () => location.reload());
// the browser may bring the page back as it was left, with answers in it, perhaps for somebody else
addEventListener("pageshow", ({ persisted }) => {
	if (persisted && survey) renew();
});
// another tab has made, sent or forgotten the report
addEventListener("storage", () => {
	if (survey && recorded() !== JSON.stringify(seen)) renew();
});

try {
	survey = await fetch(url);
	verify(survey);
	show();
	if (root.querySelector("form")) status.replaceChildren(ours("span.heard", "loaded"));
} catch (error) {
	const code = codeOf(error);
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
		if (!isOpen) return root.replaceChildren();
		if (invited && !/[#&]code=/.test(url)) return place(problem("no_code"));
		verify(survey, { limit: limit() });
		const asked = ledger.asked(survey);
		const before = ledger.spent(survey.slug);
		place(
			questionnaire(survey, asked, (given) => make(given, asked)),
			device(),
		);
		told?.replaceChildren(...summary(asked, before));
	} catch (error) {
		const code = codeOf(error);
		if (code === "ledger_unavailable") {
			// there is storage, but it takes nothing
			ledger = new Ledger({ [LIMIT]: limit() });
			ledger.persistent = false;
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

/** @param {Element[]} nodes */
function place(...nodes) {
	told?.replaceChildren(...general);
	root.replaceChildren(ledger.persistent ? "" : ours("p.note", "memory"), ...nodes);
}

/**
 * @param {string} [code]
 * @param {string} [otherwise] what to say where we have no words for the code
 * @param {Child[]} more
 */
function problem(code = "error", otherwise = "not_made", ...more) {
	return notice(Object.hasOwn(strings, code) ? code : otherwise, { code, limit: limit() }, ...more);
}

/**
 * @param {number | null} asked
 * @param {number} before what earlier versions have cost
 */
function summary(asked, before) {
	const { fields, questions } = survey;
	const put = asked === null ? fields : [fields[asked]];
	const all = verify(survey) + before;
	const rolled = dice(put);
	const doubt = rolled && all < EVEN ? `${say("never")} ` : "";
	const raised = say("total", { ...chance(all), epsilon: epsilon(all) });
	const lines = [
		asked !== null && ours("p.chosen", "chosen", { count: put[0].questions.length, total: questions.length }),
		rolled ? el("p", tongue, asked !== null && `${say("luck")} `, rolled) : general[0],
		el("p", tongue, doubt, raised),
		before > 0 && ours("p", "earlier", { epsilon: epsilon(before) }),
		general.at(-1), // where to read more
	];
	return lines.filter((line) => line instanceof Node);
}

/**
 * Once and for all: the ledger writes it down before anything is shown.
 * @param {Answers} given
 * @param {number | null} asked
 */
function make(given, asked) {
	try {
		// it may have been forgotten in another tab, and would draw other questions now
		if (ledger.asked(survey) !== asked) return problem("other_questions");
		answers = ledger.make(survey, given, { limit: limit() }).made ? given : null;
	} catch (error) {
		return problem(codeOf(error));
	}
	again();
}

/** @param {Entry} shown */
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
			const report = new Report(survey.digest, fromText(shown.id), fromText(shown.bits));
			const outcome = await submit(url, report, { attempts: 1 });
			answers = null;
			try {
				ledger.markStored(survey.digest);
				seen = ledger.read().reports[survey.digest];
			} catch {
				// only a mark for display
			}
			thank(shown, outcome);
			arrive(root);
		} catch (error) {
			send.disabled = false;
			send.textContent = strings.retry;
			problems.replaceChildren(problem(codeOf(error), "refused"));
			arrive(problems);
		}
		status.replaceChildren();
	});
	place(node, device());
}

/**
 * @param {Entry} sent
 * @param {string} outcome what the server said
 */
function thank(sent, outcome) {
	place(receipt(survey, sent, outcome), el("section.note", {}, ours("p", "shared"), forgetting()), device());
}

function forgetting() {
	const forget = () => {
		ledger.forget();
		again();
	};
	return details("forget", ours("p", "forget_more"), button("button", "forget_yes", forget));
}

// what this device has spent, the person's own limit, and how to forget
function device() {
	let total = 0;
	/** @type {string[]} */
	let spent = [];
	try {
		total = ledger.spent();
		spent = Object.values(ledger.read().reports).map((entry) => `${entry.slug}: ε = ${epsilon(entry.epsilon)}`);
	} catch {
		// a damaged ledger has nothing to tell, but can be forgotten
	}
	const change = () => {
		if (input.value && input.validity.valid) ledger.storage[LIMIT] = input.value;
		input.value = String(limit());
	};
	const input = el("input", { type: "number", min: 0, step: "any", value: limit(), change });
	const node = details(
		"device",
		ours("p", "spent", { epsilon: epsilon(total) }),
		el(
			"ul",
			{},
			spent.map((line) => el("li", {}, line)),
		),
		el("p", {}, el("label", {}, ours("span", "limit"), " ", input)),
		blocked && el("p", {}, button("button", "retry", again)),
		ours("p.hint", "secret"),
		!seen?.stored && forgetting(),
	);
	node.open = blocked;
	return node;
}
