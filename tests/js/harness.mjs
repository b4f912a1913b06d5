// Lets a test talk to the JavaScript client: one request in, one answer out. In node it reads lines of JSON, in a
// browser a page calls `handle`. Both import the very files that the form loads.

import { encode } from "../../client/js/answer.js";
import { questionIdsFor } from "../../client/js/definition.js";
import { describe, oddsSentence, posteriorInHundred } from "../../client/js/description.js";
import { fetch, Ledger, open, randomize, respond, Survey, submit, takeTicket, verify } from "../../client/js/index.js";
import { ticketId, toBase64url, unpack } from "../../client/js/report.js";
import { issuerOf, parseAddress, ticketLink } from "../../client/js/respond.js";
import { bigEndian, drawBelow, flipCoin, systemBytes } from "../../client/js/sampling.js";
import { digest, utf8 } from "../../client/js/sha256.js";
import { sha384 } from "../../client/js/sha384.js";
import { spentOnServer, spentOnSurvey } from "../../client/js/spending.js";
import { blindMessage, drawRequest, finalize, messageOf, verify as verifyTicket } from "../../client/js/ticket.js";

const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const hex = (data) => Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
const ledgers = {};
const storages = {};
const SERVER = "https://example.org";

function ledger(name) {
	ledgers[name] ??= new Ledger({});
	return ledgers[name];
}

// nobody waits in a test; `now` is a moment as text
function timed({ now, ...options }) {
	return { ...options, pause: () => null, ...(now && { now: () => Date.parse(now) }) };
}

// A storage and its locks that note what is read and written under one lock: "read write" for a change that cannot be
// interrupted, and "free" before whatever happens without a lock.
function watched() {
	const kept = {};
	const holds = [];
	let hold = null;
	const note = (what) => (hold ? hold.push(what) : holds.push(["free", what]));
	const storage = new Proxy(kept, {
		get: (_, key) => {
			note("read");
			return kept[key];
		},
		set: (_, key, value) => {
			note("write");
			kept[key] = value;
			return true;
		},
		deleteProperty: (_, key) => {
			note("delete");
			return delete kept[key];
		},
	});
	const locks = {
		query: async () => ({ held: [] }),
		request: async (name, run) => {
			if (name !== "candor-ledger/2") return run();
			hold = [];
			holds.push(hold);
			const result = await run();
			hold = null;
			return result;
		},
	};
	return { storage, locks, holds };
}

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
	sha384: ({ text }) => hex(sha384(utf8(text))),
	blind: ({ n, message, salt, r }) =>
		hex(blindMessage(BigInt(`0x${n}`), bytes(message), bytes(salt), BigInt(`0x${r}`))),
	finalize: ({ n, message, signed, r, salt_length }) =>
		hex(finalize(BigInt(`0x${n}`), bytes(message), bytes(signed), BigInt(`0x${r}`), salt_length)),
	signed: ({ n, message, signature, salt_length }) =>
		verifyTicket(BigInt(`0x${n}`), bytes(message), bytes(signature), salt_length),
	ticket: ({ n, digest: survey, tape: data, signed }) => {
		const key = BigInt(`0x${n}`);
		const { random, used } = tape(bytes(data));
		const { prefix, salt, r } = drawRequest(key, random);
		const message = messageOf(prefix, survey);
		const z = hex(blindMessage(key, message, salt, bigEndian(r)));
		const signature = hex(finalize(key, message, bytes(signed), bigEndian(r)));
		return { prefix: hex(prefix), salt: hex(salt), r: hex(r), used: used(), z, signature, id: hex(ticketId(prefix)) };
	},
	ticketTime: ({ n, message, signed, r, count }) => {
		const [key, said, answer, blinding] = [BigInt(`0x${n}`), bytes(message), bytes(signed), BigInt(`0x${r}`)];
		const times = Array.from({ length: count }, () => {
			const begun = performance.now();
			drawRequest(key, systemBytes);
			blindMessage(key, said, new Uint8Array(48), blinding);
			finalize(key, said, answer, blinding);
			return performance.now() - begun;
		});
		return times.sort((a, b) => a - b);
	},
	parse: ({ source }) => {
		const survey = Survey.fromJson(bytes(source));
		return { digest: survey.digest, epsilon: verify(survey), width: survey.width };
	},
	verify: ({ source, limit }) => verify(Survey.fromJson(bytes(source)), { limit }),
	randomize: ({ source, answers, asked, ticket: given, tape: data }) => {
		const { random, used } = tape(bytes(data));
		const ticket = given && { prefix: bytes(given.prefix), signature: bytes(given.signature) };
		const report = randomize(Survey.fromJson(bytes(source)), answers, { asked, ticket, randomBytes: random });
		const wire = ticket && { wire: report.toJson() };
		return { id: hex(report.id), bits: hex(report.bits), used: used(), ...wire };
	},
	looks: ({ source, answers }) => {
		const survey = Survey.fromJson(bytes(source));
		let count = 0;
		const get = (labels, key) => {
			if (/^\d+$/.test(String(key))) count++;
			return labels[key];
		};
		for (const question of survey.questions) question.labels = new Proxy(question.labels, { get });
		encode(survey, answers);
		return count;
	},
	needed: ({ source, asked }) => [...questionIdsFor(Survey.fromJson(bytes(source)), asked)],
	ofHundred: ({ suspicion, losses }) => losses.map((loss) => posteriorInHundred(suspicion, loss)),
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
		const out = Array.from({ length: coins }, () => +flipCoin(BigInt(threshold), random));
		for (const bound of bounds) for (let i = 0; i < each; i++) out.push(drawBelow(bound, random));
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
	make: ({ name, source, answers, server = SERVER, options = {} }) =>
		ledger(name).make(Survey.fromJson(bytes(source)), answers, { server, ...options }),
	begin: ({ name, source, server = SERVER, tape: data }) =>
		ledger(name).begin(Survey.fromJson(bytes(source)), server, data && tape(bytes(data)).random),
	waves: async ({ sources, answers, count }) => {
		const parsed = sources.map((source) => Survey.fromJson(bytes(source)));
		const devices = Array.from({ length: count }, async () => {
			const device = new Ledger({});
			const made = [];
			for (const survey of parsed) made.push(await device.make(survey, answers, { server: SERVER, limit: null }));
			return made.map(({ entry }) => entry.bits);
		});
		return Promise.all(devices);
	},
	flood: async ({ sources, answers }) => {
		const tab = new Ledger();
		const options = { server: SERVER, limit: null, serverLimit: null };
		for (const source of sources) await tab.make(Survey.fromJson(bytes(source)), answers, options);
		return null;
	},
	watch: ({ name }) => {
		const { storage, locks, holds } = watched();
		ledgers[name] = new Ledger(storage, { locks });
		ledgers[name].holds = holds;
		return null;
	},
	holds: ({ name }) => ledgers[name].holds.map((hold) => hold.join(" ")),
	storage: ({ name, content, book, shared }) => {
		// a storage that others can read, and what the page held in memory: two pages of one storage hold each their own
		if (shared) storages[shared] ??= {};
		ledgers[name] = new Ledger(shared ? storages[shared] : content, { profile: book, held: shared && {} });
		return ledgers[name].persistent;
	},
	stored: ({ name, key = "candor-ledger/2" }) => ledger(name).storage[key] ?? null,
	acknowledge: ({ name, source, server = SERVER }) => ledger(name).acknowledge(Survey.fromJson(bytes(source)), server),
	books: ({ name }) => ledger(name).profiles(),
	forget: async ({ name }) => (await ledger(name).forget()) ?? null,
	spent: ({ name, source, server = SERVER }) => {
		const book = ledger(name).read();
		return [spentOnSurvey(book, Survey.fromJson(bytes(source)), server), spentOnServer(book, server)];
	},
	entries: ({ name }) => ledger(name).read().entries,
	fetch: async ({ url }) => (await fetch(url)).digest,
	// answers what the device asks with `least`, by type, and sends; what was asked, the report, and the receipt's status
	session: async ({ url, least, name, options = {} }) => {
		const session = await open(url, { ...timed(options), ledger: name === undefined ? null : ledger(name) });
		const asked = session.questions.map(({ id }) => id);
		for (const question of session.questions) {
			if (session.isShown(question)) session.answer(question.id, least[question.type] ?? question.labels[0] ?? null);
		}
		const { answers, report, repeated } = await session.review();
		const again = await session.review();
		const fields = answers.map(({ field }) => field.questions.map(({ id }) => id));
		const { status } = await session.send();
		return {
			asked,
			fields,
			report,
			repeated,
			status,
			isSame: again.report === report,
			later: (await session.send()).status,
		};
	},
	refusedAnswer: async ({ url, id, value }) => (await open(url, { ...timed({}), ledger: null })).answer(id, value),
	respond: async ({ url, answers, name, options = {} }) =>
		respond(url, answers, { ...timed(options), ledger: name === undefined ? null : ledger(name) }),
	take: async ({ url, name, tape: data, options = {} }) => {
		const randomBytes = data && tape(bytes(data)).random;
		const ticket = await takeTicket(url, { ...timed(options), randomBytes, ledger: ledger(name) });
		return {
			prefix: hex(ticket.prefix),
			signature: hex(ticket.signature),
			link: ticketLink(parseAddress(url), ticket),
		};
	},
	address: ({ url }) => {
		const { ticket, ...rest } = parseAddress(url);
		return { ...rest, ticket: ticket && [toBase64url(ticket.prefix), toBase64url(ticket.signature)] };
	},
	issuer: ({ url, issuer }) => issuerOf(parseAddress(url), { tickets: { issuer: issuer || undefined } }),
	seconds: async ({ url, answers, ticks }) => {
		const pauses = [];
		const clock = () => ticks.shift();
		await respond(url, answers, { clock, pause: (seconds) => pauses.push(seconds), ledger: null });
		return pauses;
	},
	submit: async ({ url, source, answers, options = {} }) =>
		submit(url, randomize(Survey.fromJson(bytes(source)), answers), timed(options)),
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
