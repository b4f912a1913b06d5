// Canonical JSON: one spelling for every definition, so that a digest names one meaning.
//
// UTF-8, sorted keys, no spaces, no floats, integers below 2^53, no duplicate keys. Bytes that differ from their own
// re-serialization are refused, never repaired. Text is kept as it came (no Unicode normalization), but lone
// surrogates, control characters and bidirectional overrides are refused: what a person reads is what is there.
// Python tells the path to a fault; here a schema of plain tests finds that there is one.

import { check } from "./errors.js";

/** @typedef {(value: any) => boolean} Test */
/** @typedef {Record<string, Test>} Schema */

const SURROGATE = /\p{Surrogate}/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
const FORBIDDEN = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
const THRESHOLD = /^[1-9][0-9]{0,19}$/;
const FRACTIONAL = /^-?(0|[1-9][0-9]{0,15})\.[0-9]{0,15}[1-9]$/;

/**
 * The canonical text of a value made of objects, lists, text, integers and booleans.
 * @param {any} value
 * @returns {string}
 */
export function dumps(value) {
	if (Array.isArray(value)) return `[${value.map(dumps).join(",")}]`;
	if (isObject(value)) {
		const members = Object.keys(value)
			.sort()
			.map((key) => `${dumps(key)}:${dumps(value[key])}`);
		return `{${members.join(",")}}`;
	}
	if (typeof value === "number") check(Number.isSafeInteger(value), "not_canonical");
	check(!matches(value, SURROGATE), "not_canonical");
	return JSON.stringify(value);
}

/**
 * The value of canonical bytes; anything else is refused.
 * @param {Uint8Array} source
 * @returns {any}
 */
export function loads(source) {
	let value;
	let same = false;
	try {
		const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(source);
		value = JSON.parse(text);
		same = dumps(value) === text;
	} catch {
		// not UTF-8, not JSON, or nested too deep: not the same in any case
	}
	check(same, "not_canonical");
	return value;
}

/**
 * @param {unknown} value
 * @param {RegExp} pattern
 */
export const matches = (value, pattern) => typeof value === "string" && pattern.test(value);

/** @type {Test} */
export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** @type {Test} */
export const isName = (value) => matches(value, /^[a-z0-9][a-z0-9_-]{0,62}$/);

/**
 * Non-empty text that shows on a screen what it holds.
 * @type {Test}
 */
export const isText = (value) => matches(value, /\S/) && !matches(value, FORBIDDEN);

/** @type {Test} */
export const isCount = (value) => Number.isInteger(value) && value >= 0;

/**
 * A probability times 2^64, as a decimal string: 1 to 2^64 − 1.
 * @type {Test}
 */
export const isThreshold = (value) => matches(value, THRESHOLD) && BigInt(value) < 1n << 64n;

/**
 * A decimal in its one spelling: an integer if whole, else text such as "0.25".
 * @type {Test}
 */
export const isDecimal = (value) => Number.isInteger(value) || matches(value, FRACTIONAL);

/**
 * The schema's keys and no others, each with a value that passes its test; a key with a question mark may be missing.
 * @param {any} value
 * @param {Schema} schema
 */
export function conform(value, schema) {
	check(isObject(value));
	const tests = new Map(Object.entries(schema).map(([key, test]) => [key.replace("?", ""), test]));
	for (const key of Object.keys(value)) check(tests.has(key), "unknown_key");
	for (const key of Object.keys(schema)) check(key.endsWith("?") || Object.hasOwn(value, key), "missing_key");
	for (const [key, test] of tests) check(!Object.hasOwn(value, key) || test(value[key]));
}

/**
 * The entry of a table under a name that may be anything.
 * @template T
 * @param {unknown} name
 * @param {Record<string, T>} table
 * @returns {T}
 */
export function choose(name, table) {
	check(typeof name === "string" && Object.hasOwn(table, name));
	return table[name];
}
