// Every way in which the respondent's side says no: one class, with the codes of Python's tree of errors.

export class CandorError extends Error {
	/**
	 * @param {string} code stable, and the same in Python
	 * @param {string} [reason]
	 */
	constructor(code, reason = code) {
		super(reason);
		this.code = code;
	}
}

/**
 * @param {unknown} ok
 * @param {string} [code]
 * @param {string} [reason]
 * @returns {asserts ok}
 */
export function check(ok, code = "bad_value", reason = code) {
	if (!ok) throw new CandorError(code, reason);
}
