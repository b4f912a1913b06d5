// The form, step by step: fetch and verify, take a ticket, ask, randomize once, show the report, send it, give a receipt.

import { CandorError } from "/client/js/errors.js";
import { Ledger } from "/client/js/ledger.js";
import { isPrivate, monotonic, submit, waitForSecond } from "/client/js/respond.js";
import { charge, hostOf, reportOf, spentOnSurvey, stateOf, ticketOf } from "/client/js/spending.js";
import { verify } from "/client/js/verify.js";
import { address, isEncrypted, loadSurvey, surveyAddress } from "./address.js";
import { askAgain, consent } from "./consent.js";
import { device, forgetPanel, limits, openLedger, people } from "./device.js";
import { button, el, moveFocus, notice, setText, textEl } from "./dom.js";
import { frame, offerLanguages, promise, showUntitledFrame, summary } from "./frame.js";
import { languageFor, languagesOf, translateSurvey } from "./language.js";
import { pageData } from "./page_data.js";
import { questionnaire } from "./questions.js";
import { receipt, review } from "./review.js";
import { canSay, day, epsilon, speak, speech } from "./strings.js";
import { thanks } from "./thanks.js";

/** @import { Answers } from "/client/js/answer.js" */
/** @import { Entry } from "/client/js/spending.js" */
/** @import { Survey } from "/client/js/definition.js" */
/** @import { Child, Leaf } from "./dom.js" */
/** @import { Localized } from "./language.js" */
/** @typedef {() => Leaf[]} Draw return new elements in the current language */

const root = /** @type {HTMLElement} */ (document.getElementById("form"));
const status = /** @type {HTMLElement} */ (document.getElementById("status"));
const isOpen = pageData.state === "open";
const isPaused = pageData.state === "survey_paused";

let ledger = openLedger();
/** @type {Survey} */
let survey;
/**
 * The survey in the current language.
 * @type {Localized}
 */
let text;
/**
 * The functions that draw the current page.
 * @type {{ draw: Draw, above: Draw }}
 */
let drawn;
/**
 * The respondent's answers until the report is stored; they are kept in no other place.
 * @type {Answers | null}
 */
let answers = null;
/**
 * The ledger's entry when the page was drawn.
 * @type {Entry | undefined}
 */
let seen;
// when the device began to randomize; a report from an earlier visit counts from the beginning of this one
let began = 0;
let blocked = false;
/**
 * The module that only surveys by invitation load.
 * @type {typeof import("./ticket.js") | null}
 */
let tickets = null;

/** @param {unknown} error */
const codeOf = (error) => (error instanceof CandorError ? error.code : undefined);

addEventListener("hashchange", () => location.reload());
// the browser may restore the page with its answers, perhaps for another person
addEventListener("pageshow", ({ persisted }) => {
	if (persisted && survey) renew();
});
// another tab has made, sent or forgotten the report
addEventListener("storage", () => {
	if (survey && readEntryText() !== JSON.stringify(seen)) renew();
});

try {
	const fetched = await loadSurvey();
	verify(fetched);
	survey = fetched;
	if (!languagesOf(survey).includes(speech.tag)) speak(languageFor(languagesOf(survey), navigator.languages));
	offerLanguages(survey, redraw);
	await show();
	if (root.querySelector("form:not([hidden])")) status.replaceChildren(textEl("span.heard", "loaded"));
} catch (error) {
	const code = codeOf(error);
	const missed = code === "unreachable" && button("button", "retry", () => location.reload());
	if (isPrivate(address())) place(() => [problem(missed ? "no_definition" : code, "bad_definition", missed)]);
	else place(() => [problem("not_encrypted", "", textEl("a", "open_https", {}, { href: isEncrypted() }))]);
}
root.setAttribute("aria-busy", "false");

// show the page for the state of this device: sent, made, deleted in another tab, without ticket, or not asked yet
async function show() {
	blocked = false;
	try {
		if (survey.tickets) tickets = await import("./ticket.js");
		const entry = ledger.read().entries[survey.digest];
		if (!entry && seen?.day) return place(() => [notice("forgotten", {}, button("button", "anew", anew)), panel()]);
		if (!entry && seen?.signature) return place(() => [notice("ticket_gone", {}), panel()]);
		seen = entry;
		if (entry?.stored) return place(() => [answeredScreen(entry), panel(true)]);
		if (entry?.bits) return place(() => [preview(entry), panel()]);
		if (entry?.day) return place(() => [notice("report_lost", { day: day(entry.day) }), panel()]);
		if (!isOpen) return place(() => []);
		charge(ledger.read(), survey, surveyAddress().server, limits(ledger));
		const screen = tickets?.ticketScreen({ survey, ledger, refresh, problem });
		seen = ledger.read().entries[survey.digest];
		// taking a ticket needs consent; a message about it does not
		if (screen) return place(() => gateScreen(screen()));
		await ask();
	} catch (error) {
		const code = codeOf(error);
		const old = code === "ledger_old";
		blocked = !old;
		place(() => [problem(code, "not_made", old && button("button", "forget_old", forgetOld)), panel()]);
	}
}

/** @param {HTMLElement} screen before the first question */
function gateScreen(screen) {
	return screen.querySelector(".primary") ? consent(text, screen, panel()) : [screen, panel()];
}

// return the ticket that is stored but not used yet
function findUnusedTicket() {
	return seen && stateOf(seen) === "ticket" && ticketOf(seen);
}

async function ask() {
	const { server } = surveyAddress();
	const before = Number(spentOnSurvey(ledger.read(), survey, server));
	const entry = await ledger.begin(survey, server);
	seen = ledger.read().entries[survey.digest];
	const asked = entry.asked ?? null;
	const ticket = findUnusedTicket();
	/** @type {HTMLFormElement | undefined} */
	let form;
	const draw = () => {
		form = questionnaire(text, asked, (values) => make(values, asked), form);
		const more = ticket && tickets?.ticketPanel(ticket);
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
	refresh();
}

async function refresh() {
	await show();
	moveFocus(root);
}

/**
 * Show another profile, or the same one anew.
 * @param {Ledger} [next]
 */
function turn(next = ledger) {
	if (next.profile !== ledger.profile) seen = undefined;
	askAgain();
	ledger = next;
	answers = null;
	return refresh();
}

async function forgetOld() {
	await ledger.forget();
	await turn();
}

// return the ledger's current entry for this survey, as text
function readEntryText() {
	try {
		return JSON.stringify(ledger.read().entries[survey.digest]);
	} catch {
		return "damaged";
	}
}

/**
 * Show another page.
 * @param {Draw} draw
 * @param {Draw} above the summary above the form
 */
function place(draw, above = () => promise(text)) {
	drawn = { draw, above };
	status.replaceChildren();
	redraw();
}

// draw the same page in the current language
function redraw() {
	if (survey) {
		text = translateSurvey(survey, speech.tag);
		frame(text, drawn.above());
	} else showUntitledFrame();
	const guest = guestOf();
	const nodes = drawn.draw();
	const warning = nodes.length > 0 && !seen?.stored && forgetfulness();
	// a respondent who has answered sees that first
	root.replaceChildren(...el("div", {}, warning, !seen?.stored && guest, nodes).childNodes);
}

// return a warning if the ledger is lost with this page
function forgetfulness() {
	if (!ledger.persistent) return textEl("p.note", "memory");
	if (!ledger.held) return null;
	return el("section.note", {}, textEl("p", "file_memory"), survey?.tickets && textEl("p", "ticket_file"));
}

// return the note for another person with a new link, with the buttons to open a profile
function guestOf() {
	return (isOpen && seen && tickets?.guest(seen, people(ledger, turn))) || null;
}

/** @param {boolean} bare without the panel of other respondents */
function panel(bare = false) {
	const ticket = findUnusedTicket();
	const keepsake = ticket && tickets?.linkOf(ticket);
	return device({ survey, ledger, blocked, keepsake, bare, alone: !guestOf(), turn, objection });
}

function objection() {
	try {
		if (!seen?.day) charge(ledger.read(), survey, surveyAddress().server, limits(ledger));
	} catch (error) {
		return problem(codeOf(error));
	}
}

// return the notes for people who share a device, unless a guest has seen them already
function otherRespondentsPanel(guest = guestOf()) {
	const next = !guest && [textEl("p", "next_person"), people(ledger, turn)];
	return [guest, el("section.note", {}, next, textEl("p", "shared"), forgetPanel(ledger, turn))];
}

/**
 * @param {string} [code]
 * @param {string} [otherwise] the string to show if there is none for the code
 * @param {Child[]} more
 */
function problem(code = "error", otherwise = "not_made", ...more) {
	const { limit, serverLimit } = limits(ledger);
	const above = code.endsWith("limit") && { epsilon: epsilon(verify(survey)), host: hostOf(surveyAddress().server) };
	const values = { code, limit, server_limit: serverLimit, ...above };
	return notice(canSay(code) ? code : otherwise, values, ...more);
}

/**
 * Make the only report: the ledger stores it before it is shown.
 * @param {Answers} values
 * @param {number | null} asked
 */
async function make(values, asked) {
	try {
		// the ledger may have been deleted in another tab, and would draw other questions now
		if ((ledger.read().entries[survey.digest]?.asked ?? null) !== asked) return problem("other_questions");
		began = monotonic();
		const { made } = await ledger.make(survey, values, { server: surveyAddress().server, ...limits(ledger) });
		answers = made ? values : null;
		tickets?.hideTicket();
	} catch (error) {
		return problem(codeOf(error));
	}
	await refresh();
}

/** @param {Entry} entry */
function preview(entry) {
	const report = reportOf(survey.digest, entry);
	const { node, send, problems } = review(text, entry, report.toJson(), answers);
	if (isPaused) send.replaceWith(textEl("p.note", "kept"));
	send.addEventListener("click", async () => {
		if (readEntryText() !== JSON.stringify(entry)) {
			await renew();
			return moveFocus(root);
		}
		send.disabled = true;
		status.replaceChildren(textEl("span", "sending"));
		try {
			await waitForSecond(began);
			await submit(address(), report, { attempts: 1 });
			await showEnd();
			place(() => [receipt(text, entry), ...otherRespondentsPanel(), panel(true)]);
			moveFocus(root);
		} catch (error) {
			const code = codeOf(error);
			if (tickets && code === "id_taken") {
				await showEnd();
				place(() => [problem(code), panel()]);
				return moveFocus(root);
			}
			status.replaceChildren();
			send.disabled = false;
			setText(send, "retry");
			problems.replaceChildren(problem(code, "refused", code === "survey_paused" && textEl("p", "kept")));
			moveFocus(problems);
		}
	});
	return node;
}

// delete the report after it, or another report with its ticket, was stored
async function showEnd() {
	answers = null;
	await ledger.acknowledge(survey, surveyAddress().server).catch(() => null); // if this fails, the same bytes can be sent again
	seen = ledger.read().entries[survey.digest];
	tickets?.hideTicket();
}

/** @param {Entry} entry */
function answeredScreen({ day: made, epsilon: loss }) {
	return el(
		"section",
		{},
		textEl("h2", "answered", { day: day(made) }, { tabindex: -1 }),
		thanks(text),
		textEl("p", "answered_more", { epsilon: epsilon(loss) }),
		textEl("p", "answered_kept"),
		otherRespondentsPanel(),
	);
}
