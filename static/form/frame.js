// What stands around the questions: title, group, description, what the device promises, whom to ask. All of it is from
// the definition that this device has verified; the server's own words are shown only where scripts are off.

import { hostOf } from "/client/js/spending.js";
import { verify } from "/client/js/index.js";
import { ofHundred, SUSPICION } from "/client/js/description.js";
import { here, privacyPage } from "./address.js";
import { details, el, notice, ours, paragraphs, tongue } from "./dom.js";
import { languagesOf } from "./language.js";
import { dice } from "./protection.js";
import { epsilon, moment, say, speak, speech } from "./strings.js";
import { told } from "./told.js";

/** @import { Survey } from "/client/js/definition.js" */
/** @import { Leaf } from "./dom.js" */
/** @import { Localized } from "./language.js" */

// where a suspicion of 5 in 100 becomes 50 in 100
const EVEN = Math.log(19);

/** @param {string} id */
const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

// the mark, which the page brought along; what stands beside it is said of a verified definition, or not at all
const picture = () => /** @type {Element} */ (at("mark").firstElementChild);

/**
 * The survey, in the language that is spoken, around whatever the form shows.
 * @param {Localized} survey
 * @param {Leaf[]} promise
 */
export function frame(survey, promise) {
	const { title, group, description, contact, original, language, tickets } = survey;
	const untranslated = language !== original.language && original.language;
	document.title = title;
	Object.assign(document.documentElement, { lang: language, dir: speech.dir });
	const claim = verify(original) < EVEN ? "cannot" : "mixed";
	at("mark").replaceChildren(picture(), ours("a", claim, {}, { href: privacyPage() }));
	const [before, after] = group ? say("group", { group: "\u2029" }).split("\u2029") : [];
	at("survey").replaceChildren(
		el("h1", {}, title),
		group ? el("p.group", tongue, before, el("b", { lang: untranslated }, group), after) : "",
		group && !tickets && told.state === "open" ? ours("p.hint", "alone") : "",
		...(paragraphs(description) ?? []),
		told.state === "open" ? el("section.summary", { id: "promise", ...tongue }, ...promise) : closed(),
	);
	// a translation may leave the contact as it is
	const lang = contact === original.contact && untranslated;
	const whom = el("span", { lang }, contact?.replaceAll("\u2029", " "));
	const foot = [contact ? el("p.contact", {}, ours("span", "contact"), " ", whom) : "", trust(original)];
	at("foot").replaceChildren(...foot.filter(Boolean));
}

/**
 * How to do without this server's page; or, in a file, what that is.
 * @param {Survey} survey
 */
function trust({ digest, tickets }) {
	if (!told.file && !told.home) return "";
	const { server, slug } = here();
	const link = `${server}/s/${slug}`;
	/**
	 * @param {string} key
	 * @param {string} text
	 */
	const sum = (key, text) => [ours("p", key), el("p", {}, el("code", { dir: "ltr" }, text))];
	if (!told.file) return details("file", ours("p", "file_more", { host: hostOf(server) }), sum("trust_digest", digest));
	const save = ours("a", "trust_file", {}, { href: `${link}/form.html`, download: `${slug}.html` });
	return details(
		"trust",
		ours("p", "trust_more"),
		el("p", {}, save),
		sum("trust_sum", told.file),
		sum("trust_digest", digest),
		ours("p", "trust_same"),
		sum("trust_python", `python -m candor_client "${link}#sha256=${digest}"`),
		tickets && ours("p", "trust_invited"),
	);
}

/** Where there is no definition to take a title from. */
export function unnamed() {
	document.title = "Candor";
	at("mark").replaceChildren(picture());
	at("survey").replaceChildren(el("h1", {}, "Candor"));
}

// why it takes no reports
function closed() {
	const opens = told.opens && el("p", {}, `${say("opens")} `, el("time", { datetime: told.opens }, moment(told.opens)));
	return notice(told.state, {}, opens);
}

/**
 * Until the device has drawn what to ask, without numbers.
 * @param {Localized} survey
 * @returns {Leaf[]}
 */
export function promise(survey) {
	const { ask, questions } = survey;
	const draws = ask && `${say("draws", { total: questions.length })} `;
	const never = verify(survey.original) < EVEN && ` ${say("never")}`;
	return [el("p", {}, draws, say("promise"), never)];
}

/**
 * What the device will do to the answers, in this survey's numbers.
 * @param {Localized} survey
 * @param {number | null} asked
 * @param {number} before what earlier versions have cost
 * @returns {Leaf[]}
 */
export function summary(survey, asked, before) {
	const { fields, questions, tickets } = survey;
	const put = asked === null ? fields : [fields[asked]];
	const all = verify(survey.original) + before;
	const rolled = dice(put);
	const doubt = rolled && all < EVEN && `${say("never")} `;
	const { cases, people } = ofHundred(SUSPICION, all);
	const raised = say("total", { part: cases, whole: people, epsilon: epsilon(all) });
	return [
		asked !== null && ours("p.chosen", "chosen", { count: put[0].questions.length, total: questions.length }),
		rolled ? el("p", {}, asked !== null && `${say("luck")} `, rolled) : promise(survey)[0],
		el("p", {}, doubt, raised),
		before > 0 && ours("p", "earlier", { epsilon: epsilon(before) }),
		tickets && ours("p", "unlinked"),
	];
}

/**
 * The languages of a survey by their own names, if it has several; they stay where they are when one is chosen.
 * @param {Survey} survey
 * @param {() => void} redraw
 */
export function offerLanguages(survey, redraw) {
	const tags = languagesOf(survey);
	if (tags.length < 2) return;
	const group = el("p.languages", { role: "group" });
	/** @param {string} tag */
	const choose = (tag) => {
		speak(tag);
		update();
		redraw();
	};
	const buttons = tags.map((tag) => {
		const { dir } = told.languages[tag] ?? {};
		return el("button.link", { type: "button", lang: tag, dir, click: () => choose(tag) }, nameOf(tag));
	});
	function update() {
		group.setAttribute("aria-label", say("languages"));
		for (const one of buttons) one.setAttribute("aria-pressed", String(one.lang === speech.tag));
	}
	update();
	group.append(...buttons);
	at("languages").replaceChildren(group);
}

/**
 * What a language is called by those who speak it.
 * @param {string} tag
 */
function nameOf(tag) {
	try {
		return new Intl.DisplayNames(tag, { type: "language" }).of(tag) ?? tag;
	} catch {
		return tag; // no language that the browser has heard of
	}
}
