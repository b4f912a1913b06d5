// What this device has answered, and what it has spent: one small text in the browser's storage that stays there.
//
// One device makes one report per definition. Id, bits and charge are stored before they are shown or sent, and every
// later attempt repeats the same bytes, so that neither a failing server nor an impatient person can have the noise
// redrawn. Across versions and waves of one slug the noise is keyed, not redrawn (Erlingsson, Pihur and Korolova 2014
// call it permanent): the byte stream of a field is
//
//     HMAC-SHA-256(device key, slug ‖ 0 ‖ field digest ‖ 0 ‖ indices before rounding ‖ 0 ‖ counter), counter = 0, 1, …
//
// with the indices as canonical JSON, `[3]`, and the counter as eight bytes, big-endian. The same question with the same
// answer therefore gives the same bits, at no further cost; a changed answer is a new draw and a new charge. Which noise
// was drawn before is known by its tag, the first bytes of a stream of its own. Slugs never share noise.
//
// No answer is written down, but whoever copies the text can work answers out: it is as private as the answers are. It
// carries a checksum; a damaged one is reported, never replaced, since a lost key would mean spending twice.

import { encode } from "./answer.js";
import { dumps } from "./canonical.js";
import { CandorError } from "./errors.js";
import { assemble, drawAsked, fromText, Report, toText } from "./report.js";
import { draw, systemBytes } from "./sampling.js";
import { concat, digest, hmac, utf8 } from "./sha256.js";
import { checkLimit } from "./verify.js";

/** @import { Answers } from "./answer.js" */
/** @import { Field, Survey } from "./definition.js" */
/** @import { RandomBytes } from "./sampling.js" */
/** @import { Limit } from "./verify.js" */

/**
 * One report this device has made: id and bits in base64url, ε as decimal text.
 * @typedef {{ slug: string, id: string, bits: string, epsilon: string, stored: boolean }} Entry
 */
/**
 * The ledger's content, reports by the digest of their survey; `drawn` holds the tags of all noise ever drawn.
 * @typedef {{ key: string, reports: Record<string, Entry>, drawn: string[] }} Book
 */

const FORMAT = "candor-ledger/1";
const KEY_BYTES = 32;
const TAG_BYTES = 12;

/**
 * A byte source that is a function of the key and the context.
 * @param {Uint8Array} key
 * @param {string[]} context
 * @returns {RandomBytes}
 */
export function keyedStream(key, ...context) {
	const prefix = utf8(context.map((part) => `${part}\0`).join(""));
	/** @type {number[]} */
	const left = [];
	let counter = 0n;
	return (count) => {
		while (left.length < count) {
			const block = new DataView(new ArrayBuffer(8));
			block.setBigUint64(0, counter);
			left.push(...hmac(key, concat(prefix, new Uint8Array(block.buffer))));
			counter++;
		}
		return Uint8Array.from(left.splice(0, count));
	};
}

/** The ledger in the browser's storage; no other script runs between its reading and its writing. */
export class Ledger {
	/** @param {Record<string, any> | null} [storage] */
	constructor(storage) {
		const found = storage ?? localStorageIfAny();
		/** Whether it outlives the page; where storage is blocked it lives in memory. */
		this.persistent = Boolean(found);
		/** @type {Record<string, any>} */
		this.storage = found ?? {};
	}

	/**
	 * The content, after making the device's key if there was none.
	 * @param {RandomBytes} [randomBytes]
	 * @returns {Book}
	 */
	read(randomBytes = systemBytes) {
		const text = this.storage[FORMAT];
		if (text === undefined) return this.write({ key: toText(draw(KEY_BYTES, randomBytes)), reports: {}, drawn: [] });
		const book = parse(text);
		if (!book) throw new CandorError("ledger_corrupt");
		return book;
	}

	/**
	 * ε spent on one slug, or on all.
	 * @param {string} [slug]
	 */
	spent(slug) {
		const entries = Object.values(this.read().reports).filter((entry) => !slug || entry.slug === slug);
		return entries.reduce((sum, entry) => sum + Number(entry.epsilon), 0);
	}

	/**
	 * The field this device answers, null if all; the same in every wave with the same fields.
	 * @param {Survey} survey
	 */
	asked(survey) {
		if (!survey.ask) return null;
		const drawn = survey.fields.map((field) => `${field.digest} ${field.chance} `);
		const fields = digest(utf8(drawn.join("")));
		return drawAsked(survey, keyedStream(fromText(this.read().key), survey.slug, fields, "ask"));
	}

	/**
	 * A report to a definition that has none yet, its charge, and the tags of the noise it draws for that.
	 * @param {Survey} survey
	 * @param {Answers} answers
	 * @param {RandomBytes} randomBytes
	 */
	answer(survey, answers, randomBytes) {
		const { key, drawn } = this.read();
		/** @type {string[]} */
		const tags = [];
		let charge = 0;
		/**
		 * @param {Field} field
		 * @param {bigint[]} codes
		 */
		const noise = (field, codes) => {
			const context = [survey.slug, field.digest, `[${codes.join(",")}]`];
			const tag = toText(keyedStream(fromText(key), ...context, "drawn")(TAG_BYTES));
			if (!drawn.includes(tag)) {
				tags.push(tag);
				charge += field.mechanism.epsilon;
			}
			return keyedStream(fromText(key), ...context);
		};
		const asked = this.asked(survey);
		const report = assemble(survey, encode(survey, answers, asked), asked, noise, randomBytes);
		return { report, charge, tags };
	}

	/**
	 * The one report to this definition, and whether it was made just now; it is in the storage on return.
	 * @param {Survey} survey
	 * @param {Answers} answers
	 * @param {{ limit: Limit, randomBytes?: RandomBytes }} options
	 */
	make(survey, answers, { limit, randomBytes = systemBytes }) {
		const book = this.read(randomBytes);
		const made = !book.reports[survey.digest];
		if (made) {
			const { report, charge, tags } = this.answer(survey, answers, randomBytes);
			checkLimit(charge, limit, this.spent(survey.slug));
			const { id, bits } = JSON.parse(report.toJson());
			book.reports[survey.digest] = { slug: survey.slug, id, bits, epsilon: String(charge), stored: false };
			book.drawn.push(...tags);
			this.write(book);
		}
		const { id, bits, epsilon } = book.reports[survey.digest];
		return { made, epsilon: Number(epsilon), report: new Report(survey.digest, fromText(id), fromText(bits)) };
	}

	/**
	 * Remember that a server acknowledged the report.
	 * @param {string} digest
	 */
	markStored(digest) {
		const book = this.read();
		if (book.reports[digest]) book.reports[digest].stored = true;
		this.write(book);
	}

	/** Delete it, damaged or not: key, reports, charges. */
	forget() {
		delete this.storage[FORMAT];
	}

	/** @param {Book} book */
	write(book) {
		try {
			this.storage[FORMAT] = spell(book);
		} catch {
			throw new CandorError("ledger_unavailable");
		}
		return book;
	}
}

function localStorageIfAny() {
	try {
		return globalThis.localStorage;
	} catch {
		return null; // the browser blocks even the look at it
	}
}

/** @param {Book} book */
function spell(book) {
	return JSON.stringify({ book, sha256: digest(utf8(dumps(book))) });
}

/**
 * @param {string} text
 * @returns {Book | null} null if it is damaged
 */
function parse(text) {
	try {
		const { book } = JSON.parse(text);
		return spell(book) === text ? book : null;
	} catch {
		return null;
	}
}
