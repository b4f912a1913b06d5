// Our own strings, in the language that is spoken now; nothing else on this page is ours to say.

import { languageFor } from "./language.js";
import { told } from "./told.js";

/** @import { Speech, Values } from "/client/js/question.js" */

/**
 * How the page speaks now: `tag` is the survey's language, `language` that of our own strings. They are `foreign` to each
 * other where we lack the survey's, and speak English beside it.
 * @type {Speech & { tag: string, dir: string, foreign: boolean }}
 */
export const speech = { say, tag: "", dir: "", language: "", foreign: false };
speak(languageFor(Object.keys(told.languages), navigator.languages));

/**
 * Speak another language of the survey from now on; what is on the page stays as it is.
 * @param {string} tag
 */
export function speak(tag) {
	const { ours, dir } = told.languages[tag] ?? { ours: "en", dir: "ltr" };
	Object.assign(speech, { tag, dir, language: ours, foreign: tag.split("-")[0] !== ours });
}

/**
 * An author's words keep their direction within ours, and numbers are written as the language writes them.
 * @param {string | number | bigint} value
 */
function fill(value) {
	if (typeof value !== "string") return value.toLocaleString(speech.language);
	return speech.foreign ? `\u2068${value}\u2069` : value;
}

/**
 * One of our strings, filled in.
 * @param {string} key
 * @param {Values} [values]
 */
export function say(key, values = {}) {
	return told.strings[speech.language][key].replace(/\{(\w+)\}/g, (_, name) => fill(values[name]));
}

/**
 * Whether there are words for a code.
 * @param {string} key
 */
export const canSay = (key) => Object.hasOwn(told.strings[speech.language], key);

/**
 * ε as it is displayed: never less than the truth.
 * @param {number | string} loss
 */
export function epsilon(loss) {
	const hundredths = Math.ceil((Number(loss) - 1e-9) * 100);
	return (hundredths / 100 || 0).toLocaleString(speech.language); // never −0
}

/**
 * A day such as 2026-12-10, as the language writes it.
 * @param {string} text
 */
export const day = (text) => new Date(text).toLocaleDateString(speech.language, { dateStyle: "long", timeZone: "UTC" });

/**
 * A moment such as 2026-12-10T00:00Z, on the reader's own clock.
 * @param {string} text
 */
export function moment(text) {
	const at = new Date(text);
	const time = at.toLocaleTimeString(speech.language, { hour: "2-digit", minute: "2-digit" });
	return say("moment", { day: at.toLocaleDateString(speech.language, { dateStyle: "full" }), time });
}
