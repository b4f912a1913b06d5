// Which language the form speaks, and the survey in it. Chosen on the device: no request and no report tells which.

import { typeOf } from "/client/js/question.js";

/** @import { Section } from "/client/js/display.js" */
/** @import { Field, Survey } from "/client/js/definition.js" */
/** @import { Question } from "/client/js/question.js" */

/**
 * A question to be read in some language; answers, conditions and symbols are those of the original.
 * @typedef {Question & { original: Question }} Asked
 */
/**
 * A survey to be read in some language: what it says is translated, what it means is the original's. Labels are by
 * position, so bits and indices say the same in all of them.
 * @typedef {Omit<Survey, "questions" | "fields"> & { original: Survey, questions: Asked[], fields: (Omit<Field, "questions"> & { questions: Asked[] })[] }} Localized
 */

/** @param {Survey} survey */
export const languagesOf = ({ language, translations = {} }) => [language, ...Object.keys(translations)];

/**
 * The survey in one of its languages; in its own, if it has no such translation.
 * @param {Survey} survey
 * @param {string} language
 * @returns {Localized}
 */
export function localized(survey, language) {
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
 * The first language that the reader prefers and that is offered, whatever their region; else the first that is offered.
 * @param {string[]} offered
 * @param {readonly string[]} wishes such as "de-AT", the best first
 */
export function languageFor(offered, wishes) {
	/** @param {string} tag */
	const main = (tag) => tag.split("-")[0].toLowerCase();
	for (const wish of wishes) {
		const same = offered.find((tag) => tag.toLowerCase() === wish.toLowerCase());
		const found = same ?? offered.find((tag) => main(tag) === main(wish));
		if (found) return found;
	}
	return offered[0];
}
