// Exact sampling from random bytes: integers only, byte for byte the same in every implementation.
//
// A coin is eight bytes, read as a big-endian number u. It shows heads if u < T, so heads have probability T/2^64 exactly.
// No floating point is involved, and no byte is drawn without being used. A source that returns a wrong number of bytes
// raises an error, and never biases a coin.

/** @typedef {(count: number) => Uint8Array} RandomBytes */

export const DENOMINATOR = 1n << 64n;
const WORDS = 2 ** 32;
const MOST_AT_ONCE = 65_536; // the limit of browsers, in bytes

/**
 * Return random bytes of the operating system.
 * @type {RandomBytes}
 */
export function systemBytes(count) {
	const bytes = new Uint8Array(count);
	for (let start = 0; start < count; start += MOST_AT_ONCE) {
		crypto.getRandomValues(bytes.subarray(start, start + MOST_AT_ONCE));
	}
	return bytes;
}

/**
 * Return exactly `count` random bytes; throw RangeError if the source returns another number of them.
 * @param {number} count
 * @param {RandomBytes} randomBytes
 */
export function drawBytes(count, randomBytes) {
	const bytes = randomBytes(count);
	if (bytes.length !== count) throw new RangeError(`randomBytes(${count}) returned ${bytes.length} bytes`);
	return bytes;
}

/**
 * Return a uniform integer from 0 to 2^64 − 1.
 * @param {RandomBytes} randomBytes
 */
export function drawWord(randomBytes) {
	return bigEndian(drawBytes(8, randomBytes));
}

/**
 * Return true (heads) with probability threshold/2^64.
 * @param {bigint} threshold
 * @param {RandomBytes} randomBytes
 */
export function flipCoin(threshold, randomBytes) {
	return drawWord(randomBytes) < threshold;
}

/**
 * Return a uniform integer from 0 to bound − 1, by rejection sampling.
 * @param {number} bound
 * @param {RandomBytes} randomBytes
 */
export function drawBelow(bound, randomBytes) {
	for (;;) {
		const x = Number(bigEndian(drawBytes(4, randomBytes)));
		if (x < WORDS - (WORDS % bound)) return x % bound;
	}
}

/**
 * Return the first `count` of a partial Fisher–Yates shuffle of `items`, which is reordered in place.
 * @param {number} count
 * @param {number[]} items
 * @param {RandomBytes} randomBytes
 */
export function pick(count, items, randomBytes) {
	for (let done = 0; done < count; done++) {
		const other = done + drawBelow(items.length - done, randomBytes);
		[items[done], items[other]] = [items[other], items[done]];
	}
	return items.slice(0, count);
}

/** @param {Uint8Array} bytes */
export function bigEndian(bytes) {
	let number = 0n;
	for (const byte of bytes) number = (number << 8n) | BigInt(byte);
	return number;
}
