// One request and its reply: the only module that talks to a network.
//
// It follows no redirect and sends no cookie and no referrer. Whoever cannot be reached is offered the same bytes again,
// a few times, or nothing.

import { isObject } from "./canonical.js";
import { CandorError } from "./errors.js";

/** @typedef {(seconds: number) => unknown} Pause */
/** @typedef {{ attempts?: number, pause?: Pause }} PostOptions */
/** @typedef {{ status: number, body: Uint8Array, said: any }} Reply `said` is the body as JSON, or an empty object */

const TIMEOUT = 20_000;
const ATTEMPTS = 3;

/** @type {RequestInit} */
const QUIET = { credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer", redirect: "error" };

/** @param {number} seconds */
export const sleep = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

/**
 * What is there; anything but a plain yes is thrown.
 * @param {string} url
 */
export async function get(url) {
	const reply = await exchange(url);
	if (reply.status !== 200) throw problem(reply);
	return reply.body;
}

/**
 * What the reply to this text means; the same again while there is no reply that can be understood.
 * @param {string} url
 * @param {string} body
 * @param {(said: any) => string | false} understand
 * @param {{ headers?: Record<string, string> } & PostOptions} [options]
 */
export async function post(url, body, understand, { headers, attempts = ATTEMPTS, pause = sleep } = {}) {
	const request = { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body };
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
