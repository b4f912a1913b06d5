// The definition of a survey; what is malformed is refused here.

import { choose, conform, dumps, isCount, isDecimal, isName, isObject, isText, loads, matches } from "./canonical.js";
import { check } from "./errors.js";
import { parse as parseMechanism } from "./mechanism.js";
import { digest, utf8 } from "./sha256.js";

const isList = (x) => Array.isArray(x) && x.length >= 1;
const isLabels = (x) => isList(x) && x.every(isText) && new Set(x).size === x.length;
const isOptions = (x) => isLabels(x) && x.length >= 2;

const SURVEY = {
	format: (x) => x === "candor/1",
	slug: isName,
	title: isText,
	"description?": isText,
	"consent?": isText,
	"contact?": isText,
	"language?": (x) => x !== "en" && matches(x, /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/),
	epsilon: (x) => isDecimal(x) && x > 0 && /^[0-9]+(\.[0-9]{1,12})?$/.test(x),
	"ask?": (x) => isCount(x) && x >= 1,
	questions: isList,
	fields: isList,
};
const TYPES = {
	yes_no: {},
	choice: { options: isOptions },
	scale: { points: isOptions, "scores?": (x) => isList(x) && x.every(isDecimal) },
	multiple: { options: isOptions },
	number: { min: isDecimal, max: isDecimal, step: isDecimal, "unit?": isText, "levels?": isCount, "bins?": isCount },
};
const QUESTION = { id: isName, text: isText, type: isText, "optional?": (x) => x === true, "show_if?": isObject };

export const Survey = {
	fromJson(bytes) {
		check(bytes.length <= 256000, "too_large");
		return { ...parse(loads(bytes)), digest: digest(bytes) };
	},
};

function parse(value) {
	conform(value, SURVEY);
	const { language = "en", ask } = value;
	const questions = value.questions.reduce((earlier, raw) => [...earlier, parseQuestion(raw, earlier)], []);
	const free = new Map(questions.map((q) => [q.id, q]));
	const fields = value.fields.map((raw) => parseField(raw, free));
	check(!free.size && !(ask > fields.length) && !(ask && questions.some((q) => q.show_if)));
	const width = fields.reduce((sum, { mechanism }) => sum + mechanism.width + !!ask, 0);
	const length = Math.ceil(width / 8);
	check(length <= 47888, "too_large");
	return { ...value, language, questions, fields, width, length };
}

function parseQuestion(raw, earlier) {
	conform(raw, { ...QUESTION, ...choose(raw?.type, TYPES) });
	const { id, type, scores, show_if: condition } = raw;
	const labels = type === "yes_no" ? ["no", "yes"] : raw.options ?? raw.points ?? [];
	check(!earlier.some((other) => other.id === id) && (scores ?? labels).length === labels.length);
	if (condition) {
		check(!raw.optional);
		conform(condition, { question: isName, is: isLabels });
		const parent = earlier.find((other) => other.id === condition.question);
		check(parent && condition.is.every((label) => parent.labels.includes(label)));
	}
	const q = { ...raw, raw, labels, optional: !!(raw.optional ?? raw.show_if) };
	if (type === "number") Object.assign(q, parseGrid(q));
	const count = BigInt(labels.length || q.levels || q.bins);
	const symbols = type === "multiple" ? 1n << count : count;
	return { ...q, noAnswer: q.levels ? q.steps + 1n : symbols, size: Number(symbols) + q.optional };
}

// min, max and step in units of 10^-digits, and the largest index
function parseGrid({ min, max, step: by, levels, bins }) {
	const texts = [min, max, by].map((x) => `${x}.`.split("."));
	const digits = Math.max(...texts.map(([, decimals]) => decimals.length));
	const [low, high, step] = texts.map(([whole, decimals]) => BigInt(whole + decimals.padEnd(digits, "0")));
	const steps = step > 0n ? (high - low) / step : 0n;
	check(low < high && steps * step === high - low && steps < 1n << 31n);
	const grain = levels ?? bins;
	check(!(levels && bins) && grain >= 2 && grain <= steps + 1n);
	return { steps, grid: { low, high, step, digits } };
}

function parseField(value, free) {
	conform(value, { questions: isList, mechanism: isObject });
	const questions = value.questions.map((id) => free.get(id));
	check(value.questions.every((id) => free.delete(id)));
	const [{ type, labels, levels, optional }, joint] = questions;
	const { kind } = value.mechanism;
	if (kind === "sampled") check(!joint && type === "multiple", "bad_mechanism");
	if (kind === "geometric") check(!joint && levels && !optional, "bad_mechanism");
	const product = questions.reduce((size, q) => size * q.size, 1);
	const mechanism = parseMechanism(value.mechanism, kind === "sampled" ? labels.length + optional : product);
	const raw = { mechanism: value.mechanism, questions: questions.map((q) => q.raw) };
	return { questions, mechanism, digest: digest(utf8(dumps(raw))) };
}
