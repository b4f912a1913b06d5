// Who may answer a survey by invitation: whoever brings a ticket, which the issuer signed without seeing it.
//
// RSABSSA-SHA384-PSS-Randomized of RFC 9474: the device encodes prefix ‖ digest with a salt (EMSA-PSS, RFC 8017 §9.1),
// multiplies it by r^e, has that signed, and divides the signature by r. Whatever the issuer keeps fits every ticket
// alike: r is uniform among the numbers that n does not share a factor with, and a message that shared one is refused
// before it is sent, so this holds for dishonest keys too. What is signed is verified here before it is kept.
//
// Only surveys by invitation load this file. What a definition says about tickets is in definition.js, and how a device
// takes one, which Python does in respond.py, is here.

import { charge, find, ticketOf } from "./spending.js";
import { matches } from "./canonical.js";
import { CandorError, check } from "./errors.js";
import { fromText, toText } from "./report.js";
import { issuerOf, post } from "./respond.js";
import { bigEndian, draw, systemBytes } from "./sampling.js";
import { concat } from "./sha256.js";
import { sha384 } from "./sha384.js";

/** @import { Entry } from "./spending.js" */
/** @import { Survey, Tickets } from "./definition.js" */
/** @import { Ledger } from "./ledger.js" */
/** @import { Ticket } from "./report.js" */
/** @import { Address, Means } from "./respond.js" */
/** @import { RandomBytes } from "./sampling.js" */
/** @typedef {{ prefix: Uint8Array, salt: Uint8Array, r: Uint8Array }} Blinding what only this device knows */

const PREFIX_BYTES = 32;
const SALT_BYTES = 48;
const HASH_BYTES = 48;
const SQUARINGS = 16; // e = 2^16 + 1
const TRAILER = 0xbc;
const SIGNATURE = /^[\w-]{512}$/;
const NO_TICKET = ["not_invited", "already_issued"]; // of a pending invitation: another one may take its place

/**
 * The ticket, from the ledger, the link or the issuer; a request that is pending is repeated first.
 * @param {Survey} survey
 * @param {Address} address
 * @param {Ledger} ledger
 * @param {Means} [means]
 * @returns {Promise<Ticket>}
 */
export async function ticketFor(survey, address, ledger, means = {}) {
	const { tickets } = survey;
	if (!tickets) throw new RangeError("this survey takes no tickets");
	const { server, invitation, ticket } = address;
	const book = ledger.read();
	const entry = find(book, survey, server);
	if (entry.signature || entry.stored) return held(entry);
	const key = keyOf(tickets);
	if (ticket) {
		checkTicket(key, survey.digest, ticket);
		return held(await ledger.keep(survey, server, ticket));
	}
	check(entry.r || invitation, "ticket_needed");
	const { now = Date.now, randomBytes = systemBytes } = means;
	check(!tickets.from || now() < Date.parse(tickets.from), "too_late", tickets.from);
	charge(book, survey, server, means);
	if (entry.r && invitation && invitation !== entry.code) {
		try {
			return await finish(survey, address, ledger, entry, means);
		} catch (error) {
			if (!(error instanceof CandorError && NO_TICKET.includes(error.code))) throw error;
			await ledger.drop(survey, server, entry);
		}
	}
	const code = invitation ?? "";
	const pending = await ledger.take(survey, server, code, () => drawBlinding(key, randomBytes));
	return finish(survey, address, ledger, pending, means);
}

/**
 * Send what is pending: the same every time, whatever happens in between.
 * @param {Survey} survey
 * @param {Address} address
 * @param {Ledger} ledger
 * @param {Entry} pending
 * @param {Means} means
 */
async function finish(survey, address, ledger, pending, { attempts, pause }) {
	const { code, prefix, salt, r } = pending;
	if (!survey.tickets || !code || !prefix || !salt || !r) return held(pending);
	const key = keyOf(survey.tickets);
	const message = messageOf(fromText(prefix), survey.digest);
	const blinding = bigEndian(fromText(r));
	const blinded = toText(blind(key, message, fromText(salt), blinding));
	/** @param {any} said */
	const signed = ({ signature }) => matches(signature, SIGNATURE) && signature;
	const blindSignature = await post(
		issuerOf(address, survey),
		JSON.stringify({ survey: survey.digest, blinded }),
		signed,
		{ headers: { "Candor-Invitation": code }, attempts, pause },
	);
	const signature = finalize(key, message, fromText(blindSignature), blinding);
	return held(await ledger.keep(survey, address.server, { prefix: fromText(prefix), signature }));
}

/** @param {Tickets} tickets */
export const keyOf = ({ key }) => bigEndian(fromText(key));

/**
 * @param {Entry} entry
 * @returns {Ticket}
 */
function held(entry) {
	const ticket = ticketOf(entry);
	check(ticket, "ticket_needed"); // this device has answered; its ticket is used and forgotten
	return ticket;
}

/**
 * 32 bytes of prefix, 48 of salt, and as many of r as n has, the last drawn again unless it can be divided by.
 * @param {bigint} key the modulus n
 * @param {RandomBytes} randomBytes
 * @returns {Blinding}
 */
export function drawBlinding(key, randomBytes) {
	const prefix = draw(PREFIX_BYTES, randomBytes);
	const salt = draw(SALT_BYTES, randomBytes);
	for (;;) {
		const r = draw(byteLength(key), randomBytes);
		const number = bigEndian(r);
		if (number > 0n && number < key && divisor(number, key) === 1n) return { prefix, salt, r };
	}
}

/**
 * What a ticket's signature is for.
 * @param {Uint8Array} prefix
 * @param {string} digest
 */
export function messageOf(prefix, digest) {
	return concat(prefix, fromHex(digest));
}

/**
 * Throws bad_ticket unless the ticket was signed with this key, for this definition.
 * @param {bigint} key
 * @param {string} digest
 * @param {Ticket} ticket
 */
export function checkTicket(key, digest, { prefix, signature }) {
	check(prefix.length === PREFIX_BYTES && verify(key, messageOf(prefix, digest), signature), "bad_ticket");
}

/**
 * The encoded message times r^e: uniform, whatever the message is.
 * @param {bigint} key
 * @param {Uint8Array} message
 * @param {Uint8Array} salt
 * @param {bigint} r
 */
export function blind(key, message, salt, r) {
	const encoded = bigEndian(encode(message, salt, bitLength(key) - 1));
	check(divisor(encoded, key) === 1n, "bad_ticket"); // a key with a small factor, which would mark the person
	return toBytes((encoded * power(r, key)) % key, byteLength(key));
}

/**
 * The signature of the message; throws bad_ticket if that is not what came back.
 * @param {bigint} key
 * @param {Uint8Array} message
 * @param {Uint8Array} blindSignature
 * @param {bigint} r
 * @param {number} [saltBytes]
 */
export function finalize(key, message, blindSignature, r, saltBytes = SALT_BYTES) {
	check(isBelow(blindSignature, key), "bad_ticket");
	const signature = toBytes((bigEndian(blindSignature) * inverse(r, key)) % key, byteLength(key));
	check(verify(key, message, signature, saltBytes), "bad_ticket");
	return signature;
}

/**
 * Whether this is a signature of the message.
 * @param {bigint} key
 * @param {Uint8Array} message
 * @param {Uint8Array} signature
 * @param {number} [saltBytes]
 */
export function verify(key, message, signature, saltBytes = SALT_BYTES) {
	const bits = bitLength(key) - 1;
	const opened = power(bigEndian(signature), key);
	if (!isBelow(signature, key) || opened >> BigInt(bits)) return false;
	const encoded = toBytes(opened, Math.ceil(bits / 8));
	const seal = encoded.slice(-HASH_BYTES - 1, -1);
	const block = masked(encoded.slice(0, -HASH_BYTES - 1), seal, bits);
	const salt = block.slice(block.length - saltBytes);
	const rebuilt = concat(padded(salt, block.length), sealOf(message, salt), [TRAILER]);
	return String(rebuilt) === String(concat(block, seal, encoded.slice(-1)));
}

/**
 * EMSA-PSS with SHA-384 and MGF1: zeros, a one and the salt, under the mask of the seal; the seal; an end.
 * @param {Uint8Array} message
 * @param {Uint8Array} salt
 * @param {number} bits that the encoding may have
 */
function encode(message, salt, bits) {
	const seal = sealOf(message, salt);
	return concat(masked(padded(salt, Math.ceil(bits / 8) - HASH_BYTES - 1), seal, bits), seal, [TRAILER]);
}

/**
 * @param {Uint8Array} message
 * @param {Uint8Array} salt
 */
const sealOf = (message, salt) => sha384(concat(new Uint8Array(8), sha384(message), salt));

/**
 * Zeros, a one, the salt.
 * @param {Uint8Array} salt
 * @param {number} length
 */
const padded = (salt, length) => concat(new Uint8Array(length - salt.length - 1), [1], salt);

/**
 * Masked, or unmasked, by MGF1 of the seal (RFC 8017 §B.2.1), with the bits cleared that the encoding has no place for.
 * @param {Uint8Array} block
 * @param {Uint8Array} seal
 * @param {number} bits
 */
function masked(block, seal, bits) {
	const count = Math.ceil(block.length / HASH_BYTES);
	const mask = concat(...Array.from({ length: count }, (_, i) => sha384(concat(seal, [0, 0, 0, i]))));
	const result = block.map((byte, i) => byte ^ mask[i]);
	result[0] &= 0xff >> (-bits & 7);
	return result;
}

/**
 * @param {Uint8Array} bytes
 * @param {bigint} key
 */
const isBelow = (bytes, key) => bytes.length === byteLength(key) && bigEndian(bytes) < key;

/**
 * base^e mod n.
 * @param {bigint} base
 * @param {bigint} modulus
 */
function power(base, modulus) {
	let result = base;
	for (let i = 0; i < SQUARINGS; i++) result = (result * result) % modulus;
	return (result * base) % modulus;
}

/**
 * @param {bigint} a
 * @param {bigint} b
 * @returns {bigint}
 */
function divisor(a, b) {
	while (b) [a, b] = [b, a % b];
	return a;
}

/**
 * By the extended algorithm of Euclid; the two have no common divisor.
 * @param {bigint} a
 * @param {bigint} modulus
 */
function inverse(a, modulus) {
	let [rest, next, factor, following] = [a, modulus, 1n, 0n];
	while (next) {
		const times = rest / next;
		[rest, next, factor, following] = [next, rest - times * next, following, factor - times * following];
	}
	return factor < 0n ? factor + modulus : factor;
}

/** @param {bigint} key */
const bitLength = (key) => key.toString(2).length;

/** @param {bigint} key */
const byteLength = (key) => Math.ceil(bitLength(key) / 8);

/**
 * @param {bigint} number
 * @param {number} length
 */
const toBytes = (number, length) => fromHex(number.toString(16).padStart(2 * length, "0"));

/** @param {string} text */
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
