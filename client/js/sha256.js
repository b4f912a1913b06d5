// SHA-256 and HMAC, because plain-http pages have no crypto.subtle.

// fractional bits of roots of primes
const PRIMES = [];
for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every((p) => n % p)) PRIMES.push(n);
const root = (degree) => (n) => {
	let x = 0n;
	for (let bit = 1n << 40n; bit; bit >>= 1n) if ((x + bit) ** degree <= BigInt(n) << (32n * degree)) x += bit;
	return Number(x & 0xffffffffn);
};
const [START, ROUND] = [PRIMES.slice(0, 8).map(root(2n)), PRIMES.map(root(3n))];
const turns = (x, ...places) => places.reduce((sum, n) => sum ^ (x >>> n) ^ (x << (32 - n)), 0);

export function sha256(bytes) {
	const padded = concat(bytes, [0x80], new Uint8Array(8 + ((119 - (bytes.length % 64)) % 64)));
	const view = new DataView(padded.buffer);
	view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
	const [state, w] = [Int32Array.from(START), new Int32Array(64)];
	for (let at = 0; at < padded.length; at += 64) {
		let [a, b, c, d, e, f, g, h] = state;
		for (let i = 0; i < 64; i++) {
			const [x, y] = [w[i - 15], w[i - 2]];
			const mix = w[i - 16] + (turns(x, 7, 18) ^ (x >>> 3)) + w[i - 7] + (turns(y, 17, 19) ^ (y >>> 10));
			w[i] = i < 16 ? view.getInt32(at + 4 * i) : mix;
			const t = h + turns(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + ROUND[i] + w[i];
			const u = turns(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c));
			[h, g, f, e, d, c, b, a] = [g, f, e, (d + t) | 0, c, b, a, (t + u) | 0];
		}
		[a, b, c, d, e, f, g, h].forEach((x, i) => (state[i] += x));
	}
	state.forEach((x, i) => view.setInt32(4 * i, x));
	return padded.slice(0, 32);
}

export function hmac(key, message) {
	const pad = (byte) => Uint8Array.from({ length: 64 }, (_, i) => byte ^ key[i]);
	return sha256(concat(pad(0x5c), sha256(concat(pad(0x36), message))));
}

export const concat = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]));
export const utf8 = (text) => new TextEncoder().encode(text);
export const digest = (bytes) => Array.from(sha256(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
