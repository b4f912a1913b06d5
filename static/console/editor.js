// The editor without reloads: forms are sent and the new page takes the place of the old one. Everything works
// without this script; it adds checking while one types, and never leaves behind what was typed.

const PAUSE = 600; // ms without a key before the draft is checked
const SIGNED_OUT =
	"You are signed out. Copy what you typed here, sign in again in another window, then reload this page; nothing was saved.";
const said = /** @type {HTMLElement} */ (document.getElementById("said"));
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** @type {AbortController | undefined} */
let checking;
/**
 * The form that was typed in and not saved.
 * @type {HTMLFormElement | null | undefined}
 */
let dirty = null;
let typed = 0; // how often something was typed into a form
const PLACED = /^(up|down|move|copy|remove|delete):/; // after a change the same number may mean another question
/** What was pressed and is not done yet. */
const pressed = new Set();
let turn = Promise.resolve();

/**
 * What is pressed while the server works is not lost: it waits for its turn. Pressed twice meanwhile, it is done once.
 * @param {string} what
 * @param {() => Promise<unknown>} act
 */
function inTurn(what, act) {
	if (pressed.has(what)) return;
	pressed.add(what);
	turn = turn
		.then(act)
		.then(() => undefined, reportError)
		.finally(() => pressed.delete(what));
}

const draft = () => document.getElementById("draft");
/** @returns {HTMLFormElement | null | undefined} */
const edited = () => draft()?.querySelector("form[data-edit]");

/**
 * @param {string} text
 * @param {string} [kind]
 */
function tell(text, kind = "status") {
	const line = document.createElement("p");
	line.className = `said ${kind}`;
	line.textContent = text;
	said.replaceChildren(line);
}

/**
 * Put the new page where the old one was; keep the place in it.
 * @param {string} html
 * @param {string} [url] its address, if it goes into the history
 */
function show(html, url) {
	const page = new DOMParser().parseFromString(html, "text/html");
	const next = page.getElementById("draft") ?? page.querySelector(".console > #said ~ *")?.parentElement;
	const old = draft();
	if (!next || !old) return false;
	const lines = [...page.querySelectorAll("#said > *")];
	const was = old.querySelector(".open")?.id;
	const active = document.activeElement;
	for (const node of next.querySelectorAll("[autofocus]")) node.removeAttribute("autofocus"); // for new pages only
	if (next.id) old.replaceWith(document.adoptNode(next));
	else old.replaceChildren(...[...next.children].slice(2).map((node) => document.adoptNode(node)));
	document.title = page.title;
	said.replaceChildren(...lines.map((node) => document.adoptNode(node)));
	dirty = null;
	if (url && url !== location.href) history.pushState({}, "", url);
	const open = draft()?.querySelector(".open");
	/** @type {HTMLElement | null | undefined} */
	const focus =
		open && open.id !== was
			? open.querySelector("textarea, select")
			: (draft()?.querySelector("[data-focus]:not(.open *)") ?? sameAs(active, open));
	focus?.focus({ preventScroll: true });
	focus?.scrollIntoView({ block: "nearest" });
	return true;
}

/**
 * What had the focus, on the new page: the element of the same id, or the same button of the open question.
 * @param {Element | null} active
 * @param {Element | null | undefined} open
 */
function sameAs(active, open) {
	if (active?.id) return document.getElementById(active.id);
	if (!(active instanceof HTMLButtonElement)) return undefined;
	const buttons = [...(open?.querySelectorAll("button") ?? [])];
	return buttons.find((one) => one.name === active.name && one.value === active.value);
}

/**
 * Whether the server did it; the page then shows its reply.
 * @param {string} url
 * @param {RequestInit} [options]
 * @param {boolean} [push]
 */
async function exchange(url, options, push = true) {
	try {
		const form = edited();
		let sent = options?.body instanceof FormData && options.body.has("own") ? options.body : null;
		let before = typed;
		await remember();
		let response = await fetch(url, options);
		let html = await response.text();
		const { url: address } = response;
		while (response.ok && form?.isConnected && before !== typed) {
			before = typed;
			const body = typedSince(form, sent, html);
			response = await fetch(form.action, { method: "POST", body });
			html = await response.text();
			if (!response.ok) break;
			sent = body;
			response = await fetch(address);
			html = await response.text();
		}
		if (new URL(response.url).pathname === "/login") tell(SIGNED_OUT, "error");
		else if (response.ok && show(html, push ? address : "")) return true;
		else if (response.status === 409 && show(html))
			dirty = edited(); // typed, not saved
		else tell(response.status === 400 ? SIGNED_OUT : "The server refused this. Nothing was saved; try again.", "error");
	} catch {
		tell("The server does not answer. Nothing was saved; try again.", "error");
	}
	return false;
}

/**
 * A form that was typed in while the server worked; if it was sent already, its stamps are those of the state before.
 * @param {HTMLFormElement} form
 * @param {FormData | null} sent
 * @param {string} html what the server said to that
 */
function typedSince(form, sent, html) {
	const data = new FormData(form);
	if (sent) {
		const stamp = new DOMParser().parseFromString(html, "text/html").querySelector("[name=stamp]");
		data.set("own", "");
		data.set("stamp", data.has("question") ? "" : (stamp?.getAttribute("value") ?? ""));
		if (data.has("question")) data.set("was", sent.get("id") ?? "");
	}
	if (data.has("question")) data.set("do", `save:${data.get("question")}`);
	return data;
}

// save the form that was typed in, before anything else happens
async function saveFirst() {
	if (!dirty?.isConnected) return true;
	const form = dirty;
	const data = new FormData(form);
	const place = data.get("question");
	if (place !== null) data.set("do", `save:${place}`);
	return exchange(form.action, { method: "POST", body: data }, false);
}

document.addEventListener("submit", (event) => {
	const form = event.target;
	if (!(form instanceof HTMLFormElement) || !draft()?.contains(form) || form.hasAttribute("data-leaves")) return;
	event.preventDefault();
	const button = event.submitter instanceof HTMLButtonElement ? event.submitter : null;
	if (pressed.size && button && PLACED.test(button.value)) return;
	const data = new FormData(form, button);
	const values = new URLSearchParams([...data].map(([name, value]) => [name, String(value)]));
	inTurn(`${form.method} ${form.action} ${values}`, () => send(form, button, data));
});

/**
 * Do what a form asks; where another page took its place meanwhile, press the same button there.
 * @param {HTMLFormElement} form
 * @param {HTMLButtonElement | null} button
 * @param {FormData} data as it was when somebody pressed
 */
async function send(form, button, data) {
	if (form.method === "get") {
		const query = new URLSearchParams(location.search);
		for (const [name, value] of data) query.set(name, String(value));
		if (await saveFirst()) await exchange(`${location.pathname}?${query}`);
	} else if (form.hasAttribute("data-choice")) {
		const edit = new URLSearchParams(location.search).get("edit");
		data.set("back", location.pathname + (edit ? `?edit=${edit}` : ""));
		if (await saveFirst()) await exchange(form.action, { method: "POST", body: data });
	} else if (form.isConnected && (form.hasAttribute("data-edit") || !dirty)) {
		await exchange(form.action, { method: "POST", body: new FormData(form, button) });
	} else if (form.hasAttribute("data-edit") || (await saveFirst())) {
		// what is open is saved first, so this is the button of a new page
		const buttons = [...(draft()?.querySelectorAll("button") ?? [])];
		/** @param {Element | null} one */
		const within = (one) => Boolean(one?.closest("[data-edit]"));
		const again = buttons.find(
			(one) => one.name === button?.name && one.value === button.value && within(one) === within(button),
		);
		if (again?.form) await exchange(again.form.action, { method: "POST", body: new FormData(again.form, again) });
	}
}

document.addEventListener("click", (event) => {
	const link = event.target instanceof Element ? event.target.closest("a") : null;
	if (!link || !draft()?.contains(link) || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
	const source = document.getElementById("source");
	if (source instanceof HTMLTextAreaElement && link.dataset.line) {
		event.preventDefault();
		toLine(source, Number(link.dataset.line));
		return;
	}
	const url = new URL(link.href);
	const here =
		url.origin === location.origin && url.pathname.startsWith(location.pathname.replace(/(\/drafts\/\d+).*/, "$1"));
	if (!here || link.hasAttribute("download") || /file\.yaml$|\/delete$|\/preview$/.test(url.pathname)) {
		if (!dirty && !pressed.size) return;
		event.preventDefault();
		inTurn(link.href, async () => (await saveFirst()) && location.assign(link.href));
		return;
	}
	event.preventDefault();
	inTurn(url.href, async () => {
		if (!(await saveFirst()) || !(await exchange(url.href))) return;
		document.getElementById(url.hash.slice(1))?.scrollIntoView({ block: "nearest" });
	});
});

/**
 * Where a complaint is about, in the YAML itself.
 * @param {HTMLTextAreaElement} source
 * @param {number} line
 */
function toLine(source, line) {
	const lines = source.value.split("\n");
	const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
	source.focus();
	source.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
	source.scrollTop = (source.scrollHeight / lines.length) * Math.max(0, line - 5);
}

document.addEventListener("change", ({ target }) => {
	// a choice is made by choosing; another question of a condition has other answers
	if (target instanceof HTMLInputElement && target.form?.hasAttribute("data-choice")) target.form.requestSubmit();
	if (target instanceof HTMLSelectElement && target.name === "show_if") check();
});

document.addEventListener("input", ({ target }) => {
	if (!(target instanceof Element) || !draft()?.contains(target)) return;
	/** @type {HTMLFormElement | null} */
	const form = target.closest("form[data-edit]");
	if (!form && target.id !== "respondents") return;
	dirty = form ?? dirty;
	if (form) typed += 1;
	clearTimeout(timer);
	timer = setTimeout(check, PAUSE);
});

// a number of respondents that was typed just now, before another page takes its place
async function remember() {
	const expected = document.getElementById("respondents");
	if (expected instanceof HTMLInputElement && expected.value !== expected.defaultValue) await check();
}

// what would be said about the draft as it stands in the form; nothing is saved but the number of respondents
async function check() {
	const form = edited();
	const data = new FormData(form ?? undefined);
	const expected = document.getElementById("respondents");
	const token = document.querySelector("[name=csrf_token]");
	if (!(expected instanceof HTMLInputElement && token instanceof HTMLInputElement)) return;
	data.set("csrf_token", token.value);
	clearTimeout(timer);
	checking?.abort();
	checking = new AbortController();
	try {
		const { value } = expected;
		const url = `${draft()?.dataset.check}?${new URLSearchParams({ respondents: value })}`;
		const response = await fetch(url, { method: "POST", body: data, signal: checking.signal });
		const html = await response.text();
		if (response.status !== 200 || !expected.isConnected) return; // what it is about may be gone meanwhile
		expected.defaultValue = value;
		const page = new DOMParser().parseFromString(html, "text/html");
		/** @param {string} selector */
		const take = (selector) => [...page.querySelectorAll(selector)].map((node) => document.adoptNode(node));
		const open = [...document.querySelectorAll("#beside details[open] > summary")].map((node) => node.textContent);
		const focused = document.activeElement?.closest("#asking") && document.activeElement?.id;
		document.getElementById("problems")?.replaceChildren(...take("#problems > *"));
		// somebody may be typing the number of respondents
		for (const node of document.querySelectorAll("#beside > :not(.expect)")) node.remove();
		expected.form?.after(...take("#beside > :not(.expect)"));
		if (focused) document.getElementById(focused)?.focus();
		for (const node of take("[data-of]")) {
			const there = document.getElementById(node.id);
			if (there?.dataset.of !== node.getAttribute("data-of")) there?.replaceWith(node);
		}
		for (const node of take("[data-hint]")) {
			const hint = document.getElementById(node.getAttribute("data-hint") ?? "");
			if (hint) hint.textContent = node.textContent;
		}
		for (const node of document.querySelectorAll("#beside summary")) {
			node.parentElement?.toggleAttribute("open", open.includes(node.textContent));
		}
		if (form) mark(form);
	} catch {
		// typing went on, or the server is away: saving will tell
	}
}

/**
 * Each complaint beside its field.
 * @param {HTMLFormElement} form
 */
function mark(form) {
	const faults = [...document.querySelectorAll("#problems [data-field]")];
	for (const node of form.querySelectorAll(".error[id]")) {
		const id = node.id.replace(/-error$/, "");
		const found = faults.filter((one) => one.getAttribute("data-field") === id);
		node.textContent = found.map((one) => one.querySelector(".reason")?.textContent).join("; ");
		const field = document.getElementById(id);
		const calm = found.every((one) => one.matches(".calm"));
		node.classList.toggle("calm", calm);
		if (!calm) field?.setAttribute("aria-invalid", "true");
		else field?.removeAttribute("aria-invalid");
	}
}

addEventListener("popstate", () => inTurn(`back to ${location.href}`, () => exchange(location.href, undefined, false)));
addEventListener("beforeunload", (event) => {
	if (dirty?.isConnected) event.preventDefault();
});
