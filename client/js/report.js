// A report: sixteen random bytes and the noisy bits. It is all that ever leaves the device.
//
// Bits of all fields in order, most significant first, padded with zeros to a byte; with `ask`, each field is preceded
// by one asked bit, and an unasked field is all zeros. Every report to a survey has the same size, whatever was answered.

import { encode, symbolOf } from "./answer.js";
import { check } from "./errors.js";
import { below, draw, systemBytes } from "./sampling.js";

/** @import { Answers, Indices } from "./answer.js" */
/** @import { Field, Survey } from "./definition.js" */
/** @import { RandomBytes } from "./sampling.js" */

const ID_BYTES = 16;

/** What is sent: the digest of the survey, a random id, the bits. */
export class Report {
	/**
	 * @param {string} survey
	 * @param {Uint8Array} id
	 * @param {Uint8Array} bits
	 */
	constructor(survey, id, bits) {
		this.survey = survey;
		this.id = id;
		this.bits = bits;
	}

	/** The wire form. */
	toJson() {
		return JSON.stringify({ survey: this.survey, id: toText(this.id), bits: toText(this.bits) });
	}
}

/**
 * base64url without padding.
 * @param {Uint8Array} data
 */
export function toText(data) {
	return btoa(String.fromCharCode(...data))
		.replaceAll("+", "-")
		.replaceAll("/", "_")
		.replaceAll("=", "");
}

/**
 * The inverse of `toText`.
 * @param {string} text
 */
export function fromText(text) {
	const data = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
	return Uint8Array.from(data, (character) => character.charCodeAt(0));
}

/**
 * One report from fresh noise; `asked` is a field's index, for a draw that was made before. It neither verifies the
 * survey nor consults a ledger; `respond` does.
 * @param {Survey} survey
 * @param {Answers} answers
 * @param {{ asked?: number | null, randomBytes?: RandomBytes }} [options]
 */
export function randomize(survey, answers, { asked = null, randomBytes = systemBytes } = {}) {
	if (asked !== null && !(survey.ask && survey.fields[asked])) {
		throw new RangeError(`there is no field ${asked} to ask`);
	}
	const indices = encode(survey, answers, asked);
	const mine = survey.ask ? (asked ?? drawAsked(survey, randomBytes)) : null;
	return assemble(survey, indices, mine, () => randomBytes, randomBytes);
}

/**
 * The field that this device answers, drawn by the chances of the fields; no answer has a part in it.
 * @param {Survey} survey
 * @param {RandomBytes} randomBytes
 */
export function drawAsked({ fields }, randomBytes) {
	const total = fields.reduce((sum, { chance }) => sum + chance, 0);
	let left = below(total, randomBytes);
	return fields.findIndex(({ chance }) => {
		left -= chance;
		return left < 0;
	});
}

/**
 * A report of all fields, or of the asked one; a field draws from its own `noise`, the id from `randomBytes`.
 * @param {Survey} survey
 * @param {Indices} indices
 * @param {number | null} asked
 * @param {(field: Field, codes: bigint[]) => RandomBytes} noise
 * @param {RandomBytes} randomBytes
 */
export function assemble(survey, indices, asked, noise, randomBytes) {
	check(!survey.tickets, "ticket_needed");
	const bits = survey.fields.flatMap((field, position) => {
		const isMine = asked === null || asked === position;
		let part = Array(field.mechanism.width).fill(0);
		if (isMine) {
			const codes = field.questions.map((question) => indices[question.id]);
			const source = noise(field, codes);
			part = field.mechanism.randomize(symbolOf(field, codes, source), source);
		}
		return survey.ask ? [Number(isMine), ...part] : part;
	});
	const packed = new Uint8Array(survey.length);
	bits.forEach((bit, i) => {
		packed[i >> 3] |= bit << (7 - (i & 7));
	});
	return new Report(survey.digest, draw(ID_BYTES, randomBytes), packed);
}

/**
 * The bits of every field, null where it was not asked; impossible_bits if no device could have sent them.
 * @param {Survey} survey
 * @param {Uint8Array} data
 */
export function unpack(survey, data) {
	check(data.length === survey.length, "impossible_bits");
	const bits = Array.from({ length: 8 * data.length }, (_, i) => (data[i >> 3] >> (7 - (i & 7))) & 1);
	let next = 0;
	const fields = survey.fields.map(({ mechanism }) => {
		const asked = !survey.ask || bits[next++] === 1;
		const part = bits.slice(next, next + mechanism.width);
		next += mechanism.width;
		check(asked ? mechanism.possible(part) : !part.includes(1), "impossible_bits");
		return asked ? part : null;
	});
	check(!bits.includes(1, next), "impossible_bits"); // the padding is zeros
	check(!survey.ask || fields.filter(Boolean).length === 1, "impossible_bits"); // each device answers exactly one
	return fields;
}
