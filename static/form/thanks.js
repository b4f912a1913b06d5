// The end of a survey as its author wrote it: thanks, and a code or an address, the same for everybody.

import { copyable, el, ours, paragraphs } from "./dom.js";

/** @import { Survey } from "/client/js/definition.js" */

/**
 * All from the definition: it can be shown again whenever somebody comes back.
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
				ours("p", address ? "completion_address" : "completion_code"),
				address ? el("p", {}, el("a", link, completion)) : copyable(completion, "completion"),
				ours("p.hint", address ? "completion_follow" : "completion_same"),
			),
	];
}
