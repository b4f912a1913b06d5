// How a symbol (BigInt) becomes noisy bits (an array), and what that gives away: times · ln(odds).

import { choose, conform, isCount, isText, isThreshold } from "./canonical.js";
import { check } from "./errors.js";
import { coin, pick } from "./sampling.js";

const WHOLE = 1n << 64n;
const COINS = { one: isThreshold, zero: isThreshold };
const upTo = (n) => [...Array(n).keys()];
// the larger of one/zero and (1 − zero)/(1 − one)
const flipOdds = ({ one, zero }) =>
	one * (WHOLE - one) > zero * (WHOLE - zero) ? [one, zero] : [WHOLE - zero, WHOLE - one];

const KINDS = {
	flip: {
		schema: COINS,
		width: () => 1,
		odds: flipOdds,
		randomize: ({ one, zero }, symbol, random) => [+coin(symbol ? one : zero, random)],
	},
	subset: {
		schema: { size: isCount, weight: isCount, keep: isThreshold },
		valid: ({ size: k, weight: w, keep }) => w >= 1 && w < k && BigInt(w) * WHOLE < keep * BigInt(k),
		odds: ({ size: k, weight: w, keep }) => [keep * BigInt(k - w), (WHOLE - keep) * BigInt(w)],
		randomize({ size, weight, keep }, symbol, random) {
			const held = coin(keep, random);
			const others = upTo(size).filter((i) => i !== Number(symbol));
			const sent = new Set([...pick(weight - held, others, random), held && Number(symbol)]);
			return upTo(size).map((i) => +sent.has(i));
		},
	},
	unary: {
		schema: { size: isCount, ...COINS },
		odds: ({ one, zero }) => [one * (WHOLE - zero), zero * (WHOLE - one)],
		randomize: ({ size, one, zero }, symbol, random) =>
			upTo(size).map((i) => +coin(i === Number(symbol) ? one : zero, random)),
	},
	sampled: {
		schema: { size: isCount, draw: isCount, ...COINS },
		valid: ({ size, draw }) => draw >= 1 && draw <= size,
		width: ({ size }) => 2 * size,
		times: ({ draw }) => draw,
		odds: flipOdds,
		randomize({ size, draw, one, zero }, symbol, random) {
			const bits = Array(2 * size).fill(0);
			const asked = pick(draw, upTo(size), random).sort((a, b) => a - b);
			for (const i of asked) bits[2 * i + coin((symbol >> BigInt(i)) & 1n ? one : zero, random)] = 1;
			return bits;
		},
	},
	geometric: {
		schema: { ratio: isThreshold, width: isCount },
		valid({ size, ratio, width }) {
			const [r, half] = [Number(ratio) / 2 ** 64, 2 ** (width - 1)];
			const clamped = (r ** (half - size + 1) + r ** (half + size)) / (1 + r);
			const coins = 2 / (1 - r); // on average
			return width >= 2 && width <= 32 && coins <= 10000 && size <= half && clamped < 2 ** -40;
		},
		width: ({ width }) => width,
		times: ({ size }) => size - 1,
		odds: ({ ratio }) => [WHOLE, ratio],
		randomize({ ratio, width }, symbol, random) {
			let [level, half] = [Number(symbol), 2 ** (width - 1)];
			for (const sign of [1, -1]) while (coin(ratio, random)) level += sign;
			level = Math.max(-half, Math.min(half - 1, level));
			return Array.from((level + 2 * half).toString(2).slice(-width).padStart(width, "0"), Number);
		},
	},
};

export function parse(value, size) {
	const { schema, valid, width = (m) => m.size, times, odds, randomize } = choose(value.kind, KINDS);
	conform(value, { kind: isText, ...schema });
	const m = { size: value.kind === "flip" ? 2 : size, ...value };
	for (const key in schema) if (schema[key] === isThreshold) m[key] = BigInt(value[key]);
	check(m.size === size && !(value.size > 2 ** 20) && !(m.one <= m.zero) && (valid?.(m) ?? true), "bad_mechanism");
	const [up, down] = odds(m);
	const epsilon = (times?.(m) ?? 1) * Math.log1p(Number(up - down) / Number(down));
	return { ...m, width: width(m), epsilon, randomize: randomize.bind(null, m) };
}
