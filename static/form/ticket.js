// Surveys by invitation: the invitation is exchanged for a ticket when the respondent asks for it.

import { CandorError } from "/client/js/errors.js";
import { toBase64url } from "/client/js/report.js";
import { ticketLink } from "/client/js/respond.js";
import { ticketOf } from "/client/js/spending.js";
import { checkTicket, keyOf, ticketFor } from "/client/js/ticket.js";
import { privacyPage, surveyAddress, thisPage } from "./address.js";
import { limits } from "./device.js";
import { button, copyable, details, el, heading, moveFocus, setText, textEl } from "./dom.js";
import { pageData } from "./page_data.js";
import { moment } from "./strings.js";

/** @import { Entry } from "/client/js/spending.js" */
/** @import { Survey } from "/client/js/definition.js" */
/** @import { Ledger } from "/client/js/ledger.js" */
/** @import { Ticket } from "/client/js/report.js" */
/**
 * @typedef {object} Page
 * @property {Survey} survey
 * @property {Ledger} ledger
 * @property {() => unknown} refresh
 * @property {(code?: string, otherwise?: string) => HTMLElement} problem
 */

const LONGEST = 2 ** 31 - 1; // ms that a browser can wait

/**
 * Return a function that draws the screen before the first question; null if the ticket is stored and answering has begun.
 * @param {Page} page
 * @returns {(() => HTMLElement) | null}
 */
export function ticketScreen(page) {
	const { survey, ledger, problem } = page;
	const address = surveyAddress();
	const entry = ledger.read().entries[survey.digest];
	const from = survey.tickets?.from;
	const ticket = entry && ticketOf(entry);
	if (survey.tickets && address.ticket && !ticket) {
		checkTicket(keyOf(survey.tickets), survey.digest, address.ticket);
		return () => brought(page);
	}
	if (address.ticket && toBase64url(address.ticket.prefix) === entry?.prefix) hideTicket();
	if (ticket) return from && Date.now() < Date.parse(from) ? () => waitingScreen(page, ticket, from) : null;
	if (!entry?.r && !address.invitation) return () => problem("ticket_needed");
	if (from && Date.now() >= Date.parse(from)) return () => problem("too_late");
	return () => offer(page, entry);
}

/**
 * Return a note if the link has an invitation or ticket that this profile does not need; it may be for another person.
 * @param {Entry} entry
 * @param {Element} people
 */
export function guest({ stored, prefix, signature }, people) {
	const { invitation, ticket } = surveyAddress();
	const hasOffer = invitation || (ticket && toBase64url(ticket.prefix) !== prefix);
	if (!hasOffer || !(stored || signature)) return null;
	people.setAttribute("open", "");
	return el("section.note", {}, textEl("p", stored ? "ticket_guest_late" : "ticket_guest"), people);
}

/**
 * Return the screen to take a ticket. Only its button sends a request, because mail scanners open links.
 * @param {Page} page
 * @param {Entry} [asked] the entry with a pending request, perhaps for another invitation
 */
function offer({ survey, ledger, refresh, problem }, asked) {
	const { invitation = asked?.code } = surveyAddress();
	const other = asked?.code && asked.code !== invitation;
	const pending = asked?.r && !other;
	const problems = el("div");
	const quiet = el("div", {}, pending ? textEl("p.note", "ticket_pending") : !other && textEl("p", "ticket_quiet"));
	const take = button("button.primary", pending ? "ticket_again" : "ticket_take", async () => {
		take.disabled = true;
		quiet.remove();
		try {
			const means = { ...limits(ledger), attempts: 1 };
			const { prefix } = await ticketFor(survey, surveyAddress(), ledger, means);
			if (!other || toBase64url(prefix) !== asked?.prefix) hideTicket();
			await refresh();
		} catch (error) {
			take.disabled = false;
			setText(take, "ticket_again");
			const code = error instanceof CandorError ? error.code : undefined;
			problems.replaceChildren(problem(code === "unreachable" ? "ticket_unreachable" : code, "no_ticket"));
			moveFocus(problems);
		}
	});
	const { issuer, from } = survey.tickets ?? {};
	return el(
		"section",
		{},
		heading("ticket"),
		textEl("p", "ticket_buys"),
		issuer ? textEl("p", "ticket_issuer", { issuer: new URL(issuer).host }) : textEl("p", "ticket_server"),
		from && textEl("p", "ticket_phases", { moment: moment(from) }),
		pageData.shown && textEl("p", "ticket_date", { moment: moment(pageData.shown) }),
		quiet,
		problems,
		el("p.actions", {}, take),
		textEl("p", "ticket_guess"),
		textEl("p", "ticket_alone"),
		more(),
	);
}

/**
 * Return the screen for a ticket in the link. The person who took it can recognise the report, so it is stored only after
 * the respondent confirms that it is their own.
 * @param {Page} page
 */
function brought({ survey, ledger, refresh, problem }) {
	const problems = el("div");
	const use = button("button.primary", "ticket_use", async () => {
		use.disabled = true;
		try {
			await ticketFor(survey, surveyAddress(), ledger, limits(ledger)); // this sends nothing: the ticket is verified and stored
			hideTicket();
			await refresh();
		} catch (error) {
			use.disabled = false;
			problems.replaceChildren(problem(error instanceof CandorError ? error.code : undefined, "no_ticket"));
			moveFocus(problems);
		}
	});
	return el(
		"section",
		{},
		heading("ticket_brought"),
		textEl("p", "ticket_maker"),
		problems,
		el("p.actions", {}, use),
		textEl("p", "ticket_sent"),
		more(),
	);
}

const more = () => el("p", {}, textEl("a", "ticket_more", {}, { href: `${privacyPage()}#invitation` }));

/**
 * Return the screen of a stored ticket until answering begins.
 * @param {Page} page
 * @param {Ticket} ticket
 * @param {string} from
 */
function waitingScreen({ refresh }, ticket, from) {
	setTimeout(refresh, Math.min(LONGEST, Date.parse(from) - Date.now() + 1000));
	return el(
		"section",
		{},
		heading("ticket_have"),
		textEl("p", "ticket_wait", { moment: moment(from) }),
		textEl("p", "ticket_habits"),
		ticketPanel(ticket),
		more(),
	);
}

/**
 * Return the ticket as a link, for another device or a browser that deletes its storage.
 * @param {Ticket} ticket
 */
export const ticketPanel = (ticket) => details("ticket_elsewhere", textEl("p", "ticket_secret"), linkOf(ticket));

/** @param {Ticket} ticket */
export function linkOf(ticket) {
	const link = ticketLink(surveyAddress(), ticket);
	return copyable(pageData.home ? thisPage(link.split("#")[1]) : link, "ticket_link");
}

/** Remove the used invitation or stored ticket from the address bar. */
export function hideTicket() {
	const { pin } = surveyAddress();
	history.replaceState(null, "", thisPage(pin ? `sha256=${pin}` : ""));
}
