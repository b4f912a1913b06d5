// Reports: an id, the noisy bits, and a ticket if the survey is by invitation. Nothing else leaves the device.
//
// The bits of all fields stand in order, most significant first, padded with zeros to a byte. With `ask`, each field is
// preceded by one asked bit, and the bits of a field that is not asked are zeros. Every report to a survey has the same
// size, regardless of the answers. The id is sixteen random bytes. With a ticket it is derived from the ticket, which is
// thus valid for one report only.

import { encode, symbolOf } from "./answer.js";
import { check } from "./errors.js";
import { drawBelow, drawBytes, systemBytes } from "./sampling.js";
import { concat, sha256, utf8 } from "./sha256.js";

/** @import { Answers } from "./answer.js" */
/** @import { Survey } from "./definition.js" */
/** @import { RandomBytes } from "./sampling.js" */
/** @typedef {{ prefix: Uint8Array, signature: Uint8Array }} Ticket */

export const ID_BYTES = 16;

/** The data that is sent: the digest of the survey, an id, the bits, and the ticket if the survey takes one. */
export class Report {
	/**
	 * @param {string} survey
	 * @param {Uint8Array} id
	 * @param {Uint8Array} bits
	 * @param {Ticket} [ticket]
	 */
	constructor(survey, id, bits, ticket) {
		this.survey = survey;
		this.id = id;
		this.bits = bits;
		this.ticket = ticket;
	}

	/** Return the report as the JSON that is sent. */
	toJson() {
		const { survey, id, bits, ticket } = this;
		const encoded = ticket && { prefix: toBase64url(ticket.prefix), signature: toBase64url(ticket.signature) };
		return JSON.stringify({ survey, id: toBase64url(id), bits: toBase64url(bits), ticket: encoded });
	}
}

/**
 * Return the id of the one report that a ticket is valid for. So the stored reports are the list of used tickets.
 * @param {Uint8Array} prefix
 */
export const ticketId = (prefix) => sha256(concat(utf8("candor ticket\0"), prefix)).slice(0, ID_BYTES);

/**
 * Return bytes as base64url without padding.
 * @param {Uint8Array} data
 */
export function toBase64url(data) {
	return btoa(String.fromCharCode(...data))
		.replaceAll("+", "-")
		.replaceAll("/", "_")
		.replaceAll("=", "");
}

/**
 * Return the bytes of base64url text.
 * @param {string} text
 */
export function fromBase64url(text) {
	const data = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
	return Uint8Array.from(data, (character) => character.charCodeAt(0));
}

/**
 * Return one report with fresh noise. `asked` is the index of the field that was drawn before, if it was. The function
 * neither verifies the survey or the ticket nor reads a ledger; `respond` does.
 * @param {Survey} survey
 * @param {Answers} answers
 * @param {{ asked?: number | null, ticket?: Ticket | null, randomBytes?: RandomBytes }} [options]
 */
export function randomize(survey, answers, { asked = null, ticket = null, randomBytes = systemBytes } = {}) {
	if (asked !== null && !(survey.ask && survey.fields[asked])) {
		throw new RangeError(`there is no field ${asked} to ask`);
	}
	if (ticket && !survey.tickets) throw new RangeError("this survey takes no tickets");
	check(ticket || !survey.tickets, "ticket_needed");
	const indices = encode(survey, answers, asked);
	const choice = survey.ask ? (asked ?? drawField(survey, randomBytes)) : null;
	const parts = survey.fields.map((field, position) => {
		if (choice !== null && choice !== position) return null;
		const codes = field.questions.map((question) => indices[question.id]);
		return field.mechanism.randomize(symbolOf(field, codes, randomBytes), randomBytes);
	});
	const bits = pack(survey, parts);
	if (!ticket) return new Report(survey.digest, drawBytes(ID_BYTES, randomBytes), bits);
	return new Report(survey.digest, ticketId(ticket.prefix), bits, ticket);
}

/**
 * Return the index of the field that this device answers, drawn by the chances alone and not by any answer.
 * @param {Survey} survey
 * @param {RandomBytes} randomBytes
 */
export function drawField({ fields }, randomBytes) {
	const total = fields.reduce((sum, { chance }) => sum + chance, 0);
	let remaining = drawBelow(total, randomBytes);
	return fields.findIndex(({ chance }) => {
		remaining -= chance;
		return remaining < 0;
	});
}

/**
 * Pack the bits of every field, null if it was not asked, into the bytes that are sent.
 * @param {Survey} survey
 * @param {(number[] | null)[]} parts
 */
export function pack(survey, parts) {
	const bits = survey.fields.flatMap(({ mechanism }, position) => {
		const part = parts[position] ?? Array(mechanism.width).fill(0);
		return survey.ask ? [Number(parts[position] !== null), ...part] : part;
	});
	const packed = new Uint8Array(survey.length);
	bits.forEach((bit, i) => {
		packed[i >> 3] |= bit << (7 - (i & 7));
	});
	return packed;
}

/**
 * Return the bits of every field, null if it was not asked; throw impossible_bits if no device could have sent them.
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
		check(asked ? mechanism.isPossible(part) : !part.includes(1), "impossible_bits");
		return asked ? part : null;
	});
	check(!bits.includes(1, next), "impossible_bits"); // the padding is zeros
	check(!survey.ask || fields.filter(Boolean).length === 1, "impossible_bits"); // each device answers exactly one
	return fields;
}
