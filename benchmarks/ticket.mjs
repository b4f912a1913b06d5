// How long the browser's client takes for its part of a ticket: median milliseconds of processor time to draw and
// blind, then to unblind and verify. Arguments: modulus and private exponent in hexadecimal, a digest, how many.

import { systemBytes } from "../client/js/sampling.js";
import { blindMessage, drawRequest, finalize, messageOf } from "../client/js/ticket.js";

const [n, d, digest, count] = process.argv.slice(2);
const [key, secret] = [BigInt(`0x${n}`), BigInt(`0x${d}`)];
const number = (bytes) => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
const times = [[], []];

function sign(blinded) {
	let [signed, square] = [1n, number(blinded)];
	for (let left = secret; left; left >>= 1n) {
		if (left & 1n) signed = (signed * square) % key;
		square = (square * square) % key;
	}
	return Uint8Array.from(Buffer.from(signed.toString(16).padStart(768, "0"), "hex"));
}

function timed(place, work) {
	const start = process.cpuUsage();
	const result = work();
	const { user, system } = process.cpuUsage(start);
	times[place].push((user + system) / 1000);
	return result;
}

for (let i = 0; i < Number(count); i++) {
	const [{ prefix, r }, blinded] = timed(0, () => {
		const drawn = drawRequest(key, systemBytes);
		return [drawn, blindMessage(key, messageOf(drawn.prefix, digest), drawn.salt, number(drawn.r))];
	});
	const signed = sign(blinded);
	timed(1, () => finalize(key, messageOf(prefix, digest), signed, number(r)));
}
console.log(times.map((all) => all.sort((a, b) => a - b)[all.length >> 1]).join(" "));
