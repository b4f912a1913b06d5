// Exact sampling from random bytes: integers only, byte for byte the same in every implementation.
//
// A coin is eight bytes, read as a big-endian number u, and heads iff u < T, so heads have probability T/2^64 exactly.
// No floating point comes near it, nothing else consumes bytes, and no more are drawn than used. A source that returns
// another number of bytes than asked for is an error, never a biased coin.

/** @typedef {(count: number) => Uint8Array} RandomBytes */

export const WHOLE = 1n << 64n;
const WORDS = 2 ** 32;
const MOST_AT_ONCE = 65_536; // bytes that a browser gives

/**
 * The system's own.
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
 * Exactly so many bytes of a source, or an error.
 * @param {number} count
 * @param {RandomBytes} randomBytes
 */
export function draw(count, randomBytes) {
	const bytes = randomBytes(count);
	if (bytes.length !== count) throw new RangeError(`randomBytes(${count}) returned ${bytes.length} bytes`);
	return bytes;
}

/**
 * A uniform integer from 0 to 2^64 − 1.
 * @param {RandomBytes} randomBytes
 */
export function word(randomBytes) {
	return bigEndian(draw(8, randomBytes));
}

/**
 * Heads with probability threshold/2^64.
 * @param {bigint} threshold
 * @param {RandomBytes} randomBytes
 */
export function coin(threshold, randomBytes) {
	return word(randomBytes) < threshold;
}

/**
 * A uniform integer from 0 to bound − 1, by rejection: no value is favoured.
 * @param {number} bound
 * @param {RandomBytes} randomBytes
 */
export function below(bound, randomBytes) {
	for (;;) {
		const x = Number(bigEndian(draw(4, randomBytes)));
		if (x < WORDS - (WORDS % bound)) return x % bound;
	}
}

/**
 * The first `count` of a partial Fisher–Yates shuffle of `items`, which it reorders.
 * @param {number} count
 * @param {number[]} items
 * @param {RandomBytes} randomBytes
 */
export function pick(count, items, randomBytes) {
	for (let done = 0; done < count; done++) {
		const other = done + below(items.length - done, randomBytes);
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
