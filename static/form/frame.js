// The frame around the questions: title, group, description, privacy summary, contact. All of it is from the definition
// that this device has verified; the server's own text is shown only if scripts are off.

import { posteriorInHundred, SUSPICION } from "/client/js/description.js";
import { hostOf } from "/client/js/spending.js";
import { verify } from "/client/js/verify.js";
import { privacyPage, surveyAddress } from "./address.js";
import { details, el, languageProps, notice, paragraphs, textEl } from "./dom.js";
import { languagesOf } from "./language.js";
import { pageData } from "./page_data.js";
import { dice } from "./protection.js";
import { epsilon, moment, say, speak, speech } from "./strings.js";

/** @import { Survey } from "/client/js/definition.js" */
/** @import { Leaf } from "./dom.js" */
/** @import { Localized } from "./language.js" */

// where a suspicion of 5 in 100 becomes 50 in 100
const EVEN = Math.log(19);

/** @param {string} id */
const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

// the logo, which is embedded in the page; the text next to it is shown for a verified definition only
const picture = () => /** @type {Element} */ (at("mark").firstElementChild);

/**
 * Show the frame in the current language.
 * @param {Localized} survey
 * @param {Leaf[]} promise
 */
export function frame(survey, promise) {
	const { title, group, description, contact, original, language, tickets } = survey;
	const untranslated = language !== original.language && original.language;
	document.title = title;
	Object.assign(document.documentElement, { lang: language, dir: speech.dir });
	const claim = verify(original) < EVEN ? "cannot" : "mixed";
	at("mark").replaceChildren(picture(), textEl("a", claim, {}, { href: privacyPage() }));
	const [before, after] = group ? say("group", { group: "\u2029" }).split("\u2029") : [];
	at("survey").replaceChildren(
		el("h1", {}, title),
		group ? el("p.group", languageProps, before, el("b", { lang: untranslated }, group), after) : "",
		group && !tickets && pageData.state === "open" ? textEl("p.hint", "alone") : "",
		...(paragraphs(description) ?? []),
		pageData.state === "open" ? el("section.summary", { id: "promise", ...languageProps }, ...promise) : closedNotice(),
	);
	// a translation may leave the contact as it is
	const lang = contact === original.contact && untranslated;
	const whom = el("span", { lang }, contact?.replaceAll("\u2029", " "));
	const foot = [contact ? el("p.contact", {}, textEl("span", "contact"), " ", whom) : "", trust(original)];
	at("foot").replaceChildren(...foot.filter(Boolean));
}

/**
 * Return the details on answering without this server's page or, in a file, on the file itself.
 * @param {Survey} survey
 */
function trust({ digest, tickets }) {
	if (!pageData.file && !pageData.home) return "";
	const { server, slug } = surveyAddress();
	const link = `${server}/s/${slug}`;
	/**
	 * @param {string} key
	 * @param {string} text
	 */
	const sum = (key, text) => [textEl("p", key), el("p", {}, el("code", { dir: "ltr" }, text))];
	if (!pageData.file)
		return details("file", textEl("p", "file_more", { host: hostOf(server) }), sum("trust_digest", digest));
	const save = textEl("a", "trust_file", {}, { href: `${link}/form.html`, download: `${slug}.html` });
	return details(
		"trust",
		textEl("p", "trust_more"),
		el("p", {}, save),
		sum("trust_sum", pageData.file),
		sum("trust_digest", digest),
		textEl("p", "trust_same"),
		sum("trust_python", `python -m candor_client "${link}#sha256=${digest}"`),
		tickets && textEl("p", "trust_invited"),
	);
}

/** Show a frame without a definition. */
export function showUntitledFrame() {
	document.title = "Candor";
	at("mark").replaceChildren(picture());
	at("survey").replaceChildren(el("h1", {}, "Candor"));
}

// return a notice on why the survey takes no reports
function closedNotice() {
	const opens =
		pageData.opens && el("p", {}, `${say("opens")} `, el("time", { datetime: pageData.opens }, moment(pageData.opens)));
	return notice(pageData.state, {}, opens);
}

/**
 * Return the privacy summary without numbers, until the device has drawn the field to ask.
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
 * Return the privacy summary of this survey, with numbers.
 * @param {Localized} survey
 * @param {number | null} asked
 * @param {number} before the ε spent on earlier versions
 * @returns {Leaf[]}
 */
export function summary(survey, asked, before) {
	const { fields, questions, tickets } = survey;
	const included = asked === null ? fields : [fields[asked]];
	const all = verify(survey.original) + before;
	const rolled = dice(included);
	const doubt = rolled && all < EVEN && `${say("never")} `;
	const { cases, people } = posteriorInHundred(SUSPICION, all);
	const raised = say("total", { part: cases, whole: people, epsilon: epsilon(all) });
	return [
		asked !== null && textEl("p.chosen", "chosen", { count: included[0].questions.length, total: questions.length }),
		rolled ? el("p", {}, asked !== null && `${say("luck")} `, rolled) : promise(survey)[0],
		el("p", {}, doubt, raised),
		before > 0 && textEl("p", "earlier", { epsilon: epsilon(before) }),
		tickets && textEl("p", "unlinked"),
	];
}

/**
 * Show buttons with the names of the survey's languages, if it has several.
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
		const { dir } = pageData.languages[tag] ?? {};
		return el("button.link", { type: "button", lang: tag, dir, click: () => choose(tag) }, nameOf(tag));
	});
	function update() {
		group.setAttribute("aria-label", say("languages"));
		for (const item of buttons) item.setAttribute("aria-pressed", String(item.lang === speech.tag));
	}
	update();
	group.append(...buttons);
	at("languages").replaceChildren(group);
}

/**
 * Return the name of a language in that language.
 * @param {string} tag
 */
function nameOf(tag) {
	try {
		return new Intl.DisplayNames(tag, { type: "language" }).of(tag) ?? tag;
	} catch {
		return tag; // the browser does not know this language
	}
}
