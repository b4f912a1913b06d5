// Fetch, verify, take a ticket, randomize, remember, send: the way of an answer, in order.
//
// A report is stored before it is sent, and whatever the server answers, it is offered the same bytes again or nothing.
// An invitation never travels with a report: it buys a ticket, and what the issuer signs it has not seen.
//
// How long a device takes to randomize tells nothing: a report leaves at the first whole second, counted from when the
// device began to randomize, by which it is stored.

import { issuerOf, parseAddress } from "./address.js";
import { charge, find, reportOf, ticketOf } from "./book.js";
import { matches } from "./canonical.js";
import { Survey } from "./definition.js";
import { CandorError, check } from "./errors.js";
import { get, post, sleep } from "./exchange.js";
import { Ledger } from "./ledger.js";
import { fromText, toText } from "./report.js";
import { bigEndian, systemBytes } from "./sampling.js";
import { verify } from "./verify.js";

/** @import { Answers } from "./answer.js" */
/** @import { Address } from "./address.js" */
/** @import { Entry, Limits } from "./book.js" */
/** @import { Tickets } from "./definition.js" */
/** @import { Pause, PostOptions } from "./exchange.js" */
/** @import { Report, Ticket } from "./report.js" */
/** @import { RandomBytes } from "./sampling.js" */
/**
 * `clock` counts seconds from any moment on, `now` milliseconds since 1970.
 * @typedef {{ randomBytes?: RandomBytes, clock?: () => number, now?: () => number } & Limits & PostOptions} Means
 */
/** @typedef {{ ledger?: Ledger | null } & Means} RespondOptions */

const SIGNATURE = /^[\w-]{512}$/;
const NO_TICKET = ["not_invited", "already_issued"]; // of a pending invitation: another one may take its place

/** Seconds on a clock that nobody sets. */
export const monotonic = () => performance.now() / 1000;

/**
 * The survey at this address: well-formed, of this slug, and the one the link pins, if it pins one.
 * @param {string} url
 */
export async function fetch(url) {
	const { api, slug, pin } = parseAddress(url);
	const survey = Survey.fromJson(await get(api));
	check(survey.slug === slug, "wrong_definition");
	check(!pin || pin === survey.digest, "wrong_definition");
	return survey;
}

/**
 * The ticket of this device: the one it has, the one in the link, or one for the link's invitation.
 * @param {string} url
 * @param {RespondOptions} [options]
 */
export async function takeTicket(url, { ledger = new Ledger(), ...means } = {}) {
	return ticketFor(await fetch(url), parseAddress(url), ledger ?? new Ledger({}), means);
}

/**
 * Answer a survey. `limit: null` and `serverLimit: null` allow any ε, and `ledger: null` keeps no record; each must be
 * said. Where this definition was answered before, nothing is sent: the receipt has no bits.
 * @param {string} url
 * @param {Answers} answers
 * @param {RespondOptions} [options]
 */
export async function respond(url, answers, { ledger = new Ledger(), ...means } = {}) {
	const { clock = monotonic, pause = sleep, now = Date.now } = means;
	const address = parseAddress(url);
	const survey = await fetch(url);
	const book = ledger ?? new Ledger({});
	const { stored, bits } = find(book.read(), survey, address.server);
	if (!stored) verify(survey, { limit: means.limit });
	if (survey.tickets && !stored && !bits) {
		if (!ledger) checkPhase(survey, now); // a ticket that cannot be kept is not taken before it can be used
		await ticketFor(survey, address, book, means);
		checkPhase(survey, now);
	}
	const began = clock();
	const { entry, made } = await book.make(survey, answers, { server: address.server, ...means });
	const receipt = { survey: survey.digest, epsilon: Number(entry.epsilon), repeated: !made };
	if (entry.stored) return { ...receipt, bits: null, status: "already_stored" };
	await untilWholeSecond(began, clock, pause);
	const status = await submit(url, reportOf(survey.digest, entry), means);
	await book.acknowledge(survey, address.server).catch(() => null); // the receipt must not be lost for it
	return { ...receipt, bits: entry.bits, status };
}

/**
 * Send one report: "stored" or "already_stored". Unreachable servers get the same bytes again, a few times.
 * @param {string} url
 * @param {Report} report
 * @param {PostOptions} [options]
 */
export async function submit(url, report, { attempts, pause } = {}) {
	/** @param {any} said */
	const acknowledged = ({ status }) => ["stored", "already_stored"].includes(status) && status;
	return post(`${parseAddress(url).api}/reports`, report.toJson(), acknowledged, { attempts, pause });
}

/**
 * Wait for the next whole second, the first at the earliest, counted from a reading of the clock.
 * @param {number} began
 * @param {() => number} [clock]
 * @param {Pause} [pause]
 */
export async function untilWholeSecond(began, clock = monotonic, pause = sleep) {
	const passed = clock() - began;
	await pause(Math.max(1, Math.ceil(passed)) - passed);
}

/**
 * Throws too_early while tickets are taken and nobody answers yet.
 * @param {{ tickets?: Tickets }} survey
 * @param {() => number} [now]
 */
export function checkPhase({ tickets }, now = Date.now) {
	check(!tickets?.from || now() >= Date.parse(tickets.from), "too_early", tickets?.from);
}

/**
 * The ticket, from the ledger, the link or the issuer; a request that is pending is repeated first.
 * @param {Survey} survey
 * @param {Address} address
 * @param {Ledger} ledger
 * @param {Means} [means]
 * @returns {Promise<Ticket>}
 */
export async function ticketFor(survey, address, ledger, means = {}) {
	const { tickets } = survey;
	if (!tickets) throw new RangeError("this survey takes no tickets");
	const { server, invitation, ticket } = address;
	const book = ledger.read();
	const entry = find(book, survey, server);
	if (entry.signature || entry.stored) return held(entry);
	const { checkTicket, drawBlinding } = await import("./ticket.js");
	const key = keyOf(tickets);
	if (ticket) {
		checkTicket(key, survey.digest, ticket);
		return held(await ledger.keep(survey, server, ticket));
	}
	check(entry.r || invitation, "ticket_needed");
	const { now = Date.now, randomBytes = systemBytes } = means;
	check(!tickets.from || now() < Date.parse(tickets.from), "too_late", tickets.from);
	charge(book, survey, server, means);
	if (entry.r && invitation && invitation !== entry.code) {
		try {
			return await finish(survey, address, ledger, entry, means);
		} catch (error) {
			if (!(error instanceof CandorError && NO_TICKET.includes(error.code))) throw error;
			await ledger.drop(survey, server, entry);
		}
	}
	const code = invitation ?? "";
	const pending = await ledger.take(survey, server, code, () => drawBlinding(key, randomBytes));
	return finish(survey, address, ledger, pending, means);
}

/**
 * Send what is pending: the same every time, whatever happens in between.
 * @param {Survey} survey
 * @param {Address} address
 * @param {Ledger} ledger
 * @param {Entry} pending
 * @param {Means} means
 */
async function finish(survey, address, ledger, pending, { attempts, pause }) {
	const { code, prefix, salt, r } = pending;
	if (!survey.tickets || !code || !prefix || !salt || !r) return held(pending);
	const { blind, finalize, messageOf } = await import("./ticket.js");
	const key = keyOf(survey.tickets);
	const message = messageOf(fromText(prefix), survey.digest);
	const blinding = bigEndian(fromText(r));
	const blinded = toText(blind(key, message, fromText(salt), blinding));
	/** @param {any} said */
	const signed = ({ signature }) => matches(signature, SIGNATURE) && signature;
	const blindSignature = await post(
		issuerOf(address, survey),
		JSON.stringify({ survey: survey.digest, blinded }),
		signed,
		{ headers: { "Candor-Invitation": code }, attempts, pause },
	);
	const signature = finalize(key, message, fromText(blindSignature), blinding);
	return held(await ledger.keep(survey, address.server, { prefix: fromText(prefix), signature }));
}

/** @param {Tickets} tickets */
const keyOf = ({ key }) => bigEndian(fromText(key));

/**
 * @param {Entry} entry
 * @returns {Ticket}
 */
function held(entry) {
	const ticket = ticketOf(entry);
	check(ticket, "ticket_needed"); // this device has answered; its ticket is used and forgotten
	return ticket;
}
