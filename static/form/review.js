// What will be sent, before it is sent; and the receipt for it afterwards.

import { encode } from "/client/js/answer.js";
import { digitLabel, typeOf } from "/client/js/question.js";
import { fromText, unpack } from "/client/js/report.js";
import { describe, said } from "/client/js/description.js";
import { button, details, el, heading, ours, tongue } from "./dom.js";
import { explain } from "./protection.js";
import { epsilon, say, speech } from "./strings.js";
import { thanks } from "./thanks.js";

/** @import { Answers } from "/client/js/answer.js" */
/** @import { Field } from "/client/js/definition.js" */
/** @import { Entry } from "/client/js/spending.js" */
/** @import { Localized } from "./language.js" */

const DOUBLE_CLICK = 400; // ms

/**
 * What the bits say of what was asked, beside what the person said, if that is known; the ledger does not know it.
 * @param {Localized} survey
 * @param {string} bits
 * @param {Answers | null} answers
 */
function fields(survey, bits, answers) {
	const parts = unpack(survey, fromText(bits));
	const asked = survey.ask ? parts.findIndex(Boolean) : null;
	const indices = answers && encode(survey.original, answers, asked);
	/**
	 * @param {Field} field
	 * @param {number[]} part
	 */
	const item = (field, part) => {
		const lines = apart(field, part).map(([one, sent]) => [
			el("p", {}, one.questions.map(({ text }) => text).join(" + ")),
			line(one, sent),
			answers && one.questions.every(({ id }) => !(id in answers)) && ours("p.hint", "unasked"),
		]);
		return el("li", {}, lines, el("p.hint", tongue, explain(field)));
	};
	/**
	 * @param {Field} field
	 * @param {string} sent
	 */
	const line = (field, sent) => {
		const theirs = field.questions.some(({ type }) => typeOf(type).labelsKey);
		const lang = speech.foreign && theirs && survey.language;
		/**
		 * @param {string} key
		 * @param {string} name
		 * @param {string} text
		 */
		const pair = (key, name, text) => [say(key), " ", el(name, { dir: "auto", lang, translate: "no" }, text)];
		const you = indices ? [...pair("you", "b", said(field, indices, speech)), " → "] : [];
		return el("p", tongue, you, pair("sent", "b.sent", sent));
	};
	const items = survey.fields.map((field, i) => parts[i] && item(field, parts[i]));
	const count = asked === null ? 0 : survey.fields[asked].questions.length;
	const chosen = survey.ask && ours("p.chosen", "chosen", { count, total: survey.questions.length });
	return [chosen, el("ul.fields", {}, items)];
}

/**
 * Question by question where it is one combination of answers, else in one piece.
 * @param {Field} field
 * @param {number[]} part
 * @returns {[field: Field, sent: string][]}
 */
function apart(field, part) {
	const { questions, cells, mechanism } = field;
	const named = mechanism.namedSymbols(part);
	if (questions.length === 1 || named.length !== 1) return [[field, describe(field, part, speech)]];
	const digits = cells[Number(named[0])];
	return questions.map((one, i) => [{ ...field, questions: [one] }, digitLabel(one, digits[i], speech)]);
}

/**
 * @param {string} name what it is
 * @param {string} text
 * @param {string[]} keys what is told about it
 */
const exact = (name, text, ...keys) =>
	details(
		name,
		keys.map((key) => ours("p", key)),
		el("pre", { tabindex: 0 }, text),
	);

/**
 * @param {Localized} survey
 * @param {Entry} entry
 * @param {string} text the report as it would be sent
 * @param {Answers | null} answers
 */
export function review(survey, { bits = "", epsilon: loss }, text, answers) {
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
		ours("p", survey.tickets ? "invited" : "review_all"),
		ours("p", answers ? "review_made" : "review_again"),
		fields(survey, bits, answers),
		exact("bytes", text, "bytes_more", survey.tickets ? "bytes_ticket" : "bytes_id"),
		ours("p.note", "final", { epsilon: epsilon(loss) }),
		problems,
		el("p.actions", {}, send),
	);
	return { node, send, problems };
}

/**
 * Right after sending, and never again: neither id nor ticket is in it, and the device has forgotten them.
 * @param {Localized} survey
 * @param {Entry} entry
 */
export function receipt(survey, { slug, bits = "", epsilon: loss, day }) {
	const text = JSON.stringify({ slug, survey: survey.digest, bits, epsilon: loss, day }, null, 1);
	const href = URL.createObjectURL(new Blob([text, "\n"], { type: "application/json" }));
	const save = ours("a", "save", {}, { href, download: `receipt-${slug}.json` });
	const lead = [ours("p", "receipt_more"), ours("p", "receipt_once"), el("p.actions", {}, save)];
	return el(
		"section",
		{},
		heading("receipt"),
		thanks(survey),
		lead,
		fields(survey, bits, null),
		exact("receipt_bytes", text, "receipt_bytes_more"),
	);
}
