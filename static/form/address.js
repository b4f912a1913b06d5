// Where the survey lives, whatever page asks its questions: at the address of the page or, for a form in a file, at the
// one that the file names. What stands after the # of the page is the person's own.

import { CandorError, fetch, Survey } from "/client/js/index.js";
import { parseAddress } from "/client/js/respond.js";
import { utf8 } from "/client/js/sha256.js";
import { brought, told } from "./told.js";

/** The survey's address, with its pin, and the invitation or the ticket as long as that is in it. */
export const address = () => `${told.home ?? location.href.split("#")[0]}${location.hash}`;

/** The same, in parts. */
export const here = () => parseAddress(address());

/** The page that explains the survey. */
export function privacyPage() {
	const { server, slug } = here();
	return `${server}/s/${slug}/privacy`;
}

/**
 * This page with something else after its #.
 * @param {string} fragment
 */
export const thisPage = (fragment) => `${location.href.split("#")[0]}${fragment && `#${fragment}`}`;

/** The same page by https; of a form in a file, the survey's. */
export function encrypted() {
	const url = new URL(location.protocol === "http:" ? location.href : address());
	return Object.assign(url, { protocol: "https:", port: "" }).href;
}

/** The definition that came with the page, or else the server's; the link may pin either. */
export async function obtain() {
	if (!brought) return fetch(address());
	const { slug, pin } = here();
	const survey = Survey.fromJson(utf8(brought));
	if (survey.slug !== slug || (pin && pin !== survey.digest)) throw new CandorError("wrong_definition");
	return survey;
}
