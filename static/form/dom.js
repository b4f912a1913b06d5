// Elements from text: an author's text is never parsed as HTML.

import { say, speech } from "./strings.js";

/** @import { Values } from "/client/js/question.js" */
/** @typedef {Node | string | number | false | null | undefined} Leaf false, empty and missing values are omitted */
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
 * The language attributes of our own strings: they are English if we lack the survey's language.
 * @type {Props}
 */
export const languageProps = {
	get lang() {
		return speech.foreign && speech.language;
	},
	get dir() {
		return speech.foreign && "ltr";
	},
};

/**
 * Return an element with one of our own strings, whose key is in its `data-text`.
 * @template {string} Name
 * @param {Name} name
 * @param {string} key
 * @param {Values} [values]
 * @param {Props} [props]
 */
export const textEl = (name, key, values, props) =>
	el(name, { ...languageProps, "data-text": key, ...props }, say(key, values));

/**
 * Replace the string of an element.
 * @param {HTMLElement} node
 * @param {string} key
 * @param {Values} [values]
 */
export function setText(node, key, values) {
	node.dataset.text = key;
	node.textContent = say(key, values);
}

/**
 * @param {"button" | `button.${string}`} name
 * @param {string} key
 * @param {() => void} [click]
 */
export const button = (name, key, click) => textEl(name, key, {}, { type: "button", click });

/**
 * @param {string} key
 * @param {Child[]} children
 */
export const details = (key, ...children) => el("details", {}, textEl("summary", key), ...children);

/**
 * Return the paragraphs of an author's text.
 * @param {string} [text]
 */
export const paragraphs = (text) => text?.split("\u2029").map((part) => el("p", {}, part));

/** @param {string} key */
export const heading = (key) => textEl("h2", key, {}, { tabindex: -1 });

/**
 * Return a notice: its first line is the title, the other lines are advice.
 * @param {string} key
 * @param {Values} values
 * @param {Child[]} more
 */
export function notice(key, values, ...more) {
	const [title, ...advice] = say(key, values).split("\n");
	const lines = advice.map((text) => el("p", {}, text));
	const head = el("h2", { tabindex: -1, "data-text": key }, title);
	return el("section.notice", { role: "alert", ...languageProps }, head, lines, ...more);
}

/**
 * Return a text field with a button that copies it.
 * @param {string} text
 * @param {string} key the key of the label
 */
export function copyable(text, key) {
	const status = textEl("span", "copied", {}, { role: "status" });
	status.hidden = true;
	const field = el("input", { readonly: true, value: text, "aria-label": say(key) });
	const copy = button("button", "copy", async () => {
		field.select();
		try {
			await navigator.clipboard.writeText(text);
			status.hidden = false;
		} catch {
			// pages over plain http cannot copy; the text is selected
		}
	});
	return el("p.actions", {}, field, copy, status);
}

/**
 * Move the focus and the view to an element.
 * @param {Element} node
 */
export function moveFocus(node) {
	const place = node.querySelector("[tabindex]");
	if (place instanceof HTMLElement) place.focus({ preventScroll: true });
	node.scrollIntoView();
}
