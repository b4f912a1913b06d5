// The errors that the client throws: one class, with the same codes as the Python classes.

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
 * Throw CandorError unless a condition holds.
 * @param {unknown} ok
 * @param {string} [code]
 * @param {string} [reason]
 * @returns {asserts ok}
 */
export function check(ok, code = "bad_value", reason = code) {
	if (!ok) throw new CandorError(code, reason);
}
