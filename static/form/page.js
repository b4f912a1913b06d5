// The form: fetch and verify, take a ticket, ask, randomize once, show what will be sent, send, give a receipt.

import { charge, reportOf, spentOnSurvey, stateOf, ticketOf } from "/client/js/book.js";
import { CandorError, fetch, Ledger, submit, verify } from "/client/js/index.js";
import { monotonic, parseAddress, untilWholeSecond } from "/client/js/respond.js";
import { bookOfThisTab, device, forgetting, limits, people } from "./device.js";
import { arrive, button, el, notice, ours, tongue } from "./dom.js";
import { dice } from "./protection.js";
import { questionnaire } from "./questions.js";
import { receipt, review } from "./review.js";
import { chance, day, epsilon, say, strings } from "./strings.js";

/** @import { Answers } from "/client/js/answer.js" */
/** @import { Entry } from "/client/js/book.js" */
/** @import { Survey } from "/client/js/definition.js" */
/** @import { Child } from "./dom.js" */

// where a suspicion of 5 in 100 becomes 50 in 100
const EVEN = Math.log(19);
const root = /** @type {HTMLElement} */ (document.getElementById("form"));
const status = /** @type {HTMLElement} */ (document.getElementById("status"));
const told = document.getElementById("promise");
const general = told ? [...told.children] : [];
const isOpen = root.dataset.state === "open";
const isPaused = root.dataset.state === "survey_paused";

let ledger = bookOfThisTab();
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
// when the device began to randomize; a report from an earlier visit counts from the beginning of this one
let began = 0;
let blocked = false;
/**
 * What only surveys by invitation load.
 * @type {typeof import("./ticket.js") | null}
 */
let tickets = null;

// with its pin, and the invitation as long as that is in it
const here = () => parseAddress(location.href);

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
	survey = await fetch(location.href);
	verify(survey);
	await show();
	if (root.querySelector("form")) status.replaceChildren(ours("span.heard", "loaded"));
} catch (error) {
	const code = codeOf(error);
	const missed = code === "unreachable" && button("button", "retry", () => location.reload());
	place(problem(missed ? "no_definition" : code, "bad_definition", missed));
}
root.setAttribute("aria-busy", "false");

// where this device stands: sent, made and not sent, forgotten under our eyes, without ticket, or not asked yet
async function show() {
	blocked = false;
	try {
		if (survey.tickets) tickets = await import("./ticket.js");
		const entry = ledger.read().entries[survey.digest];
		if (!entry && seen?.day) return place(notice("forgotten", {}, button("button", "anew", anew)), panel());
		if (!entry && seen?.signature) return place(notice("ticket_gone", {}), panel());
		seen = entry;
		if (entry?.stored) return place(answered(entry), panel(true));
		if (entry?.bits) return preview(entry);
		if (!isOpen) return root.replaceChildren();
		charge(ledger.read(), survey, here().server, limits(ledger));
		const screen = await tickets?.ticketScreen({ survey, ledger, refresh: again, problem });
		seen = ledger.read().entries[survey.digest];
		if (screen) return place(screen, panel());
		const ticket = waiting();
		await ask(ticket && tickets?.elsewhere(ticket));
	} catch (error) {
		const code = codeOf(error);
		const old = code === "ledger_old";
		blocked = !old;
		place(problem(code, "not_made", old && button("button", "forget_old", forgetOld)), panel());
	}
}

// the ticket that waits here
function waiting() {
	return seen && stateOf(seen) === "ticket" && ticketOf(seen);
}

/** @param {Element | false} [more] what stands before the questions */
async function ask(more) {
	const { server } = here();
	const before = Number(spentOnSurvey(ledger.read(), survey, server));
	const begun = await ledger.begin(survey, server);
	seen = ledger.read().entries[survey.digest];
	const asked = begun.asked ?? null;
	const form = questionnaire(survey, asked, (given) => make(given, asked));
	place(panel(), ...(more ? [more] : []), form);
	told?.replaceChildren(...summary(asked, before));
}

function renew() {
	answers = null;
	return show();
}

function anew() {
	seen = undefined;
	again();
}

async function again() {
	await show();
	arrive(root);
}

/**
 * Somebody else's book, or the same one as it is now.
 * @param {Ledger} [book]
 */
function turn(book = ledger) {
	if (book.book !== ledger.book) seen = undefined;
	ledger = book;
	answers = null;
	return again();
}

async function forgetOld() {
	await ledger.forget();
	await turn();
}

// what the ledger says now about this survey, as text
function recorded() {
	try {
		return JSON.stringify(ledger.read().entries[survey.digest]);
	} catch {
		return "damaged";
	}
}

/** @param {Element[]} nodes */
function place(...nodes) {
	told?.replaceChildren(...general);
	status.replaceChildren();
	const guest = isOpen && seen && tickets?.guest(seen, people(ledger, turn));
	root.replaceChildren(ledger.persistent ? "" : ours("p.note", "memory"), guest || "", ...nodes);
}

/** @param {boolean} bare without what `others` shows */
function panel(bare = false) {
	const ticket = waiting();
	const keepsake = ticket && tickets?.linkOf(ticket);
	return device({ survey, ledger, blocked, keepsake, bare, turn, objection });
}

function objection() {
	try {
		if (!seen?.day) charge(ledger.read(), survey, here().server, limits(ledger));
	} catch (error) {
		return problem(codeOf(error));
	}
}

// for those who share a device
function others() {
	const next = [ours("p", "next_person"), people(ledger, turn)];
	return el("section.note", {}, next, ours("p", "shared"), forgetting(ledger, turn));
}

/**
 * @param {string} [code]
 * @param {string} [otherwise] what to say where we have no words for the code
 * @param {Child[]} more
 */
function problem(code = "error", otherwise = "not_made", ...more) {
	const { limit, serverLimit } = limits(ledger);
	const cost = code.endsWith("limit") ? epsilon(verify(survey)) : "";
	const values = { code, limit, server_limit: serverLimit, host: location.hostname, epsilon: cost };
	return notice(Object.hasOwn(strings, code) ? code : otherwise, values, ...more);
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
		survey.tickets && ours("p", "unlinked"),
		general.at(-1), // where to read more
	];
	return lines.filter((line) => line instanceof Node);
}

/**
 * Once and for all: the ledger writes it down before anything is shown.
 * @param {Answers} given
 * @param {number | null} asked
 */
async function make(given, asked) {
	try {
		// it may have been forgotten in another tab, and would draw other questions now
		if ((ledger.read().entries[survey.digest]?.asked ?? null) !== asked) return problem("other_questions");
		began = monotonic();
		const { made } = await ledger.make(survey, given, { server: here().server, ...limits(ledger) });
		answers = made ? given : null;
		tickets?.hideTicket();
	} catch (error) {
		return problem(codeOf(error));
	}
	await again();
}

/** @param {Entry} shown */
function preview(shown) {
	const report = reportOf(survey.digest, shown);
	const { node, send, problems } = review(survey, shown, report.toJson(), answers);
	if (isPaused) send.replaceWith(ours("p.note", "kept"));
	send.addEventListener("click", async () => {
		if (recorded() !== JSON.stringify(shown)) {
			await renew();
			return arrive(root);
		}
		send.disabled = true;
		status.replaceChildren(ours("span", "sending"));
		try {
			await untilWholeSecond(began);
			await submit(location.href, report, { attempts: 1 });
			await ended();
			place(receipt(survey, shown), others(), panel(true));
			arrive(root);
		} catch (error) {
			const code = codeOf(error);
			if (tickets && code === "id_taken") {
				await ended();
				place(problem(code), panel());
				return arrive(root);
			}
			status.replaceChildren();
			send.disabled = false;
			send.textContent = strings.retry;
			problems.replaceChildren(problem(code, "refused", code === "survey_paused" && ours("p", "kept")));
			arrive(problems);
		}
	});
	place(node, panel());
}

// it is stored, or another report came with its ticket
async function ended() {
	answers = null;
	await ledger.acknowledge(survey, here().server).catch(() => null); // else the same can be sent again
	seen = ledger.read().entries[survey.digest];
	tickets?.hideTicket();
}

/** @param {Entry} entry */
function answered({ day: made, epsilon: loss }) {
	return el(
		"section",
		{},
		ours("h2", "answered", { day: day(made) }, { tabindex: -1 }),
		ours("p", "answered_more", { epsilon: epsilon(loss) }),
		ours("p", "answered_kept"),
		others(),
	);
}
