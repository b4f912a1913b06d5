// Lets a test talk to the JavaScript client: one request in, one answer out. In node it reads lines of JSON, in a
// browser a page calls `handle`. Both import the very files that the form loads.

import { needed } from "../../client/js/definition.js";
import { fetch, Ledger, randomize, respond, Survey, submit, verify } from "../../client/js/index.js";
import { keyedStream } from "../../client/js/ledger.js";
import { unpack } from "../../client/js/report.js";
import { below, coin, systemBytes } from "../../client/js/sampling.js";
import { digest, hmac, utf8 } from "../../client/js/sha256.js";
import { describe, oddsSentence } from "../../client/js/words.js";

const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const hex = (data) => Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
const ledgers = {};

function tape(data) {
	let used = 0;
	const random = (count) => {
		used += count;
		return data.slice(used - count, used);
	};
	return { random, used: () => used };
}

const verbs = {
	digest: ({ text }) => digest(utf8(text)),
	hmac: ({ key, text }) => hex(hmac(bytes(key), utf8(text))),
	stream: ({ key, context, counts }) => {
		const stream = keyedStream(bytes(key), ...context);
		return counts.map((count) => hex(stream(count)));
	},
	parse: ({ source }) => {
		const survey = Survey.fromJson(bytes(source));
		return { digest: survey.digest, epsilon: verify(survey), width: survey.width };
	},
	verify: ({ source, limit }) => verify(Survey.fromJson(bytes(source)), { limit }),
	randomize: ({ source, answers, asked, tape: data }) => {
		const { random, used } = tape(bytes(data));
		const { id, bits } = randomize(Survey.fromJson(bytes(source)), answers, { asked, randomBytes: random });
		return { id: hex(id), bits: hex(bits), used: used() };
	},
	needed: ({ source, asked }) => [...needed(Survey.fromJson(bytes(source)), asked)],
	system: ({ count }) => hex(systemBytes(count)),
	unpack: ({ source, bits }) => unpack(Survey.fromJson(bytes(source)), bytes(bits)),
	words: ({ source, bits, strings }) => {
		const survey = Survey.fromJson(bytes(source));
		const say = (key, values = {}) => strings[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
		const speech = { language: "en", say };
		const parts = unpack(survey, bytes(bits));
		return survey.fields.map((field, i) => ({
			odds: oddsSentence(field, speech),
			sent: parts[i] && describe(field, parts[i], speech),
		}));
	},
	vector: ({ threshold, coins, bounds, each, prefix }) => {
		let [buffer, block] = [[], 0];
		const random = (count) => {
			while (buffer.length < count) {
				const counter = Array.from({ length: 8 }, (_, i) => String.fromCharCode((block / 2 ** (8 * (7 - i))) & 255));
				buffer.push(...bytes(digest(Uint8Array.from(prefix + counter.join(""), (c) => c.charCodeAt()))));
				block++;
			}
			return buffer.splice(0, count);
		};
		const out = Array.from({ length: coins }, () => +coin(BigInt(threshold), random));
		for (const bound of bounds) for (let i = 0; i < each; i++) out.push(below(bound, random));
		return digest(utf8(out.join()));
	},
	sample: ({ source, answers, count }) => {
		const survey = Survey.fromJson(bytes(source));
		const counts = {};
		for (let i = 0; i < count; i++) {
			const bits = hex(randomize(survey, answers).bits);
			counts[bits] = (counts[bits] ?? 0) + 1;
		}
		return counts;
	},
	keyed: ({ key, waves }) => {
		const ledger = new Ledger({});
		ledger.write({ key, reports: {}, drawn: [] });
		return waves.map(({ source, answers, limit }) => {
			const survey = Survey.fromJson(bytes(source));
			const asked = ledger.asked(survey);
			const { report, made, epsilon } = ledger.make(survey, answers, { limit });
			return { asked, bits: hex(report.bits), made, epsilon };
		});
	},
	storage: ({ name, content }) => {
		ledgers[name] = new Ledger(content);
		return ledgers[name].persistent;
	},
	stored: ({ name }) => ledgers[name].storage["candor-ledger/1"] ?? null,
	forget: ({ name }) => ledgers[name].forget() ?? null,
	spent: ({ name, slug }) => ledgers[name].spent(slug),
	fetch: async ({ url }) => (await fetch(url)).digest,
	respond: async ({ url, answers, name, options = {} }) => {
		if (name !== undefined) ledgers[name] ??= new Ledger({});
		return respond(url, answers, { ...options, ledger: ledgers[name] ?? null, pause: () => null });
	},
	submit: async ({ url, source, answers, options = {} }) =>
		submit(url, randomize(Survey.fromJson(bytes(source)), answers), { ...options, pause: () => null }),
};

export async function handle({ verb, ...request }) {
	try {
		return { value: await verbs[verb](request) };
	} catch (error) {
		return { code: error.code ?? null, message: String(error) };
	}
}

if (globalThis.process?.versions?.node) {
	const { createInterface } = await import("node:readline");
	for await (const line of createInterface({ input: process.stdin }))
		process.stdout.write(`${JSON.stringify(await handle(JSON.parse(line)))}\n`);
}
