// SHA-256 (FIPS 180-4), because pages over plain http have no crypto.subtle. Python has hashlib.
//
// The constants are computed as the standard defines them: the first 32 bits of the fractional parts
// of the square roots of the first 8 primes and of the cube roots of the first 64.

const BLOCK_BYTES = 64;
const ROUNDS = 64;

const PRIMES = firstPrimes(ROUNDS);
const START = PRIMES.slice(0, 8).map((prime) => Number(fractionOfRoot(prime, 2n, 32n)));
const ROUND_CONSTANTS = PRIMES.map((prime) => Number(fractionOfRoot(prime, 3n, 32n)));

/** @param {number} count */
export function firstPrimes(count) {
	/** @type {number[]} */
	const primes = [];
	for (let n = 2; primes.length < count; n++) {
		if (primes.every((prime) => n % prime !== 0)) primes.push(n);
	}
	return primes;
}

/**
 * Return the first `bits` bits of the fractional part of a root of n.
 *
 * The largest x with x^degree ≤ n · 2^(bits · degree) is the root in units of 2^-bits; its low bits are the fraction.
 * @param {number} n
 * @param {bigint} degree
 * @param {bigint} bits
 */
export function fractionOfRoot(n, degree, bits) {
	const target = BigInt(n) << (bits * degree);
	let root = 0n;
	for (let bit = 1n << (bits + 8n); bit > 0n; bit >>= 1n) {
		if ((root + bit) ** degree <= target) root += bit;
	}
	return BigInt.asUintN(Number(bits), root);
}

/**
 * Return the exclusive or of a word rotated right by each of these numbers of places.
 * @param {number} word
 * @param {number[]} places
 */
const rotations = (word, ...places) => places.reduce((sum, n) => sum ^ (word >>> n) ^ (word << (32 - n)), 0);

/**
 * Return the SHA-256 of bytes.
 *
 * The message is padded with a one bit, zeros up to a whole number of blocks, and its length in bits in eight bytes.
 * @param {Uint8Array} bytes
 */
export function sha256(bytes) {
	const blocks = Math.ceil((bytes.length + 9) / BLOCK_BYTES);
	const padded = concat(bytes, [0x80], new Uint8Array(blocks * BLOCK_BYTES - bytes.length - 1));
	const view = new DataView(padded.buffer);
	view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
	const state = Int32Array.from(START);
	for (let start = 0; start < padded.length; start += BLOCK_BYTES) compress(state, view, start);
	state.forEach((word, i) => {
		view.setInt32(4 * i, word);
	});
	return padded.slice(0, 32);
}

/**
 * Mix one block into the state; sums are taken modulo 2^32.
 * @param {Int32Array} state
 * @param {DataView} view
 * @param {number} start
 */
function compress(state, view, start) {
	const words = new Int32Array(ROUNDS);
	for (let i = 0; i < 16; i++) words[i] = view.getInt32(start + 4 * i);
	for (let i = 16; i < ROUNDS; i++) {
		const early = rotations(words[i - 15], 7, 18) ^ (words[i - 15] >>> 3);
		const late = rotations(words[i - 2], 17, 19) ^ (words[i - 2] >>> 10);
		words[i] = words[i - 16] + early + words[i - 7] + late;
	}
	let [a, b, c, d, e, f, g, h] = state;
	for (let i = 0; i < ROUNDS; i++) {
		const choice = (e & f) ^ (~e & g);
		const majority = (a & b) ^ (a & c) ^ (b & c);
		const first = h + rotations(e, 6, 11, 25) + choice + ROUND_CONSTANTS[i] + words[i];
		const second = rotations(a, 2, 13, 22) + majority;
		[h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
	}
	[a, b, c, d, e, f, g, h].forEach((word, i) => {
		state[i] += word;
	});
}

/** @param {ArrayLike<number>[]} parts */
export const concat = (...parts) => Uint8Array.from(parts.flatMap((part) => Array.from(part)));

/** @param {string} text */
export const utf8 = (text) => new TextEncoder().encode(text);

/**
 * Return the SHA-256 of bytes in hexadecimal.
 * @param {Uint8Array} bytes
 */
export const digest = (bytes) => Array.from(sha256(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
