// A survey by invitation: the invitation buys a ticket, when the person presses for it, and the ticket waits here.

import { ticketOf } from "/client/js/spending.js";
import { CandorError } from "/client/js/index.js";
import { toText } from "/client/js/report.js";
import { ticketLink } from "/client/js/respond.js";
import { checkTicket, keyOf, ticketFor } from "/client/js/ticket.js";
import { here, privacyPage, thisPage } from "./address.js";
import { limits } from "./device.js";
import { arrive, button, copyable, details, el, heading, ours } from "./dom.js";
import { moment, say } from "./strings.js";
import { told } from "./told.js";

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
 * What draws the screen before the first question; nothing if there is a ticket and answering has begun.
 * @param {Page} page
 * @returns {(() => HTMLElement) | null}
 */
export function ticketScreen(page) {
	const { survey, ledger, problem } = page;
	const address = here();
	const entry = ledger.read().entries[survey.digest];
	const from = survey.tickets?.from;
	const ticket = entry && ticketOf(entry);
	if (survey.tickets && address.ticket && !ticket) {
		checkTicket(keyOf(survey.tickets), survey.digest, address.ticket);
		return () => brought(page);
	}
	if (address.ticket && toText(address.ticket.prefix) === entry?.prefix) hideTicket();
	if (ticket) return from && Date.now() < Date.parse(from) ? () => waiting(page, ticket, from) : null;
	if (!entry?.r && !address.invitation) return () => problem("ticket_needed");
	if (from && Date.now() >= Date.parse(from)) return () => problem("too_late");
	return () => offer(page, entry);
}

/**
 * Whoever opens a link that this book has no use for may be somebody else, and chooses before anything in it is lost.
 * @param {Entry} entry
 * @param {Element} people
 */
export function guest({ stored, prefix, signature }, people) {
	const { invitation, ticket } = here();
	const brought = invitation || (ticket && toText(ticket.prefix) !== prefix);
	if (!brought || !(stored || signature)) return null;
	people.setAttribute("open", "");
	return el("section.note", {}, ours("p", stored ? "ticket_guest_late" : "ticket_guest"), people);
}

/**
 * Only the button sends: programs that look through mail open links.
 * @param {Page} page
 * @param {Entry} [asked] with a request that is pending, perhaps for another invitation
 */
function offer({ survey, ledger, refresh, problem }, asked) {
	const { invitation = asked?.code } = here();
	const other = asked?.code && asked.code !== invitation;
	const pending = asked?.r && !other;
	const problems = el("div");
	const quiet = el("div", {}, pending ? ours("p.note", "ticket_pending") : !other && ours("p", "ticket_quiet"));
	const take = button("button.primary", pending ? "ticket_again" : "ticket_take", async () => {
		take.disabled = true;
		quiet.remove();
		try {
			const means = { ...limits(ledger), attempts: 1 };
			const { prefix } = await ticketFor(survey, here(), ledger, means);
			if (!other || toText(prefix) !== asked?.prefix) hideTicket();
			await refresh();
		} catch (error) {
			take.disabled = false;
			take.textContent = say("ticket_again");
			const code = error instanceof CandorError ? error.code : undefined;
			problems.replaceChildren(problem(code === "unreachable" ? "ticket_unreachable" : code, "no_ticket"));
			arrive(problems);
		}
	});
	const { issuer, from } = survey.tickets ?? {};
	return el(
		"section",
		{},
		heading("ticket"),
		ours("p", "ticket_buys"),
		issuer ? ours("p", "ticket_issuer", { issuer: new URL(issuer).host }) : ours("p", "ticket_server"),
		from && ours("p", "ticket_phases", { moment: moment(from) }),
		told.shown && ours("p", "ticket_date", { moment: moment(told.shown) }),
		quiet,
		problems,
		el("p.actions", {}, take),
		ours("p", "ticket_guess"),
		ours("p", "ticket_alone"),
		more(),
	);
}

/**
 * Whoever made a ticket knows the report that comes with it: it is kept only if the person says that it is their own.
 * @param {Page} page
 */
function brought({ survey, ledger, refresh, problem }) {
	const problems = el("div");
	const use = button("button.primary", "ticket_use", async () => {
		use.disabled = true;
		try {
			await ticketFor(survey, here(), ledger, limits(ledger)); // nothing is sent for it: it is verified, and kept
			hideTicket();
			await refresh();
		} catch (error) {
			use.disabled = false;
			problems.replaceChildren(problem(error instanceof CandorError ? error.code : undefined, "no_ticket"));
			arrive(problems);
		}
	});
	return el(
		"section",
		{},
		heading("ticket_brought"),
		ours("p", "ticket_maker"),
		problems,
		el("p.actions", {}, use),
		ours("p", "ticket_sent"),
		more(),
	);
}

const more = () => el("p", {}, ours("a", "ticket_more", {}, { href: `${privacyPage()}#invitation` }));

/**
 * @param {Page} page
 * @param {Ticket} ticket
 * @param {string} from
 */
function waiting({ refresh }, ticket, from) {
	setTimeout(refresh, Math.min(LONGEST, Date.parse(from) - Date.now() + 1000));
	return el(
		"section",
		{},
		heading("ticket_have"),
		ours("p", "ticket_wait", { moment: moment(from) }),
		ours("p", "ticket_habits"),
		elsewhere(ticket),
		more(),
	);
}

/**
 * The ticket as a link, for another device or a browser that forgets.
 * @param {Ticket} ticket
 */
export const elsewhere = (ticket) => details("ticket_elsewhere", ours("p", "ticket_secret"), linkOf(ticket));

/** @param {Ticket} ticket */
export function linkOf(ticket) {
	const link = ticketLink(here(), ticket);
	return copyable(told.home ? thisPage(link.split("#")[1]) : link, "ticket_link");
}

/** The code has done its work, or the ticket is in the ledger: neither shall stay in the address bar. */
export function hideTicket() {
	const { pin } = here();
	history.replaceState(null, "", thisPage(pin ? `sha256=${pin}` : ""));
}
