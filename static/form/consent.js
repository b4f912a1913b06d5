// Consent: if the definition has a text for it, the form is hidden until the respondent ticks a box.

import { button, el, paragraphs, textEl } from "./dom.js";

/** @import { Survey } from "/client/js/definition.js" */

// in memory until the page is left; neither sent nor stored
let agreed = false;

/** Forget the tick, because another person may answer now. */
export function askAgain() {
	agreed = false;
}

/**
 * Return the text and the box, followed by the elements that are hidden until it is ticked.
 * @param {Survey} survey
 * @param {HTMLElement[]} waiting
 */
export function consent({ consent: text }, ...waiting) {
	if (!text) return waiting;
	const error = el("p.error", { id: "agree.error", role: "alert" });
	const props = { type: "checkbox", "aria-describedby": "agree.more agree.error" };
	const tick = el("input", { ...props, change });
	const next = button("button.primary", "next", () => {
		error.replaceChildren(textEl("span", "agree_first"));
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
			el("label.option", {}, tick, textEl("b", "agree")),
			error,
			next,
			textEl("p.hint", "agree_more", {}, { id: "agree.more" }),
		),
		...waiting,
	];

	function change() {
		agreed = tick.checked;
		error.replaceChildren();
		show();
		const isForm = agreed && waiting.some(({ tagName }) => tagName === "FORM");
		document.getElementById("status")?.replaceChildren(isForm ? textEl("span.heard", "loaded") : "");
	}
}
