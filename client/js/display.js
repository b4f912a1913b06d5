// What a definition holds for the eye alone: sections, a code at the end, translations.
//
// Nothing of it changes what is sent; but it is part of the digest, so everybody is shown the same.

import { checkKeys, dumps, isObject, items, labelsAt, matches, plainText, plainTexts, present } from "./canonical.js";
import { check } from "./errors.js";
import { typeOf } from "./question.js";

/** @import { Survey } from "./definition.js" */
/** @import { Question } from "./question.js" */

/**
 * A heading before the question `first`; a grid shows scales with equal points as one table.
 * @typedef {{ first: string, title: string, text?: string, grid?: true }} Section
 */
/**
 * The words of one question in another language; labels are by position, under the key that its type has for them.
 * @typedef {{ text: string, unit?: string } & Record<string, any>} Words
 */
/**
 * Every text of a survey in another language; questions are by id, sections by position.
 * @typedef {object} Translation
 * @property {string} title
 * @property {string} [description]
 * @property {string} [consent]
 * @property {string} [contact]
 * @property {string} [thanks]
 * @property {Record<string, Words>} questions
 * @property {{ title: string, text?: string }[]} [sections]
 */
/** @typedef {Record<string, Translation>} Translations by language */

const LANGUAGE = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;
const SECURE = /^https:\/\/[\x21-\x7e]+$/;

/**
 * A language tag other than one that goes without saying.
 * @param {any} value
 * @param {string} leftOut
 * @returns {string}
 */
export function language(value, leftOut) {
	check(matches(value, LANGUAGE) && value !== leftOut);
	return value;
}

/**
 * Headings in the order of the questions, each running to the next.
 * @param {unknown} value
 * @param {Question[]} questions
 */
export function sections(value, questions) {
	const all = items(value, 1);
	/** @type {number[]} */
	const starts = [];
	for (const section of all) {
		checkKeys(section, ["first", "title"], ["text", "grid"]);
		const start = questions.findIndex(({ id }) => id === section.first);
		check(start > (starts.at(-1) ?? -1));
		starts.push(start);
		plainTexts(section, ["title", "text"]);
		if ("grid" in section) check(section.grid === true);
	}
	all.forEach(({ grid }, i) => {
		const inside = questions.slice(starts[i], starts[i + 1]);
		const points = dumps(inside[0].labels);
		check(!grid || inside.every(({ type, labels }) => typeOf(type).fitsGrid && dumps(labels) === points));
	});
}

/**
 * A code, or an https address, which is shown and never followed by itself.
 * @param {unknown} value
 */
export function completion(value) {
	check(!plainText(value).includes("://") || matches(value, SECURE));
}

/**
 * Each has every text that the original has, and no other.
 * @param {any} value
 * @param {Survey} survey
 */
export function translations(value, survey) {
	check(isObject(value) && Object.keys(value).length > 0);
	for (const [tag, translation] of Object.entries(value)) {
		language(tag, survey.language);
		checkTranslation(translation, survey);
	}
}

/**
 * @param {any} value
 * @param {Survey} survey
 */
function checkTranslation(value, survey) {
	const prose = present(survey, ["title", "description", "consent", "thanks"]);
	const parts = present(survey, ["questions", "sections"]);
	checkKeys(value, [...prose, ...parts], present(survey, ["contact"]));
	plainTexts(value, [...prose, "contact"]);
	const ids = survey.questions.map(({ id }) => id);
	checkKeys(value.questions, ids);
	for (const question of survey.questions) checkWords(value.questions[question.id], question);
	if (!survey.sections) return;
	const headings = items(value.sections, 1);
	check(headings.length === survey.sections.length);
	survey.sections.forEach((section, i) => {
		const texts = present(section, ["title", "text"]);
		checkKeys(headings[i], texts);
		plainTexts(headings[i], texts);
	});
}

/**
 * @param {any} value
 * @param {Question} question
 */
function checkWords(value, question) {
	const { labelsKey } = typeOf(question.type);
	const texts = present(question.raw, ["text", "unit"]);
	checkKeys(value, labelsKey ? [...texts, labelsKey] : texts);
	if (labelsKey) check(labelsAt(value[labelsKey], 1).length === question.labels.length);
	plainTexts(value, texts);
}
