// A report: sixteen random bytes and the noisy bits. It is all that ever leaves the device.
//
// Bits of all fields in order, most significant first, padded with zeros to a byte; with `ask`, each field is preceded
// by one asked bit, and an unasked field is all zeros. Every report to a survey has the same size, whatever was answered.

import { encode, symbolOf } from "./answer.js";
import { check } from "./errors.js";
import { draw, pick, systemBytes } from "./sampling.js";

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
 * One report from fresh noise. It neither verifies the survey nor consults a ledger; `respond` does.
 * @param {Survey} survey
 * @param {Answers} answers
 * @param {{ randomBytes?: RandomBytes }} [options]
 */
export function randomize(survey, answers, { randomBytes = systemBytes } = {}) {
	const indices = encode(survey, answers);
	const asked = chooseAsked(survey, randomBytes);
	return assemble(survey, indices, asked, () => randomBytes, randomBytes);
}

/**
 * The positions of the fields a device answers: all, or with `ask` a choice that no answer influences.
 * @param {Survey} survey
 * @param {RandomBytes} randomBytes
 */
export function chooseAsked({ ask, fields }, randomBytes) {
	const positions = [...fields.keys()];
	return ask ? pick(ask, positions, randomBytes).sort((a, b) => a - b) : positions;
}

/**
 * A report whose fields draw from `noise(field, indices)`, and whose id from `randomBytes`.
 * @param {Survey} survey
 * @param {Indices} indices
 * @param {number[]} asked
 * @param {(field: Field, codes: bigint[]) => RandomBytes} noise
 * @param {RandomBytes} randomBytes
 */
export function assemble(survey, indices, asked, noise, randomBytes) {
	const bits = survey.fields.flatMap((field, position) => {
		const isAsked = asked.includes(position);
		let part = Array(field.mechanism.width).fill(0);
		if (isAsked) {
			const codes = field.questions.map((question) => indices[question.id]);
			const source = noise(field, codes);
			part = field.mechanism.randomize(symbolOf(field, codes, source), source);
		}
		return survey.ask ? [Number(isAsked), ...part] : part;
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
	const bits = Array.from(data).flatMap((byte) => Array.from(byte.toString(2).padStart(8, "0"), Number));
	let next = 0;
	const fields = survey.fields.map(({ mechanism }) => {
		const asked = !survey.ask || bits[next++] === 1;
		const part = bits.slice(next, next + mechanism.width);
		next += mechanism.width;
		check(asked ? mechanism.possible(part) : !part.includes(1), "impossible_bits");
		return asked ? part : null;
	});
	check(!bits.includes(1, next), "impossible_bits"); // the padding is zeros
	const answered = fields.filter((part) => part !== null).length;
	check(!survey.ask || answered === survey.ask, "impossible_bits");
	return fields;
}
