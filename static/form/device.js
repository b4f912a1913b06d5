// This device: whose book is open, what it has spent, the person's own limits, who else answers here, and forgetting.

import { hostOf, SERVER_LIMIT, SURVEY_LIMIT, spentOnServer, spentOnSurvey } from "/client/js/spending.js";
import { Ledger } from "/client/js/index.js";
import { here } from "./address.js";
import { button, details, el, ours, tongue } from "./dom.js";
import { day, epsilon, say } from "./strings.js";

/** @import { Survey } from "/client/js/definition.js" */
/** @import { Child } from "./dom.js" */
/** @typedef {(ledger?: Ledger) => unknown} Turn to another book, or to the same one as it is now */

const LIMITS = "candor-limits/2"; // in the browser's storage, beside the ledger
const BOOK = "candor-book/2"; // in the tab's own storage
const TRIAL = "candor-trial";

/** The book that was opened in this tab, or the first; in memory where there is storage that takes nothing. */
export function bookOfThisTab() {
	let book = 1;
	try {
		book = Number(sessionStorage[BOOK] ?? 1);
	} catch {
		// then there is no other storage either
	}
	const ledger = new Ledger(null, { book });
	const name = nameOf(ledger);
	try {
		ledger.storage[TRIAL] = "";
		delete ledger.storage[TRIAL];
		return ledger;
	} catch {
		const memory = new Ledger({ [name]: ledger.storage[name] }, { book });
		memory.persistent = false;
		return memory;
	}
}

/** @param {Ledger} ledger */
const nameOf = ({ book }) => `${LIMITS} ${book}`;

/**
 * @param {Ledger} ledger
 * @returns {{ limit: number, serverLimit: number }}
 */
export function limits(ledger) {
	const standard = { limit: SURVEY_LIMIT, serverLimit: SERVER_LIMIT };
	try {
		return { ...standard, ...JSON.parse(ledger.storage[nameOf(ledger)] ?? "{}") };
	} catch {
		return standard;
	}
}

/**
 * `keepsake`: the ticket's link; `objection`: what the limits say; `alone`: nobody else was asked above whether they answer here.
 * @param {{ survey: Survey, ledger: Ledger, blocked: boolean, keepsake?: Element | false, bare: boolean, alone: boolean, turn: Turn, objection: () => Child }} page
 */
export function device({ survey, ledger, blocked, keepsake, bare, alone, turn, objection }) {
	const sums = sumsOf(survey, ledger);
	const title = ours("summary", "device");
	const doubt = el("div");
	const entitle = () => {
		const { limit, serverLimit } = limits(ledger);
		const name = ledger.books().length > 1 ? say("device_person", { number: ledger.book }) : say("device");
		const values = { limit, server_limit: serverLimit, host: hostOf(here().server), device: name };
		if (sums) title.textContent = say("budget", { ...sums.spent, ...values });
	};
	const update = () => {
		if (blocked) return turn();
		entitle();
		doubt.replaceChildren(el("div", {}, objection()));
	};
	entitle();
	const lines = sums?.lines.map((line) => el("li", {}, line));
	const node = el(
		"details",
		{},
		title,
		ours("p", "spending"),
		lines && lines.length > 0 && el("ul", {}, lines),
		bound(ledger, "limit", update),
		bound(ledger, "serverLimit", update),
		doubt,
		ours("p.hint", "operators"),
		ours("p.hint", "household"),
		ours("p", "thief"),
		!bare && [alone && people(ledger, turn), forgetting(ledger, turn, keepsake)],
	);
	node.open = blocked;
	return node;
}

/**
 * What was spent here, and on what; nothing of a damaged or old ledger, which can only be forgotten.
 * @param {Survey} survey
 * @param {Ledger} ledger
 */
function sumsOf(survey, ledger) {
	try {
		const { server } = here();
		const book = ledger.read();
		const spent = Object.values(book.entries).filter((entry) => entry.day);
		const lines = spent.map((entry) => `${entry.slug}: ε = ${epsilon(entry.epsilon)}, ${day(entry.day)}`);
		const there = epsilon(spentOnServer(book, server));
		return { spent: { spent: epsilon(spentOnSurvey(book, survey, server)), server_spent: there }, lines: lines.sort() };
	} catch {
		return null;
	}
}

/**
 * One of the person's limits, to change.
 * @param {Ledger} ledger
 * @param {"limit" | "serverLimit"} name
 * @param {() => void} update
 */
function bound(ledger, name, update) {
	const change = () => {
		const good = input.value && input.validity.valid;
		const all = limits(ledger);
		if (good) ledger.storage[nameOf(ledger)] = JSON.stringify({ ...all, [name]: Number(input.value) });
		else input.value = String(all[name]);
		said.textContent = good ? "" : say("limit_stays", { limit: all[name] });
		if (good) update();
	};
	const said = el("span.error", { role: "status", ...tongue });
	const input = el("input", { type: "number", min: 0, step: "any", value: limits(ledger)[name], change });
	return el("p", {}, el("label", {}, ours("span", name === "limit" ? "limit" : "server_limit"), " ", input), " ", said);
}

/**
 * Each person has a book of their own; it is this tab's until another is opened.
 * @param {Ledger} ledger
 * @param {Turn} turn
 */
export function people(ledger, turn) {
	/** @param {number} book */
	const open = (book) => {
		try {
			sessionStorage[BOOK] = book;
		} catch {
			// until the page is left
		}
		turn(new Ledger(ledger.persistent ? null : ledger.storage, { book }));
	};
	const books = ledger.books();
	const others = books.filter((book) => book !== ledger.book);
	return details(
		"others",
		ours("p", "others_more"),
		el("p.actions", {}, [
			...others.map((book) => ours("button", "person", { number: book }, { type: "button", click: () => open(book) })),
			button("button", "other_new", () => open(Math.max(...books) + 1)),
		]),
	);
}

/**
 * @param {Ledger} ledger
 * @param {Turn} turn
 * @param {Element | false} [keepsake]
 */
export function forgetting(ledger, turn, keepsake) {
	const forget = async () => {
		await ledger.forget();
		turn();
	};
	const lost = keepsake && [ours("p.note", "ticket_lost"), keepsake];
	return details("forget", ours("p", "forget_more"), lost, button("button", "forget_yes", forget));
}
