// The language of the form, and the survey in it. It is chosen on the device and never sent.

import { typeOf } from "/client/js/question.js";

/** @import { Section } from "/client/js/display.js" */
/** @import { Field, Survey } from "/client/js/definition.js" */
/** @import { Question } from "/client/js/question.js" */

/**
 * A translated question; answers, conditions and symbols are those of the original.
 * @typedef {Question & { original: Question }} Asked
 */
/**
 * A translated survey. Labels are by position, so that bits and indices mean the same in every language.
 * @typedef {Omit<Survey, "questions" | "fields"> & { original: Survey, questions: Asked[], fields: (Omit<Field, "questions"> & { questions: Asked[] })[] }} Localized
 */

/** @param {Survey} survey */
export const languagesOf = ({ language, translations = {} }) => [language, ...Object.keys(translations)];

/**
 * Return the survey in one of its languages; in its original language if it has no such translation.
 * @param {Survey} survey
 * @param {string} language
 * @returns {Localized}
 */
export function translateSurvey(survey, language) {
	const words = Object.hasOwn(survey.translations ?? {}, language) ? survey.translations?.[language] : undefined;
	const asked = survey.questions.map((original) => {
		const texts = words?.questions[original.id];
		const { labelsKey } = typeOf(original.type);
		return { ...original, ...texts, labels: texts?.[labelsKey ?? ""] ?? original.labels, original };
	});
	/** @param {Question} original */
	const translate = (original) => asked[survey.questions.indexOf(original)];
	const fields = survey.fields.map((field) => ({ ...field, questions: field.questions.map(translate) }));
	const sections = survey.sections?.map((section, i) => ({ ...section, ...words?.sections?.[i] }));
	return {
		...survey,
		...words,
		language: words ? language : survey.language,
		sections,
		questions: asked,
		fields,
		original: survey,
	};
}

/**
 * Return the first of the reader's languages that is offered, in any region; otherwise the first that is offered.
 * @param {string[]} offered
 * @param {readonly string[]} wishes such as "de-AT", in order of preference
 */
export function languageFor(offered, wishes) {
	/** @param {string} tag */
	const main = (tag) => tag.split("-")[0].toLowerCase();
	for (const wish of wishes) {
		const exact = offered.find((tag) => tag.toLowerCase() === wish.toLowerCase());
		const match = exact ?? offered.find((tag) => main(tag) === main(wish));
		if (match) return match;
	}
	return offered[0];
}
