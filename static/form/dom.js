// Elements from text: nothing an author wrote is ever read as HTML.

import { say, speech } from "./strings.js";

/** @import { Values } from "/client/js/question.js" */
/** @typedef {Node | string | number | false | null | undefined} Leaf what is false, empty or missing is left out */
/** @typedef {Leaf | (Leaf | Leaf[])[]} Child */
/** @typedef {Record<string, any>} Props attributes, and listeners by the name of their event */
/**
 * @template {string} Tag
 * @typedef {Tag extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Tag] : Element} Tagged
 */
/**
 * The element for a name such as "p" or "p.hint".
 * @template {string} Name
 * @typedef {Name extends `${infer Tag}.${string}` ? Tagged<Tag> : Tagged<Name>} Made
 */

/**
 * @template {string} Name
 * @param {Name} name with a class, if it has one: "p.hint"
 * @param {Props} [props]
 * @param {Child[]} children
 * @returns {Made<Name>}
 */
export function el(name, props, ...children) {
	const [tag, kind] = name.split(".");
	const space = tag === "svg" || tag === "path" ? "2000/svg" : "1999/xhtml";
	const node = document.createElementNS(`http://www.w3.org/${space}`, tag);
	/** @type {Props} */
	const all = { class: kind, ...props };
	for (const [key, value] of Object.entries(all)) {
		if (typeof value === "function") node.addEventListener(key, value);
		else if (value || value === 0) node.setAttribute(key, value === true ? "" : value);
	}
	const present = /** @type {(Node | string)[]} */ (children.flat(2).filter(Boolean));
	node.append(...present);
	return /** @type {Made<Name>} */ (node);
}

/**
 * Our own strings: beside a language that we lack they are English, and say so.
 * @type {Props}
 */
export const tongue = {
	get lang() {
		return speech.foreign && speech.language;
	},
	get dir() {
		return speech.foreign && "ltr";
	},
};

/**
 * @template {string} Name
 * @param {Name} name
 * @param {string} key
 * @param {Values} [values]
 * @param {Props} [props]
 */
export const ours = (name, key, values, props) => el(name, { ...tongue, ...props }, say(key, values));

/**
 * @param {"button" | `button.${string}`} name
 * @param {string} key
 * @param {() => void} [click]
 */
export const button = (name, key, click) => ours(name, key, {}, { type: "button", click });

/**
 * @param {string} key
 * @param {Child[]} children
 */
export const details = (key, ...children) => el("details", {}, ours("summary", key), ...children);

/**
 * What an author wrote.
 * @param {string} [text]
 */
export const paragraphs = (text) => text?.split("\u2029").map((one) => el("p", {}, one));

/** @param {string} key */
export const heading = (key) => ours("h2", key, {}, { tabindex: -1 });

/**
 * The first line tells what happened, the others what to do now.
 * @param {string} key
 * @param {Values} values
 * @param {Child[]} more
 */
export function notice(key, values, ...more) {
	const [title, ...advice] = say(key, values).split("\n");
	const lines = advice.map((text) => el("p", {}, text));
	return el("section.notice", { role: "alert", ...tongue }, el("h2", { tabindex: -1 }, title), lines, ...more);
}

/**
 * A text to take along.
 * @param {string} text
 * @param {string} key its name
 */
export function copyable(text, key) {
	const copied = ours("span", "copied", {}, { role: "status" });
	copied.hidden = true;
	const field = el("input", { readonly: true, value: text, "aria-label": say(key) });
	const copy = button("button", "copy", async () => {
		field.select();
		try {
			await navigator.clipboard.writeText(text);
			copied.hidden = false;
		} catch {
			// pages over plain http may not; it is selected
		}
	});
	return el("p.actions", {}, field, copy, copied);
}

/**
 * Reading goes on here.
 * @param {Element} node
 */
export function arrive(node) {
	const place = node.querySelector("[tabindex]");
	if (place instanceof HTMLElement) place.focus({ preventScroll: true });
	node.scrollIntoView();
}
