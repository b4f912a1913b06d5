// Fetch, verify, randomize, remember, send. The only module that talks to a network.
//
// It follows no redirect and sends no cookie and no referrer. A report is in the ledger before it is sent, and whatever
// the server answers, it is offered the same bytes again or nothing.

import { isObject } from "./canonical.js";
import { Survey } from "./definition.js";
import { CandorError, check } from "./errors.js";
import { Ledger } from "./ledger.js";
import { randomize } from "./report.js";
import { verify } from "./verify.js";

/** @import { Answers } from "./answer.js" */
/** @import { Report } from "./report.js" */
/** @import { RandomBytes } from "./sampling.js" */
/** @import { Limit } from "./verify.js" */
/** @typedef {{ invitation?: string, attempts?: number, pause?: (seconds: number) => unknown }} SubmitOptions */
/** @typedef {{ limit?: Limit, ledger?: Ledger | null, randomBytes?: RandomBytes } & SubmitOptions} RespondOptions */
/** @typedef {{ status: number, body: Uint8Array, said: any }} Reply `said` is the body as JSON, or an empty object */

const DEFAULT_LIMIT = 10;
const TIMEOUT = 20_000;
const ATTEMPTS = 3;
const PLACE = /^(.*)\/(?:s|api\/surveys)\/([\w-]+)\/?$/;

/** @type {RequestInit} */
const QUIET = { credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer", redirect: "error" };

/** @param {number} seconds */
const sleep = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

/**
 * Read `…/s/<slug>` or `…/api/surveys/<slug>`, with `#sha256=…` or `#code=…` or both.
 * @param {string} url
 */
function parseAddress(url) {
	const { origin, pathname, hash } = new URL(url, globalThis.location?.href);
	const place = PLACE.exec(pathname);
	check(place, "bad_address");
	const [, base, slug] = place;
	const fragment = new URLSearchParams(hash.slice(1));
	for (const [key, value] of fragment) check(["sha256", "code"].includes(key) && value, "bad_address");
	/** @type {{ sha256?: string, code?: string }} */
	const { sha256: pin, code: invitation } = Object.fromEntries(fragment);
	return { api: `${origin}${base}/api/surveys/${slug}`, slug, pin, invitation };
}

/**
 * The survey at this address: well-formed, of this slug, and the one the link pins, if it pins one.
 * @param {string} url
 */
export async function fetch(url) {
	const address = parseAddress(url);
	const reply = await exchange(address.api);
	if (reply.status !== 200) throw problem(reply);
	const survey = Survey.fromJson(reply.body);
	check(survey.slug === address.slug, "wrong_definition");
	check(!address.pin || address.pin === survey.digest, "wrong_definition");
	return survey;
}

/**
 * Answer a survey. `limit: null` allows any ε and `ledger: null` keeps no record; both must be said.
 * @param {string} url
 * @param {Answers} answers
 * @param {RespondOptions} [options]
 */
export async function respond(url, answers, options = {}) {
	const { limit = DEFAULT_LIMIT, ledger = new Ledger(), randomBytes } = options;
	const survey = await fetch(url);
	const whole = verify(survey, { limit });
	const { report, made, epsilon } = ledger
		? ledger.make(survey, answers, { limit, randomBytes })
		: { report: randomize(survey, answers, { randomBytes }), made: true, epsilon: whole };
	const status = await submit(url, report, options);
	ledger?.markStored(survey.digest);
	return { ...JSON.parse(report.toJson()), status, epsilon, repeated: !made };
}

/**
 * Send one report: "stored" or "already_stored". Unreachable servers get the same bytes again, a few times.
 * @param {string} url
 * @param {Report} report
 * @param {SubmitOptions} [options]
 * @returns {Promise<string>}
 */
export async function submit(url, report, { invitation, attempts = ATTEMPTS, pause = sleep } = {}) {
	const address = parseAddress(url);
	const code = invitation ?? address.invitation;
	/** @type {Record<string, string>} */
	const headers = { "Content-Type": "application/json" };
	if (code) headers["Candor-Invitation"] = code;
	const request = { method: "POST", headers, body: report.toJson() };
	for (let attempt = 1; ; attempt++) {
		const reply = await exchange(`${address.api}/reports`, request);
		if (isAcknowledgement(reply)) return reply.said.status;
		const error = problem(reply);
		if (error.code !== "unreachable" || attempt >= attempts) throw error;
		await pause(2 ** attempt);
	}
}

/** @param {Reply} reply */
function isAcknowledgement({ status, said }) {
	return status < 300 && ["stored", "already_stored"].includes(said.status);
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
		return { status: 0, body: new Uint8Array(), said: { detail: error instanceof Error ? error.message : undefined } };
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
