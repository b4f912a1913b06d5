// Exact sampling: integers only, and no more bytes than used.

export function systemBytes(count) {
	const bytes = new Uint8Array(count);
	for (let at = 0; at < count; at += 65536) crypto.getRandomValues(bytes.subarray(at, at + 65536));
	return bytes;
}

export function draw(count, random) {
	const bytes = random(count);
	if (bytes.length !== count) throw new RangeError("random bytes");
	return bytes;
}

const number = (count, random) => [...draw(count, random)].reduce((x, byte) => (x << 8n) | BigInt(byte), 0n);

export const coin = (threshold, random) => number(8, random) < threshold;

export function below(bound, random) {
	for (;;) {
		const x = Number(number(4, random));
		if (x < 2 ** 32 - (2 ** 32 % bound)) return x % bound;
	}
}

export function pick(count, items, random) {
	for (let i = 0; i < count; i++) {
		const j = i + below(items.length - i, random);
		[items[i], items[j]] = [items[j], items[i]];
	}
	return items.slice(0, count);
}
