// A survey, one question at a time: what an app needs that asks its own questions.
//
// With `ask`, a device answers one block of questions, which it draws itself. `open` draws it, so that the app knows
// what to ask before it asks. Nothing is randomized, charged or sent before `review` and `send`.

import { encode, isVisible } from "./answer.js";
import { questionIdsFor } from "./definition.js";
import { check } from "./errors.js";
import { Ledger } from "./ledger.js";
import { typeOf } from "./question.js";
import { fromBase64url, unpack } from "./report.js";
import { deliver, monotonic, prepare } from "./respond.js";
import { find, reportOf } from "./spending.js";

/** @import { Answers, Indices } from "./answer.js" */
/** @import { Field } from "./definition.js" */
/** @import { Question } from "./question.js" */
/** @import { RespondOptions, Means, Visit } from "./respond.js" */
/**
 * The report as it will be sent. `answers` has the fields that this device was asked, each with the indices of the
 * answers, if they are known, and its noisy bits; `description.js` words both.
 * @typedef {object} Review
 * @property {{ field: Field, indices: Indices | null, bits: number[] }[]} answers
 * @property {string} report the JSON that leaves the device; empty if the server has it already
 * @property {boolean} repeated whether the report was made earlier, so that the answers of this session are not used
 */

/** One respondent's way through one survey; `open` makes it. */
export class Session {
	/** @type {Answers} */
	#answers = {};
	/** @type {Review | undefined} */
	#review;
	#began = 0;

	/**
	 * @param {Visit} visit
	 * @param {Means} means
	 */
	constructor(visit, means) {
		this.survey = visit.survey;
		this.visit = visit;
		this.means = means;
	}

	/** Whether this device has made its report already, so that there is nothing to ask. */
	get isAnswered() {
		return Boolean(this.visit.entry.bits || this.visit.entry.stored);
	}

	/**
	 * The questions that this device asks, in order: all, or those of the block that it has drawn.
	 * They include the questions on which others depend; `isShown` tells which follow-ups to skip.
	 */
	get questions() {
		const { survey, isAnswered } = this;
		const { asked } = this.visit.entry;
		const ids = asked === undefined ? null : questionIdsFor(survey, asked);
		return isAnswered ? [] : survey.questions.filter(({ id }) => !ids || ids.has(id));
	}

	/**
	 * Tell whether a question is to be asked after the answers so far: a follow-up may not be.
	 * @param {Question} question
	 */
	isShown(question) {
		/** @type {Record<string, string[]>} */
		const picked = {};
		for (const earlier of this.survey.questions) {
			const shown = isVisible(earlier, picked);
			if (earlier.id === question.id) return shown;
			const type = typeOf(earlier.type);
			const answer = shown ? (this.#answers[earlier.id] ?? null) : null;
			picked[earlier.id] = type.labelsOf(
				earlier,
				answer === null ? type.unanswered(earlier) : type.indexOf(earlier, answer),
			);
		}
		return false;
	}

	/**
	 * Note the answer to the question with this id; null for no answer, where that is allowed.
	 * @param {string} id
	 * @param {unknown} value
	 */
	answer(id, value) {
		const question = this.questions.find((one) => one.id === id);
		check(question && (value !== null || question.optional), "bad_answer", id);
		if (value !== null) typeOf(question.type).indexOf(question, value);
		this.#answers[id] = value;
	}

	/**
	 * Randomize the answers, once and for all, and return what each became; this spends the ε of the survey.
	 * @param {Answers} [answers] more of them, in one object
	 * @returns {Promise<Review>}
	 */
	async review(answers = {}) {
		if (this.#review) return this.#review;
		const { survey, store, address } = this.visit;
		const given = { ...this.#answers, ...answers };
		this.#began = (this.means.clock ?? monotonic)();
		const { entry, made } = await store.make(survey, given, { server: address.server, ...this.means });
		this.visit = { ...this.visit, entry };
		const parts = entry.stored ? [] : unpack(survey, fromBase64url(entry.bits ?? ""));
		const asked = survey.ask ? parts.findIndex(Boolean) : null;
		const indices = made ? encode(survey, given, asked) : null;
		this.#review = {
			answers: parts.flatMap((bits, i) => (bits ? [{ field: survey.fields[i], indices, bits }] : [])),
			report: entry.stored ? "" : reportOf(survey.digest, entry).toJson(),
			repeated: !made,
		};
		return this.#review;
	}

	/** Send the report and return the receipt; make it first if `review` was not called. May be called again. */
	async send() {
		const { repeated } = await this.review();
		const { store, survey, address, entry } = this.visit;
		const receipt = await deliver(this.visit, entry, repeated, this.#began, this.means);
		this.visit = { ...this.visit, entry: find(store.read(), survey, address.server) };
		return receipt;
	}
}

/**
 * Fetch and verify the survey of a link, take a ticket if it needs one, draw the block, and return the session.
 * Options are those of `respond`.
 * @param {string} url
 * @param {RespondOptions} [options]
 */
export async function open(url, { ledger = new Ledger(), ...means } = {}) {
	return new Session(await prepare(url, ledger, means), means);
}
