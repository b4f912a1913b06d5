// Consent: where the definition has a text for it, a tick that everything after it waits for; it stays on this page.

import { button, el, ours, paragraphs } from "./dom.js";

/** @import { Survey } from "/client/js/definition.js" */

// until the page is left: neither sent nor stored
let agreed = false;

/** Somebody else sits here now, and was not asked yet. */
export function askAgain() {
	agreed = false;
}

/**
 * The text and the tick, before what waits for them.
 * @param {Survey} survey
 * @param {HTMLElement[]} waiting
 */
export function consent({ consent: text }, ...waiting) {
	if (!text) return waiting;
	const error = el("p.error", { id: "agree.error", role: "alert" });
	const props = { type: "checkbox", "aria-describedby": "agree.more agree.error" };
	const tick = el("input", { ...props, change });
	const next = button("button.primary", "next", () => {
		error.replaceChildren(ours("span", "agree_first"));
		tick.focus();
	});
	const show = () => {
		next.hidden = agreed;
		for (const node of waiting) node.hidden = !agreed;
	};
	tick.checked = agreed;
	show();
	return [
		el(
			"section.consent",
			{},
			paragraphs(text),
			el("label.option", {}, tick, ours("b", "agree")),
			error,
			next,
			ours("p.hint", "agree_more", {}, { id: "agree.more" }),
		),
		...waiting,
	];

	function change() {
		agreed = tick.checked;
		error.replaceChildren();
		show();
		const here = agreed && waiting.some(({ tagName }) => tagName === "FORM");
		document.getElementById("status")?.replaceChildren(here ? ours("span.heard", "loaded") : "");
	}
}
