// Our own strings, in the language of the page: the server lays them into it, and nothing else on this page is ours to say.

/** @import { Speech, Values } from "/client/js/words.js" */

/** @type {{ foreign: boolean, language: string, strings: Record<string, string> }} */
const told = JSON.parse(document.getElementById("words")?.textContent ?? "{}");

/** `foreign`: we lack the language of the survey, and speak English beside it. */
export const { foreign, language, strings } = told;

/**
 * An author's words keep their direction within ours, and numbers are written as the language writes them.
 * @param {string | number | bigint} value
 */
function fill(value) {
	if (typeof value !== "string") return value.toLocaleString(language);
	return foreign ? `\u2068${value}\u2069` : value;
}

/**
 * One of our strings, filled in.
 * @param {string} key
 * @param {Values} [values]
 */
export function say(key, values = {}) {
	return strings[key].replace(/\{(\w+)\}/g, (_, name) => fill(values[name]));
}

/**
 * The same, for the client's own words.
 * @type {Speech}
 */
export const speech = { language, say };

/**
 * ε as it is displayed: never less than the truth.
 * @param {number | string} loss
 */
export function epsilon(loss) {
	const hundredths = Math.ceil((Number(loss) - 1e-9) * 100);
	return (hundredths / 100 || 0).toLocaleString(language); // never −0
}

/**
 * Where a suspicion of 5 in 100 can end, rounded up.
 * @param {number} loss
 */
export function chance(loss) {
	const after = 1 / (1 + 19 * Math.exp(-loss));
	let people = 100;
	while (Math.ceil(people * after) >= people && people < 1e9) people *= 10;
	return { part: Math.ceil(people * after), whole: people };
}

/**
 * A day such as 2026-12-10, as the language writes it.
 * @param {string} text
 */
export const day = (text) => new Date(text).toLocaleDateString(language, { dateStyle: "long", timeZone: "UTC" });

/**
 * A moment such as 2026-12-10T00:00Z, on the reader's own clock.
 * @param {string} text
 */
export function moment(text) {
	const at = new Date(text);
	const time = at.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });
	return say("moment", { day: at.toLocaleDateString(language, { dateStyle: "full" }), time });
}
