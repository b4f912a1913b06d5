// What this device has answered and spent; Python's ledger.py tells the rules.

import { encode } from "./answer.js";
import { dumps } from "./canonical.js";
import { check } from "./errors.js";
import { Report, assemble, chooseAsked, fromText, toText } from "./report.js";
import { draw, systemBytes } from "./sampling.js";
import { concat, digest, hmac, utf8 } from "./sha256.js";
import { checkLimit } from "./verify.js";

const NAME = "candor-ledger/1";

// HMAC(key, context, a 0 after each part ‖ counter)
export function keyedStream(key, ...context) {
	let [left, n] = [[], 0];
	return (count) => {
		for (; left.length < count; n++) {
			const counter = [0, 0, 0, 0, n >> 24, n >> 16, n >> 8, n];
			left.push(...hmac(key, concat(utf8(`${context.join("\0")}\0`), counter)));
		}
		return Uint8Array.from(left.splice(0, count));
	};
}

const seal = (book) => JSON.stringify({ book, sha256: digest(utf8(dumps(book))) });

export class Ledger {
	constructor(storage) {
		try {
			this.storage = storage ?? globalThis.localStorage;
		} catch {}
		this.persistent = !!this.storage;
		this.storage ??= {};
	}

	// { key, reports by digest, tags of drawn noise }
	read(random = systemBytes) {
		const text = this.storage[NAME];
		if (text === undefined) return this.write({ key: toText(draw(32, random)), reports: {}, drawn: [] });
		try {
			const { book } = JSON.parse(text);
			if (seal(book) === text) return book;
		} catch {}
		check(false, "ledger_corrupt");
	}

	write(book) {
		try {
			this.storage[NAME] = seal(book);
			return book;
		} catch {
			check(false, "ledger_unavailable");
		}
	}

	forget() {
		delete this.storage[NAME];
	}

	spent(slug) {
		const entries = Object.values(this.read().reports).filter((entry) => !slug || entry.slug === slug);
		return entries.reduce((sum, { epsilon }) => sum + +epsilon, 0);
	}

	asked(survey) {
		const all = digest(utf8(survey.fields.map((field) => field.digest).join("")));
		return chooseAsked(survey, keyedStream(fromText(this.read().key), survey.slug, all, `ask ${survey.ask}`));
	}

	make(survey, answers, { limit, randomBytes = systemBytes }) {
		const [{ digest, slug }, book] = [survey, this.read(randomBytes)];
		const made = !book.reports[digest];
		if (made) {
			let epsilon = 0;
			const noise = (field, codes) => {
				const context = [fromText(book.key), slug, field.digest, `[${codes}]`];
				const tag = toText(keyedStream(...context, "drawn")(12));
				if (!book.drawn.includes(tag)) epsilon += book.drawn.push(tag) && field.mechanism.epsilon;
				return keyedStream(...context);
			};
			const asked = this.asked(survey);
			const report = assemble(survey, encode(survey, answers, asked), asked, noise, randomBytes);
			checkLimit(this.spent(slug) + epsilon, limit);
			const { id, bits } = JSON.parse(report.toJson());
			book.reports[digest] = { slug, id, bits, epsilon: `${epsilon}`, stored: false };
			this.write(book);
		}
		const { id, bits, epsilon } = book.reports[digest];
		return { made, epsilon: +epsilon, report: Report(digest, fromText(id), fromText(bits)) };
	}

	markStored(digest) {
		const book = this.read();
		if (book.reports[digest]) book.reports[digest].stored = true;
		this.write(book);
	}
}
