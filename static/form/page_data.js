// The data embedded in the page: our own strings, the state of the survey and, in a file or a preview, its address.

/**
 * `languages`: for each language of the survey, the language of our own strings, and its direction. `strings`: our strings
 * by language. `home`: the survey's address if it differs from the page's. `file`: the SHA-256 of the form as a file.
 * @typedef {object} PageData
 * @property {Record<string, { ours: string, dir: string }>} languages
 * @property {Record<string, Record<string, string>>} strings
 * @property {string} state "open", or the reason why the survey takes no reports
 * @property {string | null} [opens] the moment when it opens, if it has not opened yet
 * @property {string} [shown] the moment from which results of a survey by invitation are shown
 * @property {string} [home]
 * @property {string} [file]
 */

/** @param {string} id */
const read = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");

/** @type {PageData} */
export const pageData = read("words");

/**
 * The definition as text, if it is embedded in the page and need not be fetched.
 * @type {string | null}
 */
export const embeddedDefinition = read("definition");
