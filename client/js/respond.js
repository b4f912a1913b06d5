// Fetch, verify, randomize, remember, send.

import { Survey } from "./definition.js";
import { CandorError, check } from "./errors.js";
import { Ledger } from "./ledger.js";
import { randomize } from "./report.js";
import { verify } from "./verify.js";

const QUIET = { credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer", redirect: "error" };
const sleep = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

// …/s/<slug> or …/api/surveys/<slug>, with #sha256=… and #code=…
function parseAddress(url) {
	const { origin, pathname, hash } = new URL(url, globalThis.location?.href);
	const [, base, slug] = /^(.*)\/(?:s|api\/surveys)\/([\w-]+)\/?$/.exec(pathname) ?? [];
	const fragment = [...new URLSearchParams(hash.slice(1))];
	check(slug && fragment.every(([key, value]) => /^(sha256|code)$/.test(key) && value), "bad_address");
	return { api: `${origin}${base}/api/surveys/${slug}`, slug, ...Object.fromEntries(fragment) };
}

async function exchange(url, options) {
	try {
		const response = await globalThis.fetch(url, { ...QUIET, ...options, signal: AbortSignal.timeout(20000) });
		const said = Object(await response.clone().json().catch(() => {}));
		const body = new Uint8Array(await response.arrayBuffer());
		return { status: response.status, body, said };
	} catch (error) {
		return { status: 0, said: { detail: error.message } };
	}
}

function refusal({ status, said }) {
	const final = status >= 400 && status < 500 && status !== 429;
	return new CandorError(final ? said.code ?? "http_error" : "unreachable", said.detail);
}

export async function fetch(url) {
	const { api, slug, sha256 } = parseAddress(url);
	const answer = await exchange(api);
	if (answer.status !== 200) throw refusal(answer);
	const survey = Survey.fromJson(answer.body);
	check(survey.slug === slug && (!sha256 || sha256 === survey.digest), "wrong_definition");
	return survey;
}

// `limit: null` allows any ε, `ledger: null` keeps no record
export async function respond(url, answers, options = {}) {
	const { limit = 10, ledger = new Ledger() } = options;
	const survey = await fetch(url);
	let [epsilon, made, report] = [verify(survey, { limit }), true];
	if (ledger) ({ epsilon, made, report } = ledger.make(survey, answers, { ...options, limit }));
	else report = randomize(survey, answers, options);
	const status = await submit(url, report, options);
	ledger?.markStored(survey.digest);
	return { ...JSON.parse(report.toJson()), status, epsilon, repeated: !made };
}

// an unreachable server gets the same bytes again
export async function submit(url, report, { invitation, attempts = 3, pause = sleep } = {}) {
	const { api, code } = parseAddress(url);
	const headers = { "Content-Type": "application/json" };
	if (invitation ?? code) headers["Candor-Invitation"] = invitation ?? code;
	for (let attempt = 1; ; attempt++) {
		const answer = await exchange(`${api}/reports`, { method: "POST", headers, body: report.toJson() });
		if (answer.status < 300 && /^(already_)?stored$/.test(answer.said.status)) return answer.said.status;
		const error = refusal(answer);
		if (error.code !== "unreachable" || attempt >= attempts) throw error;
		await pause(2 ** attempt);
	}
}
