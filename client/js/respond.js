// The steps of answering a survey, in order: fetch, verify, take a ticket, randomize, store, send; and all network code.
//
// A report is stored before it is sent. After any reply of the server, the client sends the same bytes again or nothing.
// An invitation is never sent with a report: it is exchanged for a ticket, which the issuer signs without seeing it. The
// client follows no redirect and sends no cookie or referrer. Nothing after the # of a link is sent as part of an address.
// Plain http is accepted only on this machine; a page loaded over plain http from another machine sends nothing.
//
// The time that a device takes to randomize is hidden: a report is sent at the first whole second after it is stored,
// counted from the moment when the device began to randomize.

import { isObject } from "./canonical.js";
import { Survey } from "./definition.js";
import { CandorError, check } from "./errors.js";
import { Ledger } from "./ledger.js";
import { fromBase64url, toBase64url } from "./report.js";
import { charge, find, reportOf } from "./spending.js";
import { verify } from "./verify.js";

/** @import { Answers } from "./answer.js" */
/** @import { Entry, Limits } from "./spending.js" */
/** @import { Tickets } from "./definition.js" */
/** @import { Report, Ticket } from "./report.js" */
/** @import { RandomBytes } from "./sampling.js" */
/** @typedef {(seconds: number) => unknown} Pause */
/** @typedef {{ attempts?: number, pause?: Pause }} PostOptions */
/** @typedef {{ status: number, body: Uint8Array, said: any }} Reply `said` is the body as JSON, or an empty object */
/**
 * The server with any path before the survey's, the URL of the definition, and the parameters of the link's fragment.
 * @typedef {object} Address
 * @property {string} server
 * @property {string} slug
 * @property {string} api
 * @property {string} [pin]
 * @property {string} [invitation]
 * @property {Ticket} [ticket]
 */
/**
 * `clock` counts seconds from an arbitrary moment, `now` milliseconds since 1970.
 * @typedef {{ randomBytes?: RandomBytes, clock?: () => number, now?: () => number } & Limits & PostOptions} Means
 */
/** @typedef {{ ledger?: Ledger | null } & Means} RespondOptions */
/** @typedef {{ address: Address, survey: Survey, store: Ledger, entry: Entry }} Visit a survey that can be answered now */

const TIMEOUT = 20_000;
const ATTEMPTS = 3;
const LOCAL = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const PLACE = /^(.*)\/(?:s|api\/surveys)\/([\w-]+)\/?$/;
const CODE = /^[\x21-\x7e]{1,200}$/; // fits into an HTTP header
const TICKET = /^[\w-]{43}\.[\w-]{512}$/; // 32 and 384 bytes

/** @type {RequestInit} */
const QUIET = { credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer", redirect: "error" };

/** Return seconds of a monotonic clock. */
export const monotonic = () => performance.now() / 1000;

/**
 * Return the survey at an address; throw wrong_definition if it has another slug, or another digest than the link pins.
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
 * Return the ticket of this device: from the ledger, from the link, or issued for the link's invitation.
 * @param {string} url
 * @param {RespondOptions} [options]
 */
export async function takeTicket(url, { ledger = new Ledger(), ...means } = {}) {
	const { ticketFor } = await import("./ticket.js");
	return ticketFor(await fetch(url), parseAddress(url), ledger ?? new Ledger({}), means);
}

/**
 * Answer a survey and return the receipt. `limit: null` and `serverLimit: null` allow any ε, and `ledger: null` keeps no
 * record. If the server has stored a report of this device already, nothing is sent and the receipt has no bits.
 * @param {string} url
 * @param {Answers} answers
 * @param {RespondOptions} [options]
 */
export async function respond(url, answers, { ledger = new Ledger(), ...means } = {}) {
	const visit = await prepare(url, ledger, means);
	const began = (means.clock ?? monotonic)();
	const { entry, made } = await visit.store.make(visit.survey, answers, { server: visit.address.server, ...means });
	return deliver(visit, entry, !made, began, means);
}

/**
 * Fetch and verify a survey, take a ticket if it needs one, and draw the field to ask.
 * @param {string} url
 * @param {Ledger | null} ledger
 * @param {Means} means
 * @returns {Promise<Visit>}
 */
export async function prepare(url, ledger, means) {
	const { now = Date.now, limit, randomBytes } = means;
	const address = parseAddress(url);
	const survey = await fetch(url);
	const store = ledger ?? new Ledger({});
	let entry = find(store.read(), survey, address.server);
	if (!entry.stored) verify(survey, { limit });
	if (!entry.stored && !entry.bits) {
		if (survey.tickets) {
			if (!ledger) checkPhase(survey, now); // without a ledger a ticket is lost at once, so it is not taken too early
			const { ticketFor } = await import("./ticket.js");
			await ticketFor(survey, address, store, means);
			checkPhase(survey, now);
		}
		charge(store.read(), survey, address.server, means);
		entry = await store.begin(survey, address.server, randomBytes);
	}
	return { address, survey, store, entry };
}

/**
 * Send the report of an entry at a whole second and return the receipt. Nothing is sent if the server has stored it.
 * @param {Visit} visit
 * @param {Entry} entry
 * @param {boolean} repeated
 * @param {number} began
 * @param {Means} means
 */
export async function deliver({ address, survey, store }, entry, repeated, began, means) {
	const receipt = { survey: survey.digest, epsilon: Number(entry.epsilon), repeated };
	if (entry.stored) return { ...receipt, bits: null, status: "already_stored" };
	await waitForSecond(began, means.clock, means.pause);
	const sent = submit(address.api, reportOf(survey.digest, entry), means);
	// the report or another one with its ticket is stored; the server's reply matters more than an error of the ledger
	const ended = await sent.then(Boolean, ({ code }) => survey.tickets && code === "id_taken");
	if (ended) await store.acknowledge(survey, address.server).catch(() => null);
	return { ...receipt, bits: entry.bits, status: await sent };
}

/**
 * Send one report and return "stored" or "already_stored". If the server is unreachable, the same bytes are sent again.
 * @param {string} url
 * @param {Report} report
 * @param {PostOptions} [options]
 */
export async function submit(url, report, { attempts, pause } = {}) {
	/** @param {any} reply */
	const parse = ({ status }) => ["stored", "already_stored"].includes(status) && status;
	return post(`${parseAddress(url).api}/reports`, report.toJson(), parse, { attempts, pause });
}

/**
 * Wait until a whole number of seconds, at least one, has passed since a reading of the clock.
 * @param {number} began
 * @param {() => number} [clock]
 * @param {Pause} [pause]
 */
export async function waitForSecond(began, clock = monotonic, pause = sleep) {
	const passed = clock() - began;
	await pause(Math.max(1, Math.ceil(passed)) - passed);
}

/**
 * Throw too_early before the moment from which a survey accepts reports.
 * @param {{ tickets?: Tickets }} survey
 * @param {() => number} [now]
 */
export function checkPhase({ tickets }, now = Date.now) {
	check(!tickets?.from || now() >= Date.parse(tickets.from), "too_early", tickets?.from);
}

/**
 * Parse `…/s/<slug>` or `…/api/surveys/<slug>`, with `#sha256=…`, `#code=…` and `#ticket=…`, once each.
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
 * Return whether requests to an address, and the page that sends them, are protected from others on the network.
 * @param {string} url
 */
export function isPrivate(url) {
	const { isSecureContext = true, location } = globalThis; // only browsers have them
	const { protocol, hostname, origin } = new URL(url, location?.href);
	const near = protocol === "http:" && (LOCAL.test(hostname) || origin === location?.origin);
	return isSecureContext && (protocol === "https:" || near);
}

/**
 * Return the URL that issues tickets of a survey: at its own server, or at the one that its definition names.
 * @param {Address} address
 * @param {Survey} survey
 */
export function issuerOf({ server, slug }, { tickets }) {
	const issuer = tickets?.issuer ?? server;
	check(issuer.startsWith("https:") || (server.startsWith("http:") && isPrivate(issuer)), "bad_address");
	return `${issuer}/api/surveys/${slug}/tickets`;
}

/**
 * Return a link that carries the ticket to another device, with the pin if there was one.
 * @param {Address} address
 * @param {Ticket} ticket
 */
export function ticketLink({ server, slug, pin }, { prefix, signature }) {
	const pinned = pin ? `sha256=${pin}&` : "";
	return `${server}/s/${slug}#${pinned}ticket=${toBase64url(prefix)}.${toBase64url(signature)}`;
}

/**
 * @param {string} text
 * @returns {Ticket}
 */
function readTicket(text) {
	check(TICKET.test(text), "bad_ticket");
	const [prefix, signature] = text.split(".").map(fromBase64url);
	check(text.startsWith(toBase64url(prefix)), "bad_ticket"); // the only accepted spelling
	return { prefix, signature };
}

/** @param {number} seconds */
export const sleep = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

/**
 * Send text and return the reply as read by `parse`. It is sent again while there is no reply that `parse` accepts.
 * @param {string} url
 * @param {string} body
 * @param {(reply: any) => string | false} parse
 * @param {{ headers?: Record<string, string> } & PostOptions} [options]
 */
export async function post(url, body, parse, { headers, attempts = ATTEMPTS, pause = sleep } = {}) {
	const request = {
		method: "POST",
		headers: { "Content-Type": "application/json", "Accept-Language": "*", ...headers }, // not the reader's languages
		body,
	};
	for (let attempt = 1; ; attempt++) {
		const reply = await exchange(url, request);
		const result = reply.status < 300 && parse(reply.said);
		if (result) return result;
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
 * Return the server's reply; the status is 0 if the reply is not complete in time.
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
