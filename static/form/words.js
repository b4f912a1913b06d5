// What bits say and protect, in words; Python's words.py says the same in a terminal.

import { labelsOf } from "/client/js/answer.js";

export const { foreign, language, strings } = JSON.parse(document.getElementById("words").textContent);
const NAMED = 12;
const decimals = new Intl.NumberFormat(language, { maximumFractionDigits: 20 });
const list = (type, items) => new Intl.ListFormat(language, { type }).format(items) || say("none");

// an author's words keep their direction within ours
const isolate = (x) => (foreign && typeof x === "string" ? `\u2068${x}\u2069` : x);
export const say = (key, values) => strings[key].replace(/\{(\w+)\}/g, (_, name) => isolate(values[name]));

const whole = (x) => x.toLocaleString(language);
// a quotient of BigInts, half to even like Python's
function round(above, below) {
	const [quotient, twice] = [above / below, 2n * (above % below)];
	return quotient + BigInt(twice > below || (twice === below && quotient % 2n === 1n));
}
// never less than the truth
export const epsilon = (x) => whole(Math.ceil((x - 1e-9) * 100) / 100 || 0);

// exact: BigInt in units of 10^-digits, through decimal text
const number = (units, digits, unit = "") => `${decimals.format(`${units}e-${digits}`)} ${unit}`.trim();
const onGrid = ({ grid: { low, step } }, i, from = low) => from + BigInt(i) * step;
export const gridValue = (q, i, from) => number(onGrid(q, i, from), q.grid.digits, q.unit);
// Noise may take a level beyond the range. A level between two values of the grid has three digits more.
function levelValue({ grid: { low, high, digits }, levels, unit }, level, from = low) {
	const between = BigInt(levels - 1);
	const scaled = 1000n * (from * between + BigInt(level) * (high - low));
	const [twice, below] = [2n * scaled + between, 2n * between];
	const units = twice / below - BigInt(twice % below < 0n);
	return number(units, digits + 3, unit);
}

// the bits of every field, null where it was not asked
export function unpack({ ask, fields }, bytes) {
	const bits = [...bytes].flatMap((byte) => Array.from(byte.toString(2).padStart(8, 0), Number));
	return fields.map(({ mechanism }) => {
		const asked = !ask || bits.shift();
		const part = bits.splice(0, mechanism.width);
		return asked ? part : null;
	});
}

export function describe(field, bits) {
	const { mechanism: { kind, width }, questions: [q] } = field;
	if (kind === "flip") return symbolLabel(field, bits[0]);
	if (kind === "geometric") return levelValue(q, Number(BigInt.asIntN(width, BigInt(`0b${bits.join("")}`))));
	const places = [...bits.keys()].filter((i) => bits[i]);
	const option = (i) => `${q.labels[i >> 1] ?? say("no_answer")}: ${say(i & 1 ? "yes" : "no")}`;
	if (kind === "sampled") return places.map(option).join(", ");
	const named = places.slice(0, NAMED).map((place) => symbolLabel(field, place));
	if (places[NAMED]) named.push(say("more", { count: places.length - NAMED }));
	return list("disjunction", named);
}

// what a person said, before any rounding
export const said = ({ questions }, indices) => questions.map((q) => answered(q, indices[q.id])).join(" + ");

function answered(q, index) {
	if (index === q.noAnswer) return say("no_answer");
	return q.levels ? gridValue(q, index) : digitLabel(q, index);
}

function symbolLabel({ questions }, symbol) {
	const labels = [];
	for (const q of [...questions].reverse()) {
		const digit = symbol % q.size;
		symbol = (symbol - digit) / q.size;
		labels.unshift(q.optional && digit === q.size - 1 ? say("no_answer") : digitLabel(q, digit));
	}
	return labels.join(" + ");
}

function digitLabel(q, digit) {
	if (q.type === "multiple") return list("conjunction", labelsOf(q, BigInt(digit)));
	if (q.type === "yes_no") return say(q.labels[digit]);
	if (q.type !== "number") return q.labels[digit];
	if (q.levels) return levelValue(q, digit);
	const first = (bin) => Math.ceil((bin * (Number(q.steps) + 1)) / q.bins);
	const [low, high] = [first(Number(digit)), first(Number(digit) + 1) - 1];
	return low === high ? gridValue(q, low) : say("range", { low: gridValue({ ...q, unit: "" }, low), high: gridValue(q, high) });
}

// how often a device sends the truth, of as many devices as it takes to see ten that do otherwise
export function oddsOf(field) {
	const { kind, size, weight, draw, keep, one, zero, ratio } = field.mechanism;
	if (kind === "geometric") {
		const r = Number(ratio) / 2 ** 64;
		const shift = Math.max(0, Math.trunc(Math.log((1 + r) / 4) / Math.log(r)));
		const values = { away: levelValue(field.questions[0], shift, 0n) };
		return { key: shift ? "odds_noise" : "odds_little", values };
	}
	// chances in units of 1/all
	const others = BigInt(kind === "subset" ? size - 1 : 1);
	const all = others << 64n;
	const p = (keep ?? one) * others;
	const q = kind === "subset" ? (BigInt(weight) << 64n) - keep : zero;
	const least = q < all - p ? q : all - p;
	let people = 100n;
	while (people * least < 10n * all) people *= 10n;
	const [yes, no] = kind === "flip" ? [1, 0].map((i) => symbolLabel(field, i)) : ["with", "without"].map((key) => say(key));
	const among = (chance, people) => round(people * chance, all);
	const values = { people: whole(people), p: whole(among(p, people)), q: whole(among(q, people)) };
	const key = strings[`odds_${kind}`] ? `odds_${kind}` : "odds_named";
	return { key, values: { ...values, yes, no, size, draw }, dots: [p, q].map((chance) => Number(among(chance, 100n))) };
}

// where a suspicion of 1 in 20 can end
export function chance(loss) {
	const after = 1 / (1 + 19 * Math.exp(-loss));
	let people = 100;
	while (Math.ceil(people * after) >= people && people < 1e9) people *= 10;
	const [part, among] = after > 0.5 ? [Math.ceil(people * after), people] : [1, Math.floor(1 / after)];
	return say("chance", { part: whole(part), whole: whole(among) });
}
