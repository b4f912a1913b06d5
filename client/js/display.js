// The parts of a definition that are only displayed: sections, a completion code, translations.
//
// They do not change the report. They are part of the digest, so that every respondent sees the same.

import {
	checkKeys,
	dumps,
	isObject,
	matches,
	parseLabels,
	parseList,
	parseText,
	parseTexts,
	present,
} from "./canonical.js";
import { check } from "./errors.js";
import { typeOf } from "./question.js";

/** @import { Survey } from "./definition.js" */
/** @import { Question } from "./question.js" */

/**
 * A heading before the question `first`; a grid shows scales with equal points as one table.
 * @typedef {{ first: string, title: string, text?: string, grid?: true }} Section
 */
/**
 * The text of a question in another language; labels are by position, under the key of the question's type.
 * @typedef {{ text: string, unit?: string } & Record<string, any>} QuestionText
 */
/**
 * All texts of a survey in another language; questions are by id, sections by position.
 * @typedef {object} Translation
 * @property {string} title
 * @property {string} [description]
 * @property {string} [consent]
 * @property {string} [contact]
 * @property {string} [thanks]
 * @property {Record<string, QuestionText>} questions
 * @property {{ title: string, text?: string }[]} [sections]
 */
/** @typedef {Record<string, Translation>} Translations by language */

const LANGUAGE = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;
const SECURE = /^https:\/\/[\x21-\x7e]+$/;

/**
 * Return a language tag other than the default; throw bad_value for any other value.
 * @param {any} value
 * @param {string} leftOut
 * @returns {string}
 */
export function parseLanguage(value, leftOut) {
	check(matches(value, LANGUAGE) && value !== leftOut);
	return value;
}

/**
 * Check the sections, which are in the order of their questions; throw CandorError.
 * @param {unknown} value
 * @param {Question[]} questions
 */
export function parseSections(value, questions) {
	const all = parseList(value, 1);
	/** @type {number[]} */
	const starts = [];
	for (const section of all) {
		checkKeys(section, ["first", "title"], ["text", "grid"]);
		const start = questions.findIndex(({ id }) => id === section.first);
		check(start > (starts.at(-1) ?? -1));
		starts.push(start);
		parseTexts(section, ["title", "text"]);
		if ("grid" in section) check(section.grid === true);
	}
	all.forEach(({ grid }, i) => {
		const inside = questions.slice(starts[i], starts[i + 1]);
		const points = dumps(inside[0].labels);
		check(!grid || inside.every(({ type, labels }) => typeOf(type).fitsGrid && dumps(labels) === points));
	});
}

/**
 * Check a completion code or https address, which no client opens; throw bad_value for other values.
 * @param {unknown} value
 */
export function parseCompletion(value) {
	check(!parseText(value).includes("://") || matches(value, SECURE));
}

/**
 * Check that each translation has exactly the texts of the original; throw CandorError.
 * @param {any} value
 * @param {Survey} survey
 */
export function parseTranslations(value, survey) {
	check(isObject(value) && Object.keys(value).length > 0);
	for (const [tag, translation] of Object.entries(value)) {
		parseLanguage(tag, survey.language);
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
	parseTexts(value, [...prose, "contact"]);
	const ids = survey.questions.map(({ id }) => id);
	checkKeys(value.questions, ids);
	for (const question of survey.questions) checkWords(value.questions[question.id], question);
	if (!survey.sections) return;
	const headings = parseList(value.sections, 1);
	check(headings.length === survey.sections.length);
	survey.sections.forEach((section, i) => {
		const texts = present(section, ["title", "text"]);
		checkKeys(headings[i], texts);
		parseTexts(headings[i], texts);
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
	if (labelsKey) check(parseLabels(value[labelsKey], 1).length === question.labels.length);
	parseTexts(value, texts);
}
