// What will be sent, before it is sent; and the receipt for it afterwards.

import { encode } from "/client/js/answer.js";
import { fromText, unpack } from "/client/js/report.js";
import { describe, oddsSentence, said } from "/client/js/words.js";
import { button, details, el, heading, ours, tongue } from "./dom.js";
import { epsilon, foreign, say, speech } from "./strings.js";

/** @import { Answers } from "/client/js/answer.js" */
/** @import { Field, Survey } from "/client/js/definition.js" */
/** @import { Entry } from "/client/js/ledger.js" */

const DOUBLE_CLICK = 400; // ms

/**
 * What the bits say of what was asked, beside what the person said, if that is known; the ledger does not know it.
 * @param {Survey} survey
 * @param {string} bits
 * @param {Answers | null} answers
 */
function fields(survey, bits, answers) {
	const parts = unpack(survey, fromText(bits));
	const asked = survey.ask ? parts.findIndex(Boolean) : null;
	const indices = answers && encode(survey, answers, asked);
	/**
	 * @param {Field} field
	 * @param {number[]} part
	 */
	const line = (field, part) => {
		const theirs = field.questions.some(({ type, labels }) => type !== "yes_no" && labels.length > 0);
		const lang = foreign && theirs && survey.language;
		/**
		 * @param {string} key
		 * @param {string} name
		 * @param {string} text
		 */
		const pair = (key, name, text) => [say(key), " ", el(name, { dir: "auto", lang, translate: "no" }, text)];
		const you = indices ? [...pair("you", "b", said(field, indices, speech)), " → "] : [];
		const rounded = field.questions
			.filter(({ levels }) => levels)
			.map(({ levels }) => ours("p.hint", "rounded", { levels }));
		const sent = pair("sent", "b.sent", describe(field, part, speech));
		return [el("p", tongue, you, sent), rounded, el("p.hint", tongue, oddsSentence(field, speech))];
	};
	/** @param {Field} field */
	const text = ({ questions }) => el("p", {}, questions.map((question) => question.text).join(" + "));
	const items = survey.fields.map((field, i) => parts[i] && el("li", {}, text(field), line(field, parts[i])));
	return [el("ul.fields", {}, items), survey.ask && ours("p.hint", "ask", { total: parts.length })];
}

/** @param {string} text */
const exact = (text) => details("bytes", ours("p", "bytes_more"), el("pre", { tabindex: 0 }, text));

/**
 * @param {Survey} survey
 * @param {Entry} entry
 * @param {Answers | null} answers
 * @param {boolean} invited
 */
export function review(survey, { id, bits, epsilon: loss }, answers, invited) {
	const send = button("button.primary", "send");
	// the second click of a double click is not meant for this button
	send.disabled = true;
	setTimeout(() => {
		send.disabled = false;
	}, DOUBLE_CLICK);
	const problems = el("div");
	const node = el(
		"section",
		{},
		heading("review"),
		ours("p", invited ? "invited" : "review_all"),
		ours("p", answers ? "review_made" : "review_again"),
		fields(survey, bits, answers),
		exact(JSON.stringify({ survey: survey.digest, id, bits })),
		ours("p.note", "final", { epsilon: epsilon(loss) }),
		problems,
		el("p.actions", {}, send),
	);
	return { node, send, problems };
}

/**
 * @param {Survey} survey
 * @param {Entry} entry
 * @param {string} status what the server said
 */
export function receipt(survey, { slug, id, bits, epsilon: loss }, status) {
	const text = JSON.stringify({ slug, survey: survey.digest, id, bits, status, epsilon: loss }, null, 1);
	const href = URL.createObjectURL(new Blob([text, "\n"], { type: "application/json" }));
	const save = ours("a.primary", "save", {}, { href, download: `receipt-${slug}.json` });
	const lead = [heading("receipt"), ours("p", "receipt_more"), el("p.actions", {}, save)];
	return el("section", {}, lead, fields(survey, bits, null), exact(text));
}
