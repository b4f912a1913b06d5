// A report: sixteen bytes that name it and the noisy bits. It is all that ever leaves the device, but for the ticket of
// a survey by invitation; the name is random, or follows from the ticket, so that a ticket cannot be spent twice.
//
// Bits of all fields in order, most significant first, padded with zeros to a byte; with `ask`, each field is preceded
// by one asked bit, and an unasked field is all zeros. Every report to a survey has the same size, whatever was answered.

import { encode, symbolOf } from "./answer.js";
import { check } from "./errors.js";
import { below, draw, systemBytes } from "./sampling.js";
import { concat, sha256, utf8 } from "./sha256.js";

/** @import { Answers } from "./answer.js" */
/** @import { Survey } from "./definition.js" */
/** @import { RandomBytes } from "./sampling.js" */
/** @typedef {{ prefix: Uint8Array, signature: Uint8Array }} Ticket */

export const ID_BYTES = 16;

/** What is sent: the digest of the survey, an id, the bits, and the ticket where there is one. */
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

	/** The wire form. */
	toJson() {
		const { survey, id, bits, ticket } = this;
		const shown = ticket && { prefix: toText(ticket.prefix), signature: toText(ticket.signature) };
		return JSON.stringify({ survey, id: toText(id), bits: toText(bits), ticket: shown });
	}
}

/**
 * The id of the report that this ticket goes with: the reports are themselves the list of tickets that are spent.
 * @param {Uint8Array} prefix
 */
export const ticketId = (prefix) => sha256(concat(utf8("candor ticket\0"), prefix)).slice(0, ID_BYTES);

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
 * survey or the ticket nor consults a ledger; `respond` does.
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
	const mine = survey.ask ? (asked ?? drawAsked(survey, randomBytes)) : null;
	const parts = survey.fields.map((field, position) => {
		if (mine !== null && mine !== position) return null;
		const codes = field.questions.map((question) => indices[question.id]);
		return field.mechanism.randomize(symbolOf(field, codes, randomBytes), randomBytes);
	});
	const bits = pack(survey, parts);
	if (!ticket) return new Report(survey.digest, draw(ID_BYTES, randomBytes), bits);
	return new Report(survey.digest, ticketId(ticket.prefix), bits, ticket);
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
 * The bits of every field, null where it was not asked, as they are sent.
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
 * The inverse of `pack`; impossible_bits if no device could have sent them.
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
