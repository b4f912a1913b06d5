// Canonical JSON: one spelling for every definition, so that a digest names one meaning.
//
// UTF-8, sorted keys, no spaces, no floats, integers below 2^53, no duplicate keys. Bytes that differ from their own
// re-serialization are refused, never repaired. Text is kept as it came (no Unicode normalization), but lone
// surrogates, control characters and bidirectional overrides are refused: what a person reads is what is there. So are
// invisible characters, as of 0.9: two texts that look alike are alike.
// Python also tells the path to a fault; here its code must do.

import { check } from "./errors.js";

const SURROGATE = /\p{Surrogate}/u;
const VISIBLE = /\S|\ufeff/; // Python counts no byte order mark as a space; it is refused below, with all that is invisible
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
const FORBIDDEN = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
// a joiner does something between two of \u0600-\u1fff\u2070-\u{10ffff}, as in Persian and Hindi
const INVISIBLE =
	/[\u00ad\u115f\u1160\u180e\u200b\u2060-\u2064\u206a-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]|[\u200c\u200d]([^\u0600-\u1fff\u2070-\u{10ffff}]|$)|(^|[^\u0600-\u1fff\u2070-\u{10ffff}])[\u200c\u200d]/u;
const THRESHOLD = /^[1-9][0-9]{0,19}$/;
const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const FRACTIONAL = /^-?(0|[1-9][0-9]{0,15})\.[0-9]{0,15}[1-9]$/;

/**
 * The canonical text of a value made of objects, lists, text, integers and booleans. All keys that a definition may
 * have are ASCII, which every language sorts alike.
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
 * @param {any} value
 * @param {RegExp} pattern
 */
export const matches = (value, pattern) => typeof value === "string" && pattern.test(value);

/** @param {unknown} value */
export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/**
 * Non-empty text that shows on a screen what it holds.
 * @param {any} value
 * @returns {string}
 */
export function plainText(value) {
	check(matches(value, VISIBLE) && !matches(value, FORBIDDEN));
	return value;
}

/**
 * Whether there is an invisible character anywhere in a value: in its canonical text they stand as they are.
 * @param {any} value
 */
export const hasInvisible = (value) => INVISIBLE.test(dumps(value));

/**
 * The texts under those of the keys that an object has.
 * @param {any} value
 * @param {string[]} keys
 */
export function plainTexts(value, keys) {
	for (const key of present(value, keys)) plainText(value[key]);
}

/**
 * Those of the keys that an object has; none of them is one that every object has.
 * @param {object} value
 * @param {string[]} keys
 */
export const present = (value, keys) => keys.filter((key) => key in value);

/**
 * An integer from low to high.
 * @param {any} value
 * @param {number} low
 * @param {number} [high]
 * @returns {number}
 */
export function integer(value, low, high = Number.MAX_SAFE_INTEGER) {
	check(Number.isInteger(value) && value >= low && value <= high);
	return value;
}

/**
 * A probability times 2^64, as a decimal string: 1 to 2^64 − 1.
 * @param {any} value
 */
export function threshold(value) {
	check(matches(value, THRESHOLD) && BigInt(value) < 1n << 64n);
	return BigInt(value);
}

/**
 * A decimal in its one spelling: an integer if whole, else text such as "0.25". It is kept as text.
 * @param {unknown} value
 */
export function decimal(value) {
	check(Number.isInteger(value) || matches(value, FRACTIONAL));
	return String(value);
}

/**
 * An object with these keys and no others.
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
 * A list of at least so many.
 * @param {unknown} value
 * @param {number} least
 */
export function items(value, least) {
	check(Array.isArray(value) && value.length >= least);
	return value;
}

/**
 * Texts that differ from one another.
 * @param {unknown} value
 * @param {number} least
 */
export function labelsAt(value, least) {
	const labels = items(value, least).map(plainText);
	check(new Set(labels).size === labels.length);
	return labels;
}

/**
 * A slug or an id.
 * @param {any} value
 * @returns {string}
 */
export function nameAt(value) {
	check(matches(value, NAME));
	return value;
}
