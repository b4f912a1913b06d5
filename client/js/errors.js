// The one error; Python has the same codes.

export class CandorError extends Error {
	constructor(code, reason = code) {
		super(reason);
		this.code = code;
	}
}

export function check(ok, code = "bad_value", reason) {
	if (!ok) throw new CandorError(code, reason);
}
