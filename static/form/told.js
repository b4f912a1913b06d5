// What came with the page: our own strings, the state of the survey and, in a file or a preview, where it lives and what it is.

/**
 * For each language of the survey, the one that we speak beside it, and its direction; and our strings. `home` is the
 * survey's address, if that is not the page's; `file` the SHA-256 of the form in a file.
 * @typedef {object} Told
 * @property {Record<string, { ours: string, dir: string }>} languages
 * @property {Record<string, Record<string, string>>} strings
 * @property {string} state "open", or why it takes no reports
 * @property {string | null} [opens] when, if it has not
 * @property {string} [shown] from when on results of a survey by invitation are shown
 * @property {string} [home]
 * @property {string} [file]
 */

/** @param {string} id */
const read = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");

/** @type {Told} */
export const told = read("words");

/**
 * The definition, as text, where it need not be fetched.
 * @type {string | null}
 */
export const brought = read("definition");
