// The form: fetch and verify, take a ticket, ask, randomize once, show what will be sent, send, give a receipt.

import { charge, hostOf, reportOf, spentOnSurvey, stateOf, ticketOf } from "/client/js/spending.js";
import { CandorError, Ledger, submit, verify } from "/client/js/index.js";
import { isPrivate, monotonic, untilWholeSecond } from "/client/js/respond.js";
import { address, encrypted, here, obtain } from "./address.js";
import { askAgain, consent } from "./consent.js";
import { bookOfThisTab, device, forgetting, limits, people } from "./device.js";
import { arrive, button, el, notice, ours } from "./dom.js";
import { frame, offerLanguages, promise, summary, unnamed } from "./frame.js";
import { languageFor, languagesOf, localized } from "./language.js";
import { questionnaire } from "./questions.js";
import { receipt, review } from "./review.js";
import { canSay, day, epsilon, say, speak, speech } from "./strings.js";
import { thanks } from "./thanks.js";
import { told } from "./told.js";

/** @import { Answers } from "/client/js/answer.js" */
/** @import { Entry } from "/client/js/spending.js" */
/** @import { Survey } from "/client/js/definition.js" */
/** @import { Child, Leaf } from "./dom.js" */
/** @import { Localized } from "./language.js" */
/** @typedef {() => Leaf[]} Draw what is to be seen, anew each time, in the language that is spoken then */

const root = /** @type {HTMLElement} */ (document.getElementById("form"));
const status = /** @type {HTMLElement} */ (document.getElementById("status"));
const isOpen = told.state === "open";
const isPaused = told.state === "survey_paused";

let ledger = bookOfThisTab();
/** @type {Survey} */
let survey;
/**
 * The same in the language that is spoken.
 * @type {Localized}
 */
let text;
/**
 * What is on the page.
 * @type {{ draw: Draw, above: Draw }}
 */
let drawn;
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
	const found = await obtain();
	verify(found);
	survey = found;
	if (!languagesOf(survey).includes(speech.tag)) speak(languageFor(languagesOf(survey), navigator.languages));
	offerLanguages(survey, redraw);
	await show();
	if (root.querySelector("form:not([hidden])")) status.replaceChildren(ours("span.heard", "loaded"));
} catch (error) {
	const code = codeOf(error);
	const missed = code === "unreachable" && button("button", "retry", () => location.reload());
	if (isPrivate(address())) place(() => [problem(missed ? "no_definition" : code, "bad_definition", missed)]);
	else place(() => [problem("not_encrypted", "", ours("a", "open_https", {}, { href: encrypted() }))]);
}
root.setAttribute("aria-busy", "false");

// where this device stands: sent, made and not sent, forgotten under our eyes, without ticket, or not asked yet
async function show() {
	blocked = false;
	try {
		if (survey.tickets) tickets = await import("./ticket.js");
		const entry = ledger.read().entries[survey.digest];
		if (!entry && seen?.day) return place(() => [notice("forgotten", {}, button("button", "anew", anew)), panel()]);
		if (!entry && seen?.signature) return place(() => [notice("ticket_gone", {}), panel()]);
		seen = entry;
		if (entry?.stored) return place(() => [answered(entry), panel(true)]);
		if (entry?.bits) return place(() => [preview(entry), panel()]);
		if (entry?.day) return place(() => [notice("report_lost", { day: day(entry.day) }), panel()]);
		if (!isOpen) return place(() => []);
		charge(ledger.read(), survey, here().server, limits(ledger));
		const screen = tickets?.ticketScreen({ survey, ledger, refresh: again, problem });
		seen = ledger.read().entries[survey.digest];
		// taking a ticket waits for consent; news of it does not
		if (screen) return place(() => gated(screen()));
		await ask();
	} catch (error) {
		const code = codeOf(error);
		const old = code === "ledger_old";
		blocked = !old;
		place(() => [problem(code, "not_made", old && button("button", "forget_old", forgetOld)), panel()]);
	}
}

/** @param {HTMLElement} screen before the first question */
function gated(screen) {
	return screen.querySelector(".primary") ? consent(text, screen, panel()) : [screen, panel()];
}

// the ticket that waits here
function waiting() {
	return seen && stateOf(seen) === "ticket" && ticketOf(seen);
}

async function ask() {
	const { server } = here();
	const before = Number(spentOnSurvey(ledger.read(), survey, server));
	const begun = await ledger.begin(survey, server);
	seen = ledger.read().entries[survey.digest];
	const asked = begun.asked ?? null;
	const ticket = waiting();
	/** @type {HTMLFormElement | undefined} */
	let form;
	const draw = () => {
		form = questionnaire(text, asked, (given) => make(given, asked), form);
		const more = ticket && tickets?.elsewhere(ticket);
		return consent(text, panel(), ...(more ? [more] : []), form);
	};
	place(draw, () => summary(text, asked, before));
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
	askAgain();
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

/**
 * @param {Draw} draw
 * @param {Draw} above what the frame promises
 */
function place(draw, above = () => promise(text)) {
	drawn = { draw, above };
	status.replaceChildren();
	redraw();
}

// the same again, in the language that is spoken now
function redraw() {
	if (survey) {
		text = localized(survey, speech.tag);
		frame(text, drawn.above());
	} else unnamed();
	const guest = guestOf();
	const nodes = drawn.draw();
	const forgetful = nodes.length > 0 && !seen?.stored && forgetfulness();
	// whoever has answered is told that first
	root.replaceChildren(...el("div", {}, forgetful, !seen?.stored && guest, nodes).childNodes);
}

// what is lost with this page
function forgetfulness() {
	if (!ledger.persistent) return ours("p.note", "memory");
	if (!ledger.held) return null;
	return el("section.note", {}, ours("p", "file_memory"), survey?.tickets && ours("p", "ticket_file"));
}

// who else may have come, with the way to a book of their own
function guestOf() {
	return (isOpen && seen && tickets?.guest(seen, people(ledger, turn))) || null;
}

/** @param {boolean} bare without what `others` shows */
function panel(bare = false) {
	const ticket = waiting();
	const keepsake = ticket && tickets?.linkOf(ticket);
	return device({ survey, ledger, blocked, keepsake, bare, alone: !guestOf(), turn, objection });
}

function objection() {
	try {
		if (!seen?.day) charge(ledger.read(), survey, here().server, limits(ledger));
	} catch (error) {
		return problem(codeOf(error));
	}
}

// for those who share a device; a guest has been told already
function others(guest = guestOf()) {
	const next = !guest && [ours("p", "next_person"), people(ledger, turn)];
	return [guest, el("section.note", {}, next, ours("p", "shared"), forgetting(ledger, turn))];
}

/**
 * @param {string} [code]
 * @param {string} [otherwise] what to say where we have no words for the code
 * @param {Child[]} more
 */
function problem(code = "error", otherwise = "not_made", ...more) {
	const { limit, serverLimit } = limits(ledger);
	const above = code.endsWith("limit") && { epsilon: epsilon(verify(survey)), host: hostOf(here().server) };
	const values = { code, limit, server_limit: serverLimit, ...above };
	return notice(canSay(code) ? code : otherwise, values, ...more);
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
	const { node, send, problems } = review(text, shown, report.toJson(), answers);
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
			await submit(address(), report, { attempts: 1 });
			await ended();
			place(() => [receipt(text, shown), ...others(), panel(true)]);
			arrive(root);
		} catch (error) {
			const code = codeOf(error);
			if (tickets && code === "id_taken") {
				await ended();
				place(() => [problem(code), panel()]);
				return arrive(root);
			}
			status.replaceChildren();
			send.disabled = false;
			send.textContent = say("retry");
			problems.replaceChildren(problem(code, "refused", code === "survey_paused" && ours("p", "kept")));
			arrive(problems);
		}
	});
	return node;
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
		thanks(text),
		ours("p", "answered_more", { epsilon: epsilon(loss) }),
		ours("p", "answered_kept"),
		others(),
	);
}
