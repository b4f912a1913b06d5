// What will be sent, before it is sent; and the receipt for it afterwards.

import { encode } from "/client/js/answer.js";
import { fromText } from "/client/js/report.js";
import { button, details, el, heading, ours, tongue } from "./dom.js";
import { describe, epsilon, foreign, oddsOf, said, say, unpack } from "./words.js";

// what the bits say, beside what the person said; the ledger does not know that
function fields(survey, bits, answers) {
	const parts = unpack(survey, fromText(bits));
	const asked = [...parts.keys()].filter((place) => parts[place]);
	const indices = answers && encode(survey, answers, asked);
	const line = (field, part) => {
		if (!part) return ours("p.hint", "not_asked");
		const { key, values } = oddsOf(field);
		const theirs = field.questions.some(({ options, points }) => options || points);
		const lang = foreign && theirs && survey.language;
		const pair = (key, name, text) => [say(key), " ", el(name, { dir: "auto", lang, translate: "no" }, text)];
		const you = indices ? [...pair("you", "b", said(field, indices)), " → "] : [];
		const rounded = field.questions.filter((q) => q.levels).map((q) => ours("p.hint", "rounded", q));
		return [el("p", tongue, you, pair("sent", "b.sent", describe(field, part))), rounded, ours("p.hint", key, values)];
	};
	const text = ({ questions }) => el("p", {}, questions.map((q) => q.text).join(" + "));
	return el("ul.fields", {}, survey.fields.map((field, i) => el("li", {}, text(field), line(field, parts[i]))));
}

const exact = (text) => details("bytes", ours("p", "bytes_more"), el("pre", { tabindex: 0 }, text));

export function review(survey, { id, bits, epsilon: loss }, answers, invited) {
	const send = button("button.primary", "send");
	// the second click of a double click is not meant for this button
	send.disabled = true;
	setTimeout(() => (send.disabled = false), 400);
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

export function receipt(survey, { slug, id, bits, epsilon: loss }, status) {
	const text = JSON.stringify({ slug, survey: survey.digest, id, bits, status, epsilon: loss }, null, 1);
	const href = URL.createObjectURL(new Blob([text, "\n"], { type: "application/json" }));
	const save = ours("a.primary", "save", {}, { href, download: `receipt-${slug}.json` });
	const lead = [heading("receipt"), ours("p", "receipt_more"), el("p.actions", {}, save)];
	return el("section", {}, lead, fields(survey, bits), exact(text));
}
