// Fetch, verify, take a ticket, randomize, remember, send: the way of an answer, in order, and all that talks to a network.
//
// A report is stored before it is sent, and whatever the server answers, it is offered the same bytes again or nothing.
// An invitation never travels with a report: it buys a ticket, and what the issuer signs it has not seen. No redirect is
// followed, no cookie and no referrer sent, and nothing after the # of a link leaves the device as part of an address.
// Plain http is for this machine alone, and a page that came by it from elsewhere sends nothing.
//
// How long a device takes to randomize tells nothing: a report leaves at the first whole second, counted from when the
// device began to randomize, by which it is stored.

import { find, reportOf } from "./spending.js";
import { isObject } from "./canonical.js";
import { Survey } from "./definition.js";
import { CandorError, check } from "./errors.js";
import { Ledger } from "./ledger.js";
import { fromText, toText } from "./report.js";
import { verify } from "./verify.js";

/** @import { Answers } from "./answer.js" */
/** @import { Limits } from "./spending.js" */
/** @import { Tickets } from "./definition.js" */
/** @import { Report, Ticket } from "./report.js" */
/** @import { RandomBytes } from "./sampling.js" */
/** @typedef {(seconds: number) => unknown} Pause */
/** @typedef {{ attempts?: number, pause?: Pause }} PostOptions */
/** @typedef {{ status: number, body: Uint8Array, said: any }} Reply `said` is the body as JSON, or an empty object */
/**
 * The server with any path before the survey's, where the definition is, and what the link's fragment says.
 * @typedef {object} Address
 * @property {string} server
 * @property {string} slug
 * @property {string} api
 * @property {string} [pin]
 * @property {string} [invitation]
 * @property {Ticket} [ticket]
 */
/**
 * `clock` counts seconds from any moment on, `now` milliseconds since 1970.
 * @typedef {{ randomBytes?: RandomBytes, clock?: () => number, now?: () => number } & Limits & PostOptions} Means
 */
/** @typedef {{ ledger?: Ledger | null } & Means} RespondOptions */

const TIMEOUT = 20_000;
const ATTEMPTS = 3;
const LOCAL = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const PLACE = /^(.*)\/(?:s|api\/surveys)\/([\w-]+)\/?$/;
const CODE = /^[\x21-\x7e]{1,200}$/; // what can travel in a header
const TICKET = /^[\w-]{43}\.[\w-]{512}$/; // 32 and 384 bytes

/** @type {RequestInit} */
const QUIET = { credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer", redirect: "error" };

/** Seconds on a clock that nobody sets. */
export const monotonic = () => performance.now() / 1000;

/**
 * The survey at this address: well-formed, of this slug, and the one the link pins, if it pins one.
 * @param {string} url
 */
export async function fetch(url) {
	const { api, slug, pin } = parseAddress(url);
	const reply = await exchange(api);
	if (reply.status !== 200) throw problem(reply);
	const survey = Survey.fromJson(reply.body);
	check(survey.slug === slug && (!pin || pin === survey.digest), "wrong_definition");
	return survey;
}

/**
 * The ticket of this device: the one it has, the one in the link, or one for the link's invitation.
 * @param {string} url
 * @param {RespondOptions} [options]
 */
export async function takeTicket(url, { ledger = new Ledger(), ...means } = {}) {
	const { ticketFor } = await import("./ticket.js");
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
		const { ticketFor } = await import("./ticket.js");
		await ticketFor(survey, address, book, means);
		checkPhase(survey, now);
	}
	const began = clock();
	const { entry, made } = await book.make(survey, answers, { server: address.server, ...means });
	const receipt = { survey: survey.digest, epsilon: Number(entry.epsilon), repeated: !made };
	if (entry.stored) return { ...receipt, bits: null, status: "already_stored" };
	await untilWholeSecond(began, clock, pause);
	const sent = submit(url, reportOf(survey.digest, entry), means);
	// it has ended: stored, or another report came with its ticket; what the server said must not be lost for it
	const ended = await sent.then(Boolean, ({ code }) => survey.tickets && code === "id_taken");
	if (ended) await book.acknowledge(survey, address.server).catch(() => null);
	return { ...receipt, bits: entry.bits, status: await sent };
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
 * Read `…/s/<slug>` or `…/api/surveys/<slug>`, with `#sha256=…`, `#code=…` and `#ticket=…`, once each.
 * @param {string} url
 * @returns {Address}
 */
export function parseAddress(url) {
	const { origin, pathname, hash } = new URL(url, globalThis.location?.href);
	const place = PLACE.exec(pathname);
	check(place && isPrivate(url), "bad_address");
	const [, base, slug] = place;
	const parts = [...new URLSearchParams(hash.slice(1))];
	for (const [key, value] of parts) check(["sha256", "code", "ticket"].includes(key) && value, "bad_address");
	/** @type {Record<string, string | undefined>} */
	const named = Object.fromEntries(parts);
	check(Object.keys(named).length === parts.length, "bad_address");
	const { sha256: pin, code: invitation, ticket } = named;
	check(!invitation || CODE.test(invitation), "bad_address");
	const server = `${origin}${base}`;
	const api = `${server}/api/surveys/${slug}`;
	return { server, slug, api, pin, invitation, ticket: ticket ? readTicket(ticket) : undefined };
}

/**
 * Whether nobody on the way can read or change what goes to an address, nor has changed the page that sends it.
 * @param {string} url
 */
export function isPrivate(url) {
	const { isSecureContext = true, location } = globalThis; // only browsers have them
	const { protocol, hostname, origin } = new URL(url, location?.href);
	const near = protocol === "http:" && (LOCAL.test(hostname) || origin === location?.origin);
	return isSecureContext && (protocol === "https:" || near);
}

/**
 * Where tickets of a survey are taken: at its own server, or at the one that its definition names.
 * @param {Address} address
 * @param {Survey} survey
 */
export function issuerOf({ server, slug }, { tickets }) {
	const issuer = tickets?.issuer ?? server;
	check(issuer.startsWith("https:") || (server.startsWith("http:") && isPrivate(issuer)), "bad_address");
	return `${issuer}/api/surveys/${slug}/tickets`;
}

/**
 * A link to save: it carries the ticket to another device, and the pin if there was one.
 * @param {Address} address
 * @param {Ticket} ticket
 */
export function ticketLink({ server, slug, pin }, { prefix, signature }) {
	const pinned = pin ? `sha256=${pin}&` : "";
	return `${server}/s/${slug}#${pinned}ticket=${toText(prefix)}.${toText(signature)}`;
}

/**
 * @param {string} text
 * @returns {Ticket}
 */
function readTicket(text) {
	check(TICKET.test(text), "bad_ticket");
	const [prefix, signature] = text.split(".").map(fromText);
	check(text.startsWith(toText(prefix)), "bad_ticket"); // its one spelling
	return { prefix, signature };
}

/** @param {number} seconds */
export const sleep = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

/**
 * What the reply to this text means; the same again while there is no reply that can be understood.
 * @param {string} url
 * @param {string} body
 * @param {(said: any) => string | false} understand
 * @param {{ headers?: Record<string, string> } & PostOptions} [options]
 */
export async function post(url, body, understand, { headers, attempts = ATTEMPTS, pause = sleep } = {}) {
	const request = {
		method: "POST",
		headers: { "Content-Type": "application/json", "Accept-Language": "*", ...headers }, // not what the reader prefers
		body,
	};
	for (let attempt = 1; ; attempt++) {
		const reply = await exchange(url, request);
		const understood = reply.status < 300 && understand(reply.said);
		if (understood) return understood;
		const error = problem(reply);
		if (error.code !== "unreachable" || attempt >= attempts) throw error;
		await pause(2 ** attempt);
	}
}

/** @param {Reply} reply */
function problem({ status, said }) {
	const final = status >= 400 && status < 500 && status !== 429;
	return new CandorError(final ? (said.code ?? "http_error") : "unreachable", said.detail);
}

/**
 * What the server said; the status is 0 if there is no whole reply in time.
 * @param {string} url
 * @param {RequestInit} [options]
 * @returns {Promise<Reply>}
 */
async function exchange(url, options) {
	try {
		const response = await globalThis.fetch(url, { ...QUIET, ...options, signal: AbortSignal.timeout(TIMEOUT) });
		const body = new Uint8Array(await response.arrayBuffer());
		return { status: response.status, body, said: readObject(body) };
	} catch (error) {
		return { status: 0, body: new Uint8Array(), said: { detail: String(error) } };
	}
}

/**
 * @param {Uint8Array} body
 * @returns {any}
 */
function readObject(body) {
	try {
		const value = JSON.parse(new TextDecoder().decode(body));
		return isObject(value) ? value : {};
	} catch {
		return {};
	}
}
