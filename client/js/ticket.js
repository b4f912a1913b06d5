// Tickets for surveys by invitation: blind signatures, so that the issuer signs a ticket without seeing it.
//
// RSABSSA-SHA384-PSS-Randomized of RFC 9474: the device encodes prefix ‖ digest with a salt (EMSA-PSS, RFC 8017 §9.1),
// multiplies it by r^e, sends it to be signed, and divides the signature by r. The issuer's records fit every ticket
// equally well, because r is uniform among the numbers coprime to n. A message that shares a factor with n is refused
// before it is sent, so this holds for dishonest keys too. A signature is verified before it is stored.
//
// Only surveys by invitation load this file. The `tickets` part of a definition is parsed in definition.js. Taking a
// ticket, which Python does in respond.py, is done here.

import { matches } from "./canonical.js";
import { CandorError, check } from "./errors.js";
import { fromBase64url, toBase64url } from "./report.js";
import { issuerOf, post } from "./respond.js";
import { bigEndian, drawBytes, systemBytes } from "./sampling.js";
import { concat } from "./sha256.js";
import { sha384 } from "./sha384.js";
import { charge, find, ticketOf } from "./spending.js";

/** @import { Entry } from "./spending.js" */
/** @import { Survey, Tickets } from "./definition.js" */
/** @import { Ledger } from "./ledger.js" */
/** @import { Ticket } from "./report.js" */
/** @import { Address, Means } from "./respond.js" */
/** @import { RandomBytes } from "./sampling.js" */
/** @typedef {{ prefix: Uint8Array, salt: Uint8Array, r: Uint8Array }} TicketRequest the secrets of a ticket request */

const PREFIX_BYTES = 32;
const SALT_BYTES = 48;
const HASH_BYTES = 48;
const SQUARINGS = 16; // e = 2^16 + 1
const TRAILER = 0xbc;
const SIGNATURE = /^[\w-]{512}$/;
const REFUSALS = ["not_invited", "already_issued"]; // refusals of a pending request; another invitation may replace it

/**
 * Return the ticket from the ledger, the link or the issuer; a pending request is repeated first.
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
	const spending = ledger.read();
	const entry = find(spending, survey, server);
	if (entry.signature || entry.stored) return requireTicket(entry);
	const key = keyOf(tickets);
	if (ticket) {
		checkTicket(key, survey.digest, ticket);
		return requireTicket(await ledger.keep(survey, server, ticket));
	}
	check(entry.r || invitation, "ticket_needed");
	const { now = Date.now, randomBytes = systemBytes } = means;
	check(!tickets.from || now() < Date.parse(tickets.from), "too_late", tickets.from);
	charge(spending, survey, server, means);
	if (entry.r && invitation && invitation !== entry.code) {
		try {
			return await finish(survey, address, ledger, entry, means);
		} catch (error) {
			if (!(error instanceof CandorError && REFUSALS.includes(error.code))) throw error;
			await ledger.drop(survey, server, entry);
		}
	}
	const code = invitation ?? "";
	const pending = await ledger.take(survey, server, code, () => drawRequest(key, randomBytes));
	return finish(survey, address, ledger, pending, means);
}

/**
 * Send the pending ticket request, store the ticket and return it. Every attempt sends the same bytes.
 * @param {Survey} survey
 * @param {Address} address
 * @param {Ledger} ledger
 * @param {Entry} pending
 * @param {Means} means
 */
async function finish(survey, address, ledger, pending, { attempts, pause }) {
	const { code, prefix, salt, r } = pending;
	if (!survey.tickets || !code || !prefix || !salt || !r) return requireTicket(pending);
	const key = keyOf(survey.tickets);
	const message = messageOf(fromBase64url(prefix), survey.digest);
	const blinding = bigEndian(fromBase64url(r));
	const blinded = toBase64url(blindMessage(key, message, fromBase64url(salt), blinding));
	/** @param {any} reply */
	const parse = ({ signature }) => matches(signature, SIGNATURE) && signature;
	const blindSignature = await post(
		issuerOf(address, survey),
		JSON.stringify({ survey: survey.digest, blinded }),
		parse,
		{ headers: { "Candor-Invitation": code }, attempts, pause },
	);
	const signature = finalize(key, message, fromBase64url(blindSignature), blinding);
	return requireTicket(await ledger.keep(survey, address.server, { prefix: fromBase64url(prefix), signature }));
}

/** @param {Tickets} tickets */
export const keyOf = ({ key }) => bigEndian(fromBase64url(key));

/**
 * @param {Entry} entry
 * @returns {Ticket}
 */
function requireTicket(entry) {
	const ticket = ticketOf(entry);
	check(ticket, "ticket_needed"); // this device has answered; its ticket is used and deleted
	return ticket;
}

/**
 * Draw 32 bytes of prefix, 48 of salt, and as many of r as n has; r is drawn again until it is invertible modulo n.
 * @param {bigint} key the modulus n
 * @param {RandomBytes} randomBytes
 * @returns {TicketRequest}
 */
export function drawRequest(key, randomBytes) {
	const prefix = drawBytes(PREFIX_BYTES, randomBytes);
	const salt = drawBytes(SALT_BYTES, randomBytes);
	for (;;) {
		const r = drawBytes(byteLength(key), randomBytes);
		const number = bigEndian(r);
		if (number > 0n && number < key && divisor(number, key) === 1n) return { prefix, salt, r };
	}
}

/**
 * Return the message that a ticket's signature covers: its prefix and the definition's digest.
 * @param {Uint8Array} prefix
 * @param {string} digest
 */
export function messageOf(prefix, digest) {
	return concat(prefix, fromHex(digest));
}

/**
 * Throw bad_ticket unless the ticket was signed with this key, for this definition.
 * @param {bigint} key
 * @param {string} digest
 * @param {Ticket} ticket
 */
export function checkTicket(key, digest, { prefix, signature }) {
	check(prefix.length === PREFIX_BYTES && verify(key, messageOf(prefix, digest), signature), "bad_ticket");
}

/**
 * Return the encoded message times r^e, which is uniform for every message.
 * @param {bigint} key
 * @param {Uint8Array} message
 * @param {Uint8Array} salt
 * @param {bigint} r
 */
export function blindMessage(key, message, salt, r) {
	const encoded = bigEndian(encode(message, salt, bitLength(key) - 1));
	check(divisor(encoded, key) === 1n, "bad_ticket"); // a key with a small factor could identify the respondent
	return toBytes((encoded * power(r, key)) % key, byteLength(key));
}

/**
 * Return the verified signature of the message; throw bad_ticket if it is not valid.
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
 * Return whether a signature of the message is valid.
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
	const block = maskBlock(encoded.slice(0, -HASH_BYTES - 1), seal, bits);
	const salt = block.slice(block.length - saltBytes);
	const rebuilt = concat(pad(salt, block.length), sealOf(message, salt), [TRAILER]);
	return String(rebuilt) === String(concat(block, seal, encoded.slice(-1)));
}

/**
 * Return the EMSA-PSS encoding (SHA-384, MGF1): masked zeros, a one and the salt; then the seal and the trailer.
 * @param {Uint8Array} message
 * @param {Uint8Array} salt
 * @param {number} bits the largest number of bits of the encoding
 */
function encode(message, salt, bits) {
	const seal = sealOf(message, salt);
	return concat(maskBlock(pad(salt, Math.ceil(bits / 8) - HASH_BYTES - 1), seal, bits), seal, [TRAILER]);
}

/**
 * @param {Uint8Array} message
 * @param {Uint8Array} salt
 */
const sealOf = (message, salt) => sha384(concat(new Uint8Array(8), sha384(message), salt));

/**
 * Return zeros, a one and the salt.
 * @param {Uint8Array} salt
 * @param {number} length
 */
const pad = (salt, length) => concat(new Uint8Array(length - salt.length - 1), [1], salt);

/**
 * Mask or unmask a block by MGF1 of the seal (RFC 8017 §B.2.1), and clear the bits that do not fit into the encoding.
 * @param {Uint8Array} block
 * @param {Uint8Array} seal
 * @param {number} bits
 */
function maskBlock(block, seal, bits) {
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
 * Return base^e mod n.
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
 * Return the modular inverse by the extended Euclidean algorithm; the arguments are coprime.
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
