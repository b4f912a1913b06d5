// The panel about this device: the open profile, its spending and limits, other profiles, and deleting the ledger.

import { Ledger } from "/client/js/ledger.js";
import { hostOf, SERVER_LIMIT, SURVEY_LIMIT, spentOnServer, spentOnSurvey } from "/client/js/spending.js";
import { surveyAddress } from "./address.js";
import { button, details, el, languageProps, setText, textEl } from "./dom.js";
import { day, epsilon, say } from "./strings.js";

/** @import { Survey } from "/client/js/definition.js" */
/** @import { Child } from "./dom.js" */
/** @typedef {(ledger?: Ledger) => unknown} Turn show another profile, or the same one anew */

const LIMITS = "candor-limits/2"; // in the browser's storage, next to the ledger
const PROFILE = "candor-book/2"; // in the tab's own storage
const TRIAL = "candor-trial";

/** Return the ledger of the profile that is open in this tab, or of the first; in memory if storage is read-only. */
export function openLedger() {
	let profile = 1;
	try {
		profile = Number(sessionStorage[PROFILE] ?? 1);
	} catch {
		// the browser blocks all storage
	}
	const ledger = new Ledger(null, { profile });
	const name = nameOf(ledger);
	try {
		ledger.storage[TRIAL] = "";
		delete ledger.storage[TRIAL];
		return ledger;
	} catch {
		const memory = new Ledger({ [name]: ledger.storage[name] }, { profile });
		memory.persistent = false;
		return memory;
	}
}

/** @param {Ledger} ledger */
const nameOf = ({ profile }) => `${LIMITS} ${profile}`;

/**
 * Return the respondent's limits of a profile, or the default limits.
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
 * Return the panel. `keepsake`: the ticket's link; `objection`: the notice if a limit is exceeded; `alone`: whether no other
 * person was offered a profile above.
 * @param {{ survey: Survey, ledger: Ledger, blocked: boolean, keepsake?: Element | false, bare: boolean, alone: boolean, turn: Turn, objection: () => Child }} page
 */
export function device({ survey, ledger, blocked, keepsake, bare, alone, turn, objection }) {
	const sums = sumsOf(survey, ledger);
	const title = textEl("summary", "device");
	const problem = el("div");
	const entitle = () => {
		const { limit, serverLimit } = limits(ledger);
		const name = ledger.profiles().length > 1 ? say("device_person", { number: ledger.profile }) : say("device");
		const values = { limit, server_limit: serverLimit, host: hostOf(surveyAddress().server), device: name };
		if (sums) setText(title, "budget", { ...sums.spent, ...values });
	};
	const update = () => {
		if (blocked) return turn();
		entitle();
		problem.replaceChildren(el("div", {}, objection()));
	};
	entitle();
	const lines = sums?.lines.map((line) => el("li", {}, line));
	const node = el(
		"details",
		{},
		title,
		textEl("p", "spending"),
		lines && lines.length > 0 && el("ul", {}, lines),
		limitField(ledger, "limit", update),
		limitField(ledger, "serverLimit", update),
		problem,
		textEl("p.hint", "operators"),
		textEl("p.hint", "household"),
		textEl("p", "thief"),
		!bare && [alone && people(ledger, turn), forgetPanel(ledger, turn, keepsake)],
	);
	node.open = blocked;
	return node;
}

/**
 * Return the sums and the lines of the panel; null for a damaged or old ledger, which can only be deleted.
 * @param {Survey} survey
 * @param {Ledger} ledger
 */
function sumsOf(survey, ledger) {
	try {
		const { server } = surveyAddress();
		const spending = ledger.read();
		const charged = Object.values(spending.entries).filter((entry) => entry.day);
		const lines = charged.map((entry) => `${entry.slug}: ε = ${epsilon(entry.epsilon)}, ${day(entry.day)}`);
		const total = epsilon(spentOnServer(spending, server));
		return {
			spent: { spent: epsilon(spentOnSurvey(spending, survey, server)), server_spent: total },
			lines: lines.sort(),
		};
	} catch {
		return null;
	}
}

/**
 * Return an input for one of the respondent's limits.
 * @param {Ledger} ledger
 * @param {"limit" | "serverLimit"} name
 * @param {() => void} update
 */
function limitField(ledger, name, update) {
	const change = () => {
		const isValid = input.value && input.validity.valid;
		const all = limits(ledger);
		if (isValid) ledger.storage[nameOf(ledger)] = JSON.stringify({ ...all, [name]: Number(input.value) });
		else input.value = String(all[name]);
		message.replaceChildren(isValid ? "" : textEl("span", "limit_stays", { limit: all[name] }));
		if (isValid) update();
	};
	const message = el("span.error", { role: "status", ...languageProps });
	const input = el("input", { type: "number", min: 0, step: "any", value: limits(ledger)[name], change });
	return el(
		"p",
		{},
		el("label", {}, textEl("span", name === "limit" ? "limit" : "server_limit"), " ", input),
		" ",
		message,
	);
}

/**
 * Return buttons to open another person's profile, which stays open in this tab.
 * @param {Ledger} ledger
 * @param {Turn} turn
 */
export function people(ledger, turn) {
	/** @param {number} profile */
	const open = (profile) => {
		try {
			sessionStorage[PROFILE] = profile;
		} catch {
			// the profile is open until the page is left
		}
		turn(new Ledger(ledger.persistent ? null : ledger.storage, { profile }));
	};
	const profiles = ledger.profiles();
	const others = profiles.filter((profile) => profile !== ledger.profile);
	return details(
		"others",
		textEl("p", "others_more"),
		el("p.actions", {}, [
			...others.map((profile) =>
				textEl("button", "person", { number: profile }, { type: "button", click: () => open(profile) }),
			),
			button("button", "other_new", () => open(Math.max(...profiles) + 1)),
		]),
	);
}

/**
 * Return a button that deletes the ledger of this profile, with the ticket's link if it would be lost.
 * @param {Ledger} ledger
 * @param {Turn} turn
 * @param {Element | false} [keepsake]
 */
export function forgetPanel(ledger, turn, keepsake) {
	const forget = async () => {
		await ledger.forget();
		turn();
	};
	const lost = keepsake && [textEl("p.note", "ticket_lost"), keepsake];
	return details("forget", textEl("p", "forget_more"), lost, button("button", "forget_yes", forget));
}
