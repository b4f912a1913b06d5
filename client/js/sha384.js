// SHA-384 (FIPS 180-4), for tickets: like SHA-256, with words of 64 bits, 80 rounds and another initial state.
//
// The constants are computed as the standard defines them: the first 64 bits of the fractional parts of the square roots of the
// ninth to sixteenth prime, and of the cube roots of the first 80. BigInt is slow but fast enough: 0.1 ms a block.

import { firstPrimes, fractionOfRoot } from "./sha256.js";

const BLOCK_BYTES = 128;
const ROUNDS = 80;
const WORD_BYTES = 8;

const PRIMES = firstPrimes(ROUNDS);
const START = PRIMES.slice(8, 16).map((prime) => fractionOfRoot(prime, 2n, 64n));
const ROUND_CONSTANTS = PRIMES.map((prime) => fractionOfRoot(prime, 3n, 64n));

/** @param {bigint} word */
const wrap = (word) => BigInt.asUintN(64, word);

/**
 * @param {bigint} word
 * @param {bigint} places
 */
const turn = (word, places) => wrap((word >> places) | (word << (64n - places)));

/**
 * Return the SHA-384 of bytes.
 *
 * The message is padded with a one bit, zeros up to a whole number of blocks, and its length in bits in sixteen bytes.
 * @param {Uint8Array} bytes
 */
export function sha384(bytes) {
	const padded = new Uint8Array(Math.ceil((bytes.length + 17) / BLOCK_BYTES) * BLOCK_BYTES);
	padded.set(bytes);
	padded[bytes.length] = 0x80;
	const view = new DataView(padded.buffer);
	view.setBigUint64(padded.length - WORD_BYTES, BigInt(bytes.length) * 8n);
	const state = BigUint64Array.from(START);
	for (let start = 0; start < padded.length; start += BLOCK_BYTES) compress(state, view, start);
	state.forEach((word, i) => {
		view.setBigUint64(WORD_BYTES * i, word);
	});
	return padded.slice(0, 48);
}

/**
 * Mix one block into the state; the arrays take sums modulo 2^64.
 * @param {BigUint64Array} state
 * @param {DataView} view
 * @param {number} start
 */
function compress(state, view, start) {
	const words = new BigUint64Array(ROUNDS);
	for (let i = 0; i < 16; i++) words[i] = view.getBigUint64(start + WORD_BYTES * i);
	for (let i = 16; i < ROUNDS; i++) {
		const early = turn(words[i - 15], 1n) ^ turn(words[i - 15], 8n) ^ (words[i - 15] >> 7n);
		const late = turn(words[i - 2], 19n) ^ turn(words[i - 2], 61n) ^ (words[i - 2] >> 6n);
		words[i] = words[i - 16] + early + words[i - 7] + late;
	}
	let [a, b, c, d, e, f, g, h] = state;
	for (let i = 0; i < ROUNDS; i++) {
		const choice = g ^ (e & (f ^ g));
		const majority = (a & b) ^ (a & c) ^ (b & c);
		const first = h + (turn(e, 14n) ^ turn(e, 18n) ^ turn(e, 41n)) + choice + ROUND_CONSTANTS[i] + words[i];
		const second = (turn(a, 28n) ^ turn(a, 34n) ^ turn(a, 39n)) + majority;
		[h, g, f, e, d, c, b, a] = [g, f, e, wrap(d + first), c, b, a, wrap(first + second)];
	}
	[a, b, c, d, e, f, g, h].forEach((word, i) => {
		state[i] += word;
	});
}
