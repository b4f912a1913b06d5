// Elements from text: nothing an author wrote is ever read as HTML.

import { foreign, say } from "./words.js";

// `name` may have a class: "p.hint"
export function el(name, props, ...children) {
	const [tag, kind] = name.split(".");
	const space = /^(svg|path)$/.test(tag) ? "2000/svg" : "1999/xhtml";
	const node = document.createElementNS(`http://www.w3.org/${space}`, tag);
	for (const [key, value] of Object.entries({ class: kind, ...props }))
		if (typeof value === "function") node.addEventListener(key, value);
		else if (value || value === 0) node.setAttribute(key, value === true ? "" : value);
	node.append(...children.flat(2).filter(Boolean));
	return node;
}

// our own strings: in a survey whose language we lack they are English, and say so
export const tongue = foreign && { lang: "en", dir: "ltr" };
export const ours = (name, key, values, props) => el(name, { ...tongue, ...props }, say(key, values));

export const button = (name, key, click) => ours(name, key, {}, { type: "button", click });
export const details = (key, ...children) => el("details", {}, ours("summary", key), ...children);
export const heading = (key) => ours("h2", key, {}, { tabindex: -1 });

// the first line tells what happened, the others what to do now
export function notice(key, values, ...more) {
	const [title, ...advice] = say(key, values).split("\n");
	const lines = advice.map((text) => el("p", {}, text));
	return el("section.notice", { role: "alert", ...tongue }, el("h2", { tabindex: -1 }, title), lines, ...more);
}

// reading goes on here
export function arrive(node) {
	node.querySelector("[tabindex]")?.focus({ preventScroll: true });
	node.scrollIntoView();
}
