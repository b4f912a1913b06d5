// Our own strings in the current language; all other text of the page is the author's.

import { languageFor } from "./language.js";
import { pageData } from "./page_data.js";

/** @import { Speech, Values } from "/client/js/question.js" */

/**
 * The current language: `tag` is the survey's language, `language` that of our own strings. `foreign` means that we lack
 * the survey's language, so that our strings are English.
 * @type {Speech & { tag: string, dir: string, foreign: boolean }}
 */
export const speech = { say, tag: "", dir: "", language: "", foreign: false };
speak(languageFor(Object.keys(pageData.languages), navigator.languages));

/**
 * Set the current language; the elements on the page do not change.
 * @param {string} tag
 */
export function speak(tag) {
	const { ours, dir } = pageData.languages[tag] ?? { ours: "en", dir: "ltr" };
	Object.assign(speech, { tag, dir, language: ours, foreign: tag.split("-")[0] !== ours });
}

/**
 * Return a value as text: an author's text keeps its direction within ours, and numbers are formatted for the language.
 * @param {string | number | bigint} value
 */
function fill(value) {
	if (typeof value !== "string") return value.toLocaleString(speech.language);
	return speech.foreign ? `\u2068${value}\u2069` : value;
}

/**
 * Return one of our strings with its placeholders filled in.
 * @param {string} key
 * @param {Values} [values]
 */
export function say(key, values = {}) {
	return pageData.strings[speech.language][key].replace(/\{(\w+)\}/g, (_, name) => fill(values[name]));
}

/**
 * Return whether there is a string for a code.
 * @param {string} key
 */
export const canSay = (key) => Object.hasOwn(pageData.strings[speech.language], key);

/**
 * Return ε for display, rounded up to two decimals.
 * @param {number | string} loss
 */
export function epsilon(loss) {
	const hundredths = Math.ceil((Number(loss) - 1e-9) * 100);
	return (hundredths / 100 || 0).toLocaleString(speech.language); // never −0
}

/**
 * Return a day such as 2026-12-10 in the format of the language.
 * @param {string} text
 */
export const day = (text) => new Date(text).toLocaleDateString(speech.language, { dateStyle: "long", timeZone: "UTC" });

/**
 * Return a moment such as 2026-12-10T00:00Z in the reader's time zone.
 * @param {string} text
 */
export function moment(text) {
	const at = new Date(text);
	const time = at.toLocaleTimeString(speech.language, { hour: "2-digit", minute: "2-digit" });
	return say("moment", { day: at.toLocaleDateString(speech.language, { dateStyle: "full" }), time });
}
