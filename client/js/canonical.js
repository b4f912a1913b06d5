// Canonical JSON: one spelling for every definition, so that a digest identifies one meaning.
//
// UTF-8, sorted keys, no spaces, no floats, integers below 2^53, no duplicate keys. Bytes that differ from their own
// re-serialization are refused, never repaired. Text is not normalized. Lone surrogates, control characters and
// bidirectional overrides are refused, so that a reader sees the text as it is. As of 0.9 invisible characters are refused
// too, so that two texts that look alike are equal.
// Errors in Python have the path to the fault too; here they have a code only.

import { check } from "./errors.js";

const SURROGATE = /\p{Surrogate}/u;
const VISIBLE = /\S|\ufeff/; // in Python a byte order mark is no space either; it is refused below as an invisible character
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are refused
const FORBIDDEN = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
// a joiner is visible between two of \u0600-\u1fff\u2070-\u{10ffff}, as in Persian and Hindi
const INVISIBLE =
	/[\u00ad\u115f\u1160\u180e\u200b\u2060-\u2064\u206a-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]|[\u200c\u200d]([^\u0600-\u1fff\u2070-\u{10ffff}]|$)|(^|[^\u0600-\u1fff\u2070-\u{10ffff}])[\u200c\u200d]/u;
const THRESHOLD = /^[1-9][0-9]{0,19}$/;
const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const FRACTIONAL = /^-?(0|[1-9][0-9]{0,15})\.[0-9]{0,15}[1-9]$/;

/**
 * Return the canonical text of a value made of objects, lists, text, integers and booleans.
 *
 * All keys of definitions are ASCII, which every programming language sorts in the same order.
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
 * Return the value of canonical bytes; throw not_canonical for any other bytes.
 * @param {Uint8Array} source
 * @returns {any}
 */
export function loads(source) {
	let value;
	let exact = false;
	try {
		const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(source);
		value = JSON.parse(text);
		exact = dumps(value) === text;
	} catch {
		// not UTF-8, not JSON, or nested too deep
	}
	check(exact, "not_canonical");
	return value;
}

/**
 * @param {any} value
 * @param {RegExp} pattern
 */
export const matches = (value, pattern) => typeof value === "string" && pattern.test(value);

/** @param {unknown} value */
export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/**
 * Return a value that is non-empty text without control characters; throw bad_value for any other.
 * @param {any} value
 * @returns {string}
 */
export function parseText(value) {
	check(matches(value, VISIBLE) && !matches(value, FORBIDDEN));
	return value;
}

/**
 * Return whether any text of a value has an invisible character; canonical text does not escape them.
 * @param {any} value
 */
export const hasInvisible = (value) => INVISIBLE.test(dumps(value));

/**
 * Check the texts under those keys that an object has; throw bad_value.
 * @param {any} value
 * @param {string[]} keys
 */
export function parseTexts(value, keys) {
	for (const key of present(value, keys)) parseText(value[key]);
}

/**
 * Return those keys that an object has; none of them may be a key of Object.prototype.
 * @param {object} value
 * @param {string[]} keys
 */
export const present = (value, keys) => keys.filter((key) => key in value);

/**
 * Return an integer from low to high; throw bad_value for any other value.
 * @param {any} value
 * @param {number} low
 * @param {number} [high]
 * @returns {number}
 */
export function parseInteger(value, low, high = Number.MAX_SAFE_INTEGER) {
	check(Number.isInteger(value) && value >= low && value <= high);
	return value;
}

/**
 * Return a probability times 2^64 from a decimal string, 1 to 2^64 − 1; throw bad_value for any other.
 * @param {any} value
 */
export function parseThreshold(value) {
	check(matches(value, THRESHOLD) && BigInt(value) < 1n << 64n);
	return BigInt(value);
}

/**
 * Return a decimal, as text, from an integer or from text such as "0.25"; throw bad_value for any other spelling.
 * @param {unknown} value
 */
export function parseDecimal(value) {
	check(Number.isInteger(value) || matches(value, FRACTIONAL));
	return String(value);
}

/**
 * Check that a value is an object with these keys and no others; throw unknown_key or missing_key.
 * @param {any} value
 * @param {string[]} required
 * @param {string[]} [optional]
 */
export function checkKeys(value, required, optional = []) {
	check(isObject(value));
	for (const key of Object.keys(value)) check(required.includes(key) || optional.includes(key), "unknown_key");
	for (const key of required) check(Object.hasOwn(value, key), "missing_key");
}

/**
 * Return a list with at least `least` items; throw bad_value for any other value.
 * @param {unknown} value
 * @param {number} least
 */
export function parseList(value, least) {
	check(Array.isArray(value) && value.length >= least);
	return value;
}

/**
 * Return a list of texts that all differ; throw bad_value for any other value.
 * @param {unknown} value
 * @param {number} least
 */
export function parseLabels(value, least) {
	const labels = parseList(value, least).map(parseText);
	check(new Set(labels).size === labels.length);
	return labels;
}

/**
 * Return a slug or an id; throw bad_value if it is neither.
 * @param {any} value
 * @returns {string}
 */
export function parseName(value) {
	check(matches(value, NAME));
	return value;
}
