// A report is all that ever leaves the device: a random id and noisy bits.

import { encode, symbolOf } from "./answer.js";
import { draw, pick, systemBytes } from "./sampling.js";

export function Report(survey, id, bits) {
	const toJson = () => JSON.stringify({ survey, id: toText(id), bits: toText(bits) });
	return { survey, id, bits, toJson };
}

export const toText = (bytes) =>
	btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
export const fromText = (text) =>
	Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt());

// neither verifies nor remembers; respond does
export function randomize(survey, answers, { randomBytes = systemBytes } = {}) {
	const [indices, asked] = [encode(survey, answers), chooseAsked(survey, randomBytes)];
	return assemble(survey, indices, asked, () => randomBytes, randomBytes);
}

export function chooseAsked({ ask, fields }, random) {
	const all = [...fields.keys()];
	return ask ? pick(ask, all, random).sort((a, b) => a - b) : all;
}

export function assemble(survey, indices, asked, noise, random) {
	const bits = survey.fields.flatMap((field, position) => {
		let part = Array(field.mechanism.width).fill(0);
		if (asked.includes(position)) {
			const codes = field.questions.map((q) => indices[q.id]);
			const source = noise(field, codes);
			part = field.mechanism.randomize(symbolOf(field, codes, source), source);
		}
		return survey.ask ? [+asked.includes(position), ...part] : part;
	});
	const packed = new Uint8Array(survey.length);
	bits.forEach((bit, i) => (packed[i >> 3] |= bit << (7 - (i & 7))));
	return Report(survey.digest, draw(16, random), packed);
}
