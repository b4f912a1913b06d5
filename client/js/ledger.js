// The ledger: one small text in the browser's storage, which is written before anything is shown or sent.
//
// One device makes one report per definition. Id, bits and charge are stored before they are shown or sent, and every
// later attempt repeats the same bytes, so that neither a failing server nor an impatient person can have the noise
// redrawn; what a request for a ticket is made from is stored before that is sent, so that a lost reply costs nobody
// their vote. What the text holds, and what is deleted from it once a report is acknowledged, `book` decides.
//
// It carries a checksum; a damaged one is reported, never replaced, since a lost ledger would mean spending twice. People
// who share a browser can have a book each. Whatever writes takes a lock, so that two tabs never lose a charge. Browsers
// pass a lock on faster than what was written under it, so writers also number their changes, in the storage and in the
// name of a second lock that they hold for a moment; whoever comes next waits until it sees that many.
//
// Browsers give all files on a disk one storage. So a form that is a file keeps nothing there but charges, which any other
// file may read; field, ticket, id and bits live in the page, and are lost with it.

import { acknowledged, charge, chargesOf, complete, find, ticketOf, withoutTicket } from "./spending.js";
import { dumps } from "./canonical.js";
import { CandorError, check } from "./errors.js";
import { drawAsked, randomize, toText } from "./report.js";
import { systemBytes } from "./sampling.js";
import { digest as sha256, utf8 } from "./sha256.js";

/** @import { Answers } from "./answer.js" */
/** @import { Book, Entry, Limits } from "./spending.js" */
/** @import { Survey } from "./definition.js" */
/** @import { Ticket } from "./report.js" */
/** @import { RandomBytes } from "./sampling.js" */
/** @import { Blinding } from "./ticket.js" */
/** @typedef {Pick<LockManager, "request" | "query">} Locks */
/** @typedef {{ server: string, now?: () => number, randomBytes?: RandomBytes } & Limits} MakeOptions */

const FORMAT = "candor-ledger/2";
const OLD_FORMAT = "candor-ledger/1";
const CHANGES = "candor-changes/2";
const SETTLED = 2000; // ms after which every tab has seen a change
const GLANCE = 5; // ms
/** @type {Record<string, Record<string, Entry>>} */
const HELD = {}; // by this page, for the books of a storage that others can read

/** A book in the browser's storage. Whatever a method returns, or resolves to, is in the storage. */
export class Ledger {
	/**
	 * @param {Record<string, any> | null} [storage] the browser's, unless another is given, which may have locks too
	 * @param {{ book?: number, locks?: Locks, held?: typeof HELD }} [options] people who share a browser have books 1, 2, …;
	 * `held` takes, by the names of books, what is no charge, where the storage shall have nothing else
	 */
	constructor(storage, { book = 1, locks = storage ? undefined : globalThis.navigator?.locks, held } = {}) {
		const found = storage ?? localStorageIfAny();
		this.held = held ?? (!storage && globalThis.location?.protocol === "file:" ? HELD : undefined);
		/** Whether it outlives the page; where storage is blocked it lives in memory. */
		this.persistent = Boolean(found);
		/** @type {Record<string, any>} */
		this.storage = found ?? {};
		/** Pages over plain http have none. */
		this.locks = found ? locks : undefined;
		this.book = book;
		this.name = book === 1 ? FORMAT : `${FORMAT} ${book}`;
	}

	/**
	 * The content; an empty book if there is none yet.
	 * @returns {Book}
	 */
	read() {
		check(this.storage[OLD_FORMAT] === undefined, "ledger_old");
		const text = this.storage[this.name];
		const book = text === undefined ? { format: FORMAT, entries: {} } : parse(text);
		check(book, "ledger_corrupt");
		return this.held ? complete(book, this.held[this.name] ?? {}) : book;
	}

	/** The numbers of all books in this storage, this one included. */
	books() {
		const kept = Object.keys(this.storage).map((key) => Number(key.split(`${FORMAT} `)[1] ?? 1));
		return [...new Set([1, this.book, ...kept])].sort((a, b) => a - b);
	}

	/**
	 * When the first question is about to be shown: the field to ask is drawn, once and for all.
	 * @param {Survey} survey
	 * @param {string} server
	 * @param {RandomBytes} [randomBytes]
	 */
	begin(survey, server, randomBytes = systemBytes) {
		return this.#change(survey, server, (entry) => {
			if (!survey.ask || entry.asked !== undefined || entry.stored) return entry;
			return { ...entry, asked: drawAsked(survey, randomBytes) };
		});
	}

	/**
	 * Before a request for a ticket: what it is made from, the same as before if one is pending already.
	 * @param {Survey} survey
	 * @param {string} server
	 * @param {string} code
	 * @param {() => Blinding} draw
	 */
	take(survey, server, code, draw) {
		return this.#change(survey, server, (entry) => {
			if (entry.prefix || entry.stored) return entry;
			const { prefix, salt, r } = draw();
			return { ...entry, code, prefix: toText(prefix), salt: toText(salt), r: toText(r) };
		});
	}

	/**
	 * Give up a request for a ticket that was refused for good.
	 * @param {Survey} survey
	 * @param {string} server
	 * @param {Entry} pending
	 */
	drop(survey, server, pending) {
		return this.#change(survey, server, (entry) => (entry.r === pending.r ? withoutTicket(entry) : entry));
	}

	/**
	 * Keep a ticket, verified before; one that is there already, and a report made with it, stay as they are.
	 * @param {Survey} survey
	 * @param {string} server
	 * @param {Ticket} ticket
	 */
	keep(survey, server, { prefix, signature }) {
		return this.#change(survey, server, (entry) => {
			if (entry.signature || entry.stored) return entry;
			return { ...withoutTicket(entry), prefix: toText(prefix), signature: toText(signature) };
		});
	}

	/**
	 * The one report to this definition, and whether it was made just now.
	 * @param {Survey} survey
	 * @param {Answers} answers
	 * @param {MakeOptions} options
	 */
	async make(survey, answers, { server, now = Date.now, randomBytes = systemBytes, ...limits }) {
		await this.begin(survey, server, randomBytes);
		let made = false;
		const entry = await this.#change(survey, server, (before, book) => {
			if (before.bits || before.stored) return before;
			const epsilon = charge(book, survey, server, limits);
			const report = randomize(survey, answers, { asked: before.asked, ticket: ticketOf(before), randomBytes });
			made = true;
			const day = new Date(now()).toISOString().slice(0, 10);
			return { ...before, id: toText(report.id), bits: toText(report.bits), epsilon, day };
		});
		return { entry, made };
	}

	/**
	 * A server has the report, or another with its ticket: delete all that names it.
	 * @param {Survey} survey
	 * @param {string} server
	 */
	acknowledge(survey, server) {
		return this.#change(survey, server, (entry) => (entry.bits ? acknowledged(entry) : entry));
	}

	/** Delete it, damaged as it may be, and one of the old format. */
	async forget() {
		await this.#locked(() => {
			delete this.storage[this.name];
			delete this.held?.[this.name];
			delete this.storage[OLD_FORMAT];
		});
	}

	/**
	 * @param {Survey} survey
	 * @param {string} server
	 * @param {(entry: Entry, book: Book) => Entry} edit which returns the entry itself to leave it as it is
	 */
	#change(survey, server, edit) {
		return this.#locked(() => {
			const book = this.read();
			const before = find(book, survey, server);
			const after = edit(before, book);
			if (after !== before) this.#write({ ...book, entries: { ...book.entries, [survey.digest]: after } });
			return after;
		});
	}

	/** @param {Book} book */
	#write(book) {
		try {
			this.storage[this.name] = spell(this.held ? chargesOf(book) : book);
		} catch {
			throw new CandorError("ledger_unavailable");
		}
		if (this.held) this.held[this.name] = book.entries;
	}

	/**
	 * @template T
	 * @param {() => T} run
	 * @returns {Promise<T>}
	 */
	async #locked(run) {
		const { locks } = this;
		if (!locks) return run();
		return locks.request(FORMAT, async () => {
			const { held = [] } = await locks.query();
			const latest = Math.max(...held.map(({ name = "" }) => Number(name.split(CHANGES)[1] ?? 0)));
			for (let waited = 0; this.#changes() < latest && waited < SETTLED; waited += GLANCE) await pass(GLANCE);
			const before = this.storage[this.name];
			const result = run();
			if (this.storage[this.name] !== before) {
				const count = Math.max(latest, this.#changes()) + 1;
				this.storage[CHANGES] = count;
				await new Promise((granted) => {
					locks.request(`${CHANGES} ${count}`, async () => {
						granted(null);
						await pass(SETTLED);
					});
				});
			}
			return result;
		});
	}

	#changes() {
		return Number(this.storage[CHANGES] ?? 0);
	}
}

/** @param {number} time in ms */
const pass = (time) => new Promise((done) => setTimeout(done, time));

function localStorageIfAny() {
	try {
		return globalThis.localStorage;
	} catch {
		return null; // the browser blocks even the look at it
	}
}

/**
 * Sorted by digest: the order in which surveys were answered is nobody's business.
 * @param {Book} ledger
 */
function spell(ledger) {
	return dumps({ ledger, sha256: sha256(utf8(dumps(ledger))) });
}

/**
 * @param {string} text
 * @returns {Book | null} null if it is damaged
 */
function parse(text) {
	try {
		const { ledger } = JSON.parse(text);
		return spell(ledger) === text && ledger.format === FORMAT ? ledger : null;
	} catch {
		return null;
	}
}
