// Canonical JSON: what differs from its own re-serialization is refused.

import { check } from "./errors.js";

export const matches = (x, pattern) => typeof x === "string" && pattern.test(x);

export const isObject = (x) => x !== null && typeof x === "object" && !Array.isArray(x);
export const isCount = (x) => Number.isInteger(x) && x >= 0;
export const isName = (x) => matches(x, /^[a-z0-9][a-z0-9_-]{0,62}$/);
export const isThreshold = (x) => matches(x, /^[1-9][0-9]{0,19}$/) && BigInt(x) < 1n << 64n;
export const isDecimal = (x) =>
	Number.isInteger(x) || matches(x, /^-?(0|[1-9][0-9]{0,15})\.[0-9]{0,15}[1-9]$/);
// no control characters, no bidirectional overrides
export const isText = (x) =>
	matches(x, /\S/) && !/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/.test(x);

export function dumps(value) {
	if (Array.isArray(value)) return `[${value.map(dumps)}]`;
	if (isObject(value)) return `{${Object.keys(value).sort().map((key) => `${dumps(key)}:${dumps(value[key])}`)}}`;
	const broken = typeof value === "number" ? !Number.isSafeInteger(value) : matches(value, /\p{Surrogate}/u);
	check(!broken, "not_canonical");
	return JSON.stringify(value);
}

export function loads(bytes) {
	let value, same;
	try {
		const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
		value = JSON.parse(text);
		same = dumps(value) === text;
	} catch {}
	check(same, "not_canonical");
	return value;
}

export function choose(name, table) {
	check(typeof name === "string" && Object.hasOwn(table, name));
	return table[name];
}

// the schema's keys and no others; one with a question mark may be missing
export function conform(value, schema) {
	check(isObject(value));
	const has = (key) => Object.hasOwn(schema, key);
	for (const key in value) check(has(key) || has(`${key}?`), "unknown_key");
	for (const key in schema) check(key in value || key.endsWith("?"), "missing_key");
	for (const key in value) check((schema[key] ?? schema[`${key}?`])(value[key]));
}
