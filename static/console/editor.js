// The editor without reloads: forms are sent and the new page takes the place of the old one. Everything works
// without this script; it adds checking while one types, and never leaves behind what was typed.

const PAUSE = 600; // ms without a key before the draft is checked
const SIGNED_OUT =
	"You are signed out. Copy what you typed here, sign in again in another window, then reload this page; nothing was saved.";
const said = document.getElementById("said");
let [timer, checking, dirty, busy] = [0, null, null, false];

const draft = () => document.getElementById("draft");

function tell(text, kind = "status") {
	const line = document.createElement("p");
	line.className = `said ${kind}`;
	line.textContent = text;
	said.replaceChildren(line);
}

// put the new page where the old one was; keep the place in it
function show(html, url) {
	const page = new DOMParser().parseFromString(html, "text/html");
	const next = page.getElementById("draft") ?? page.querySelector(".console > #said ~ *")?.parentElement;
	if (!next) return false;
	const lines = [...page.querySelectorAll("#said > *")];
	const [was, { id, name, value } = {}] = [draft().querySelector(".open")?.id, document.activeElement ?? undefined];
	if (next.id) draft().replaceWith(document.adoptNode(next));
	else draft().replaceChildren(...[...next.children].slice(2).map((node) => document.adoptNode(node)));
	document.title = page.title;
	said.replaceChildren(...lines.map((node) => document.adoptNode(node)));
	dirty = null;
	if (url && url !== location.href) history.pushState({}, "", url);
	const open = draft()?.querySelector(".open");
	const same = id ? document.getElementById(id) : [...(open?.querySelectorAll("button") ?? [])].find((one) => one.name === name && one.value === value);
	const focus = open && open.id !== was ? open.querySelector("textarea, select") : (draft()?.querySelector("[data-focus]:not(.open *)") ?? same);
	focus?.focus({ preventScroll: true });
	focus?.scrollIntoView({ block: "nearest" });
	return true;
}

async function exchange(url, options, push = true) {
	busy = true;
	try {
		const response = await fetch(url, options);
		const html = await response.text();
		if (new URL(response.url).pathname === "/login") tell(SIGNED_OUT, "error");
		else if (response.ok && show(html, push ? response.url : "")) return true;
		else if (response.status === 409 && show(html)) dirty = draft().querySelector("[data-edit]"); // typed, not saved
		else tell(response.status === 400 ? SIGNED_OUT : "The server refused this. Nothing was saved; try again.", "error");
	} catch {
		tell("The server does not answer. Nothing was saved; try again.", "error");
	} finally {
		busy = false;
	}
}

const body = (form, submitter) => new FormData(form, submitter);

// save the form that was typed in, before anything else happens
async function saveFirst() {
	if (!dirty?.isConnected) return true;
	const form = dirty;
	const data = new FormData(form);
	const place = data.get("question");
	if (place !== null) data.set("do", `save:${place}`);
	return exchange(form.action, { method: "POST", body: data }, false);
}

document.addEventListener("submit", async (event) => {
	const form = event.target;
	if (!draft()?.contains(form) || form.hasAttribute("data-leaves")) return;
	event.preventDefault();
	if (busy) return;
	const { submitter } = event;
	if (form.method === "get") {
		const query = new URLSearchParams([...new URLSearchParams(location.search), ...body(form, submitter)]);
		return (await saveFirst()) && exchange(`${location.pathname}?${new URLSearchParams(Object.fromEntries(query))}`);
	}
	if (form.hasAttribute("data-edit") || !dirty) return exchange(form.action, { method: "POST", body: body(form, submitter) });
	// another form's button: what is open is saved first, and the button of the new page is pressed
	const { name, value } = submitter;
	if (!(await saveFirst())) return;
	const again = [...draft().querySelectorAll(`button[name="${name}"]`)].find((one) => one.value === value && !one.closest("[data-edit]"));
	if (again) exchange(again.form.action, { method: "POST", body: body(again.form, again) });
});

document.addEventListener("click", async (event) => {
	const link = event.target.closest("a");
	if (!link || !draft()?.contains(link) || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
	const source = document.getElementById("source");
	if (source && link.dataset.line) return event.preventDefault(), toLine(source, +link.dataset.line);
	const url = new URL(link.href);
	const here = url.origin === location.origin && url.pathname.startsWith(location.pathname.replace(/(\/drafts\/\d+).*/, "$1"));
	if (!here || /file\.yaml$|\/delete$|\/preview$/.test(url.pathname)) {
		if (!dirty) return;
		event.preventDefault();
		if (await saveFirst()) location.href = link.href;
		return;
	}
	event.preventDefault();
	if (busy || !(await saveFirst())) return;
	if (await exchange(url.href)) document.getElementById(url.hash.slice(1))?.scrollIntoView({ block: "nearest" });
});

// where a complaint is about, in the YAML itself
function toLine(source, line) {
	const lines = source.value.split("\n");
	const start = lines.slice(0, line - 1).join("\n").length + (line > 1);
	source.focus();
	source.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
	source.scrollTop = (source.scrollHeight / lines.length) * Math.max(0, line - 5);
}

document.addEventListener("input", ({ target }) => {
	const form = target.closest?.("[data-edit]");
	if (!draft()?.contains(target) || !(form || target.id === "respondents")) return;
	dirty = form ?? dirty;
	clearTimeout(timer);
	timer = setTimeout(check, PAUSE);
});

// what would be said about the draft as it stands in the form; nothing is saved
async function check() {
	const form = draft().querySelector("[data-edit]");
	const [data, expected] = [new FormData(form ?? undefined), document.getElementById("respondents")];
	data.set("csrf_token", document.querySelector("[name=csrf_token]").value);
	checking?.abort();
	checking = new AbortController();
	try {
		const url = `${draft().dataset.check}?${new URLSearchParams({ respondents: expected.value })}`;
		const response = await fetch(url, { method: "POST", body: data, signal: checking.signal });
		if (response.status !== 200 || form?.isConnected === false) return;
		const page = new DOMParser().parseFromString(await response.text(), "text/html");
		const take = (selector) => [...page.querySelectorAll(selector)].map((node) => document.adoptNode(node));
		const open = [...document.querySelectorAll("#beside details[open] > summary")].map((node) => node.textContent);
		document.getElementById("problems").replaceChildren(...take("#problems > *"));
		for (const node of document.querySelectorAll("#beside > :not(.expect)")) node.remove();
		expected.form.after(...take("#beside > :not(.expect)")); // somebody may be typing in that form
		for (const node of document.querySelectorAll("#beside summary")) node.parentElement.open = open.includes(node.textContent);
		if (form) mark(form);
	} catch {} // typing went on, or the server is away: saving will tell
}

// each complaint beside its field
function mark(form) {
	const faults = [...document.querySelectorAll("#problems [data-field]")];
	for (const node of form.querySelectorAll(".error[id]")) {
		const id = node.id.replace(/-error$/, "");
		const found = faults.filter((one) => one.dataset.field === id);
		node.textContent = found.map((one) => one.querySelector(".reason").textContent).join("; ");
		const field = document.getElementById(id);
		if (found.length) field?.setAttribute("aria-invalid", "true");
		else field?.removeAttribute("aria-invalid");
	}
}

addEventListener("popstate", () => exchange(location.href, undefined, false));
addEventListener("beforeunload", (event) => dirty?.isConnected && event.preventDefault());
