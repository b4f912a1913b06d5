// The address of the survey: the address of the page or, for a form in a file, the address that the file names. The
// fragment after the # of the page is the respondent's own.

import { Survey } from "/client/js/definition.js";
import { CandorError } from "/client/js/errors.js";
import { fetch, parseAddress } from "/client/js/respond.js";
import { utf8 } from "/client/js/sha256.js";
import { embeddedDefinition, pageData } from "./page_data.js";

/** Return the survey's address with its fragment, which may have a pin, an invitation or a ticket. */
export const address = () => `${pageData.home ?? location.href.split("#")[0]}${location.hash}`;

/** Return the parts of the survey's address. */
export const surveyAddress = () => parseAddress(address());

/** Return the address of the page that explains the survey. */
export function privacyPage() {
	const { server, slug } = surveyAddress();
	return `${server}/s/${slug}/privacy`;
}

/**
 * Return the address of this page with another fragment.
 * @param {string} fragment
 */
export const thisPage = (fragment) => `${location.href.split("#")[0]}${fragment && `#${fragment}`}`;

/** Return the https address of this page or, for a form in a file, of the survey. */
export function isEncrypted() {
	const url = new URL(location.protocol === "http:" ? location.href : address());
	return Object.assign(url, { protocol: "https:", port: "" }).href;
}

/** Return the survey that is embedded in the page, or else the server's; throw wrong_definition if it is not the pinned one. */
export async function loadSurvey() {
	if (!embeddedDefinition) return fetch(address());
	const { slug, pin } = surveyAddress();
	const survey = Survey.fromJson(utf8(embeddedDefinition));
	if (survey.slug !== slug || (pin && pin !== survey.digest)) throw new CandorError("wrong_definition");
	return survey;
}
