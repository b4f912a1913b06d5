// The ledger: one small text in the browser's storage, written before a report is shown or sent.
//
// One device makes one report per definition, and stores its id, bits and charge first. Every later attempt repeats the
// same bytes, so that neither a failing server nor an impatient respondent can redraw the noise. The secrets of a ticket
// request are stored before it is sent, so that it can be repeated after a lost reply. `spending` defines the content of
// the text, and which parts are deleted once a report is acknowledged.
//
// The text has a checksum. A damaged text is reported, never replaced, because a lost ledger would mean spending twice.
// People who share a browser can have a profile each. Every writer takes a lock, so that two tabs never lose a charge.
// Browsers pass on a lock faster than the data written under it. So writers also number their changes, in the storage and
// in the name of a second lock that they hold for a short time. The next writer waits until it sees that number.
//
// Browsers give all files on a disk one storage. So a form that is a file stores only charges there, because any other
// file may read them. Field, ticket, id and bits are in the memory of the page, and are lost when it is closed.

import { dumps } from "./canonical.js";
import { CandorError, check } from "./errors.js";
import { drawField, randomize, toBase64url } from "./report.js";
import { systemBytes } from "./sampling.js";
import { digest as sha256, utf8 } from "./sha256.js";
import { charge, chargesOf, complete, find, ticketOf, withoutReport, withoutTicket } from "./spending.js";

/** @import { Answers } from "./answer.js" */
/** @import { Spending, Entry, Limits } from "./spending.js" */
/** @import { Survey } from "./definition.js" */
/** @import { Ticket } from "./report.js" */
/** @import { RandomBytes } from "./sampling.js" */
/** @import { TicketRequest } from "./ticket.js" */
/** @typedef {Pick<LockManager, "request" | "query">} Locks */
/** @typedef {{ server: string, now?: () => number, randomBytes?: RandomBytes } & Limits} MakeOptions */

const FORMAT = "candor-ledger/2";
const OLD_FORMAT = "candor-ledger/1";
const CHANGES = "candor-changes/2";
const SETTLED = 2000; // ms after which every tab has seen a change
const GLANCE = 5; // ms
/** @type {Record<string, Record<string, Entry>>} */
const HELD = {}; // entries in this page's memory, by profile, if other pages can read the storage

/** One profile's spending in the browser's storage. Every value that a method returns is already in the storage. */
export class Ledger {
	/**
	 * @param {Record<string, any> | null} [storage] by default the browser's
	 * @param {{ profile?: number, locks?: Locks, held?: typeof HELD }} [options] people who share a browser have profiles 1, 2, …;
	 * `held` keeps in memory, by profile, everything but charges if the storage may hold only charges
	 */
	constructor(storage, { profile = 1, locks = storage ? undefined : globalThis.navigator?.locks, held } = {}) {
		const place = storage ?? localStorageIfAny();
		this.held = held ?? (!storage && globalThis.location?.protocol === "file:" ? HELD : undefined);
		/** Whether the ledger outlives the page. If the browser blocks storage, the ledger is in memory. */
		this.persistent = Boolean(place);
		/** @type {Record<string, any>} */
		this.storage = place ?? {};
		/** Undefined for pages over plain http. */
		this.locks = place ? locks : undefined;
		this.profile = profile;
		this.name = profile === 1 ? FORMAT : `${FORMAT} ${profile}`;
	}

	/**
	 * Return the content, empty if there is none yet; throw ledger_old or ledger_corrupt.
	 * @returns {Spending}
	 */
	read() {
		check(this.storage[OLD_FORMAT] === undefined, "ledger_old");
		const text = this.storage[this.name];
		const spending = text === undefined ? { format: FORMAT, entries: {} } : parse(text);
		check(spending, "ledger_corrupt");
		return this.held ? complete(spending, this.held[this.name] ?? {}) : spending;
	}

	/** Return the numbers of all profiles in this storage, including this one. */
	profiles() {
		const numbers = Object.keys(this.storage).map((key) => Number(key.split(`${FORMAT} `)[1] ?? 1));
		return [...new Set([1, this.profile, ...numbers])].sort((a, b) => a - b);
	}

	/**
	 * Return the entry of a survey whose first question is about to be shown.
	 *
	 * With `ask`, the field to answer is drawn here, once and for all.
	 * @param {Survey} survey
	 * @param {string} server
	 * @param {RandomBytes} [randomBytes]
	 */
	begin(survey, server, randomBytes = systemBytes) {
		return this.#change(survey, server, (entry) => {
			if (!survey.ask || entry.asked !== undefined || entry.stored) return entry;
			return { ...entry, asked: drawField(survey, randomBytes) };
		});
	}

	/**
	 * Store the secrets of a ticket request before it is sent, and return the entry.
	 *
	 * If a request is pending already, its secrets stay the same.
	 * @param {Survey} survey
	 * @param {string} server
	 * @param {string} code
	 * @param {() => TicketRequest} draw
	 */
	take(survey, server, code, draw) {
		return this.#change(survey, server, (entry) => {
			if (entry.prefix || entry.stored) return entry;
			const { prefix, salt, r } = draw();
			return { ...entry, code, prefix: toBase64url(prefix), salt: toBase64url(salt), r: toBase64url(r) };
		});
	}

	/**
	 * Delete a ticket request that was refused permanently.
	 * @param {Survey} survey
	 * @param {string} server
	 * @param {Entry} pending
	 */
	drop(survey, server, pending) {
		return this.#change(survey, server, (entry) => (entry.r === pending.r ? withoutTicket(entry) : entry));
	}

	/**
	 * Store a verified ticket, and return the entry. A ticket that is stored already stays, and so does its report.
	 * @param {Survey} survey
	 * @param {string} server
	 * @param {Ticket} ticket
	 */
	keep(survey, server, { prefix, signature }) {
		return this.#change(survey, server, (entry) => {
			if (entry.signature || entry.stored) return entry;
			return { ...withoutTicket(entry), prefix: toBase64url(prefix), signature: toBase64url(signature) };
		});
	}

	/**
	 * Return the entry with the only report to a survey, and whether this call made it; throw above_limit or similar.
	 * @param {Survey} survey
	 * @param {Answers} answers
	 * @param {MakeOptions} options
	 */
	async make(survey, answers, { server, now = Date.now, randomBytes = systemBytes, ...limits }) {
		await this.begin(survey, server, randomBytes);
		let made = false;
		const entry = await this.#change(survey, server, (before, spending) => {
			if (before.bits || before.stored) return before;
			const epsilon = charge(spending, survey, server, limits);
			const report = randomize(survey, answers, { asked: before.asked, ticket: ticketOf(before), randomBytes });
			made = true;
			const day = new Date(now()).toISOString().slice(0, 10);
			return { ...before, id: toBase64url(report.id), bits: toBase64url(report.bits), epsilon, day };
		});
		return { entry, made };
	}

	/**
	 * Delete everything that identifies a report, after the server has stored it or another with its ticket.
	 * @param {Survey} survey
	 * @param {string} server
	 */
	acknowledge(survey, server) {
		return this.#change(survey, server, (entry) => (entry.bits ? withoutReport(entry) : entry));
	}

	/** Delete the ledger, even if it is damaged or of the old format. */
	async forget() {
		await this.#withLock(() => {
			delete this.storage[this.name];
			delete this.held?.[this.name];
			delete this.storage[OLD_FORMAT];
		});
	}

	/**
	 * @param {Survey} survey
	 * @param {string} server
	 * @param {(entry: Entry, spending: Spending) => Entry} edit returns the same entry if nothing changes
	 */
	#change(survey, server, edit) {
		return this.#withLock(() => {
			const spending = this.read();
			const before = find(spending, survey, server);
			const after = edit(before, spending);
			if (after !== before) this.#write({ ...spending, entries: { ...spending.entries, [survey.digest]: after } });
			return after;
		});
	}

	/** @param {Spending} spending */
	#write(spending) {
		try {
			this.storage[this.name] = spell(this.held ? chargesOf(spending) : spending);
		} catch {
			throw new CandorError("ledger_unavailable");
		}
		if (this.held) this.held[this.name] = spending.entries;
	}

	/**
	 * @template T
	 * @param {() => T} run
	 * @returns {Promise<T>}
	 */
	async #withLock(run) {
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
		return null; // some browsers throw if storage is blocked
	}
}

/**
 * Return the text of a ledger, sorted by digest to hide the order in which surveys were answered.
 * @param {Spending} ledger
 */
function spell(ledger) {
	return dumps({ ledger, sha256: sha256(utf8(dumps(ledger))) });
}

/**
 * @param {string} text
 * @returns {Spending | null} null if it is damaged
 */
function parse(text) {
	try {
		const { ledger } = JSON.parse(text);
		return spell(ledger) === text && ledger.format === FORMAT ? ledger : null;
	} catch {
		return null;
	}
}
