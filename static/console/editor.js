// The editor without reloads: forms are sent by script, and the new page replaces the old one. Everything works without
// this script. It checks the draft while the author types, and never loses typed text.

const PAUSE = 600; // ms without a key before the draft is checked
const SIGNED_OUT =
	"You are signed out, and nothing was saved. Copy what you typed here, sign in again in another window, then reload this page.";
const said = /** @type {HTMLElement} */ (document.getElementById("said"));
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** @type {AbortController | undefined} */
let checking;
/**
 * The form with unsaved changes.
 * @type {HTMLFormElement | null | undefined}
 */
let dirty = null;
let typed = 0; // the number of changes in forms
const PLACED = /^(up|down|move|copy|remove|delete):/; // after such a change the same number may mean another question
/** The actions that wait or run. */
const pressed = new Set();
let turn = Promise.resolve();

/**
 * Run an action after all earlier ones. An action that waits or runs already is not added twice.
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
const findEditForm = () => draft()?.querySelector("form[data-edit]");

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
 * Replace the old page by the new one; keep focus and position.
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
 * Return the element of the new page that had the focus: with the same id, or the same button of the open question.
 * @param {Element | null} active
 * @param {Element | null | undefined} open
 */
function sameAs(active, open) {
	if (active?.id) return document.getElementById(active.id);
	if (!(active instanceof HTMLButtonElement)) return undefined;
	const buttons = [...(open?.querySelectorAll("button") ?? [])];
	return buttons.find((button) => button.name === active.name && button.value === active.value);
}

/**
 * Send a request and show the reply; return whether it succeeded.
 * @param {string} url
 * @param {RequestInit} [options]
 * @param {boolean} [push]
 */
async function exchange(url, options, push = true) {
	try {
		const form = findEditForm();
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
			dirty = findEditForm(); // typed, not saved
		else
			tell(
				response.status === 400 ? SIGNED_OUT : "The server refused the request. Nothing was saved. Try again.",
				"error",
			);
	} catch {
		tell("The server does not respond. Nothing was saved. Try again.", "error");
	}
	return false;
}

/**
 * Return the data of a form that was changed during a request; if it was sent already, with the stamp of the reply.
 * @param {HTMLFormElement} form
 * @param {FormData | null} sent
 * @param {string} html the server's reply
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

// save the form with unsaved changes before another action; return whether that succeeded
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
 * Send a form. If another page has replaced it meanwhile, press the same button there.
 * @param {HTMLFormElement} form
 * @param {HTMLButtonElement | null} button
 * @param {FormData} data the form at the time of the click
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
		// the open form was saved first, so the button is on a new page
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
 * Select a line of the YAML source.
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
	// choices are sent at once; another question of a condition has other answers
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

// store a changed number of respondents before another page replaces this one
async function remember() {
	const expected = document.getElementById("respondents");
	if (expected instanceof HTMLInputElement && expected.value !== expected.defaultValue) await check();
}

// check the draft as it is in the form; only the number of respondents is saved
async function check() {
	const form = findEditForm();
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
		if (response.status !== 200 || !expected.isConnected) return; // the page may have been replaced meanwhile
		expected.defaultValue = value;
		const page = new DOMParser().parseFromString(html, "text/html");
		/** @param {string} selector */
		const take = (selector) => [...page.querySelectorAll(selector)].map((node) => document.adoptNode(node));
		const open = [...document.querySelectorAll("#beside details[open]")].map((node) => node.getAttribute("data-part"));
		const focused = document.activeElement?.closest("#asking") && document.activeElement?.id;
		document.getElementById("problems")?.replaceChildren(...take("#problems > *"));
		// the author may be typing the number of respondents
		for (const node of document.querySelectorAll("#beside > :not(.expect)")) node.remove();
		expected.form?.after(...take("#beside > :not(.expect)"));
		if (focused) document.getElementById(focused)?.focus();
		for (const node of take("[data-of]")) {
			const old = document.getElementById(node.id);
			if (old?.dataset.of !== node.getAttribute("data-of")) old?.replaceWith(node);
		}
		for (const node of take("[data-hint]")) {
			const hint = document.getElementById(node.getAttribute("data-hint") ?? "");
			hint?.replaceChildren(...node.childNodes);
		}
		for (const node of document.querySelectorAll("#beside details")) {
			node.toggleAttribute("open", open.includes(node.getAttribute("data-part")));
		}
		if (form) mark(form);
	} catch {
		// aborted by typing, or the server is unreachable; saving will show an error
	}
}

/**
 * Show each problem next to its field.
 * @param {HTMLFormElement} form
 */
function mark(form) {
	const faults = [...document.querySelectorAll("#problems [data-field]")];
	for (const node of form.querySelectorAll(".error[id]")) {
		const id = node.id.replace(/-error$/, "");
		const matches = faults.filter((fault) => fault.getAttribute("data-field") === id);
		node.textContent = matches.map((fault) => fault.querySelector(".reason")?.textContent).join("; ");
		const field = document.getElementById(id);
		const calm = matches.every((fault) => fault.matches(".calm"));
		node.classList.toggle("calm", calm);
		if (!calm) field?.setAttribute("aria-invalid", "true");
		else field?.removeAttribute("aria-invalid");
	}
}

addEventListener("popstate", () => inTurn(`back to ${location.href}`, () => exchange(location.href, undefined, false)));
addEventListener("beforeunload", (event) => {
	if (dirty?.isConnected) event.preventDefault();
});
