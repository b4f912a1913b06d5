// The report before it is sent, and the receipt afterwards.

import { encode } from "/client/js/answer.js";
import { describe, formatAnswers } from "/client/js/description.js";
import { digitLabel, typeOf } from "/client/js/question.js";
import { fromBase64url, unpack } from "/client/js/report.js";
import { button, details, el, heading, languageProps, textEl } from "./dom.js";
import { explain } from "./protection.js";
import { epsilon, say, speech } from "./strings.js";
import { thanks } from "./thanks.js";

/** @import { Answers } from "/client/js/answer.js" */
/** @import { Field } from "/client/js/definition.js" */
/** @import { Entry } from "/client/js/spending.js" */
/** @import { Localized } from "./language.js" */

const DOUBLE_CLICK = 400; // ms

/**
 * Return a list of the fields with their bits and, if they are known, the respondent's answers; the ledger has no answers.
 * @param {Localized} survey
 * @param {string} bits
 * @param {Answers | null} answers
 */
function fields(survey, bits, answers) {
	const parts = unpack(survey, fromBase64url(bits));
	const asked = survey.ask ? parts.findIndex(Boolean) : null;
	const indices = answers && encode(survey.original, answers, asked);
	/**
	 * @param {Field} field
	 * @param {number[]} part
	 */
	const item = (field, part) => {
		const lines = splitByQuestion(field, part).map(([unit, sent]) => [
			el("p", {}, unit.questions.map(({ text }) => text).join(" + ")),
			line(unit, sent),
			answers && unit.questions.every(({ id }) => !(id in answers)) && textEl("p.hint", "unasked"),
		]);
		return el("li", {}, lines, el("p.hint", languageProps, explain(field)));
	};
	/**
	 * @param {Field} field
	 * @param {string} sent
	 */
	const line = (field, sent) => {
		const hasLabels = field.questions.some(({ type }) => typeOf(type).labelsKey);
		const lang = speech.foreign && hasLabels && survey.language;
		/**
		 * @param {string} key
		 * @param {string} name
		 * @param {string} text
		 */
		const pair = (key, name, text) => [say(key), " ", el(name, { dir: "auto", lang, translate: "no" }, text)];
		const you = indices ? [...pair("you", "b", formatAnswers(field, indices, speech)), " → "] : [];
		return el("p", languageProps, you, pair("sent", "b.sent", sent));
	};
	const items = survey.fields.map((field, i) => parts[i] && item(field, parts[i]));
	const count = asked === null ? 0 : survey.fields[asked].questions.length;
	const chosen = survey.ask && textEl("p.chosen", "chosen", { count, total: survey.questions.length });
	return [chosen, el("ul.fields", {}, items)];
}

/**
 * Return the parts of a field: one for each question if the bits name one combination of answers, otherwise one part.
 * @param {Field} field
 * @param {number[]} part
 * @returns {[field: Field, sent: string][]}
 */
function splitByQuestion(field, part) {
	const { questions, cells, mechanism } = field;
	const named = mechanism.namedSymbols(part);
	if (questions.length === 1 || named.length !== 1) return [[field, describe(field, part, speech)]];
	const digits = cells[Number(named[0])];
	return questions.map((question, i) => [{ ...field, questions: [question] }, digitLabel(question, digits[i], speech)]);
}

/**
 * @param {string} name the key of the summary
 * @param {string} text
 * @param {string[]} keys the keys of the explanations
 */
const exact = (name, text, ...keys) =>
	details(
		name,
		keys.map((key) => textEl("p", key)),
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
	// the second click of a double click must not press this button
	send.disabled = true;
	setTimeout(() => {
		send.disabled = false;
	}, DOUBLE_CLICK);
	const problems = el("div");
	const node = el(
		"section",
		{},
		heading("review"),
		textEl("p", survey.tickets ? "invited" : "review_all"),
		textEl("p", answers ? "review_made" : "review_again"),
		fields(survey, bits, answers),
		exact("bytes", text, "bytes_more", survey.tickets ? "bytes_ticket" : "bytes_id"),
		textEl("p.note", "final", { epsilon: epsilon(loss) }),
		problems,
		el("p.actions", {}, send),
	);
	return { node, send, problems };
}

/**
 * Return the receipt, which is shown once, after sending. It has no id and no ticket, and the device has deleted them.
 * @param {Localized} survey
 * @param {Entry} entry
 */
export function receipt(survey, { slug, bits = "", epsilon: loss, day }) {
	const text = JSON.stringify({ slug, survey: survey.digest, bits, epsilon: loss, day }, null, 1);
	const href = URL.createObjectURL(new Blob([text, "\n"], { type: "application/json" }));
	const save = textEl("a", "save", {}, { href, download: `receipt-${slug}.json` });
	const lead = [textEl("p", "receipt_more"), textEl("p", "receipt_once"), el("p.actions", {}, save)];
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
