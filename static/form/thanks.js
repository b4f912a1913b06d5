// The author's thanks and the completion code or address, which is the same for all respondents.

import { copyable, el, paragraphs, textEl } from "./dom.js";

/** @import { Survey } from "/client/js/definition.js" */

/**
 * Return the end of a survey. All of it is from the definition, so that it can be shown at every visit.
 * @param {Survey} survey
 */
export function thanks({ thanks: text, completion }) {
	const address = completion?.startsWith("https://");
	// a new tab, since the receipt is shown only once
	const link = { href: completion, rel: "noreferrer", target: "_blank", translate: "no" };
	return [
		text && el("section", {}, paragraphs(text)),
		completion &&
			el(
				"section.note",
				{},
				textEl("p", address ? "completion_address" : "completion_code"),
				address ? el("p", {}, el("a", link, completion)) : copyable(completion, "completion"),
				textEl("p.hint", address ? "completion_follow" : "completion_same"),
			),
	];
}
