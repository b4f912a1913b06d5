// Names next to links, and the people without a ticket: computed in this browser, so that the server gets no names.

import { digest, utf8 } from "/client/js/sha256.js";

/** @param {string} id */
const at = (id) => document.getElementById(id);
const form = at("invite");
const names = at("names");
const table = at("table");

/**
 * Return the rows of a CSV table; a quoted cell may have commas, quotes and line breaks.
 * @param {string} text
 * @returns {string[][]}
 */
function rowsOf(text) {
	const rows = [[""]];
	let quoted = false;
	for (let i = text.charCodeAt(0) === 0xfeff ? 1 : 0; i < text.length; i++) {
		const row = rows[rows.length - 1];
		const sign = text[i];
		if (quoted && sign === '"' && text[i + 1] === '"') row[row.length - 1] += text[++i];
		else if (sign === '"') quoted = !quoted;
		else if (!quoted && sign === ",") row.push("");
		else if (!quoted && sign === "\n") rows.push([""]);
		else if (quoted || sign !== "\r") row[row.length - 1] += sign;
	}
	return rows.filter((row) => row.some(Boolean));
}

/**
 * Return a CSV cell. A space precedes text that a spreadsheet would read as a formula; it is removed when a table is read.
 * @param {string} text
 */
function cellOf(text) {
	const cell = /^[=+\-@\t]/.test(text) ? ` ${text}` : text;
	return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** @param {string[][]} rows */
const fileOf = (rows) =>
	URL.createObjectURL(
		// the byte order mark tells spreadsheets that the file is UTF-8
		new Blob(["\ufeff", rows.map((row) => `${row.map(cellOf).join(",")}\n`).join("")], { type: "text/csv" }),
	);

/** @param {string} link */
const codeOf = (link) => new URLSearchParams(link.split("#")[1] ?? "").get("code") ?? "";

/**
 * @param {string} id
 * @param {string} text
 */
function tell(id, text) {
	const node = at(id);
	if (node) node.textContent = text;
}

/** Update the numbers at the top. */
async function refresh() {
	const response = await fetch(at("numbers")?.dataset.invited ?? "").catch(() => null);
	if (!response?.ok) return;
	/** @type {{ invited: number, taken: number }} */
	const { invited, taken } = await response.json();
	for (const [id, number] of Object.entries({ invited, taken, missing: invited - taken }))
		tell(id, number.toLocaleString("en"));
}

if (form instanceof HTMLFormElement && names instanceof HTMLTextAreaElement) {
	at("naming")?.removeAttribute("hidden");
	const count = /** @type {HTMLInputElement} */ (at("count"));
	const listPeople = () =>
		names.value
			.split("\n")
			.map((line) => line.trim())
			.filter(Boolean);
	let asked = ""; // a list with repeated names, about which the author was warned
	const follow = () => {
		const people = listPeople().length;
		count.readOnly = people > 0;
		count.value = people > 0 ? String(people) : count.defaultValue;
	};
	names.addEventListener("input", follow);
	form.addEventListener("submit", async (event) => {
		const people = listPeople();
		if (people.length === 0) return; // the server then sends a plain file
		event.preventDefault();
		const twice = [...new Set(people.filter((name, i) => people.indexOf(name) !== i))];
		if (twice.length > 0 && asked !== names.value) {
			asked = names.value;
			const listing = `${twice.slice(0, 5).join("; ")}${twice.length > 5 ? ` and ${twice.length - 5} more` : ""}`;
			return tell("invite-said", `Listed more than once: ${listing}. Press again to make an invitation for each line.`);
		}
		tell("invite-said", "Making invitations…");
		const headers = { Accept: "application/json" };
		const body = new FormData(form); // the names have no name in the form, so they are not in it
		const response = await fetch(form.action, { method: "POST", body, headers }).catch(() => null);
		if (!response?.ok) return tell("invite-said", "No invitations were made. Reload the page and try again.");
		/** @type {{ links: string[] }} */
		const { links } = await response.json();
		const saved = document.createElement("a");
		saved.href = fileOf([["name", "link"], ...people.map((name, i) => [name, links[i]])]);
		saved.download = `${form.dataset.slug}-invitations.csv`;
		saved.textContent = "Save the file again";
		saved.click();
		const told = `${links.length} invitations were made and saved as ${saved.download}. This is the only copy. `;
		at("invite-said")?.replaceChildren(told, saved);
		names.value = "";
		follow();
		refresh();
	});
}

if (table instanceof HTMLInputElement) {
	table.addEventListener("change", async () => {
		const file = table.files?.[0];
		if (!file) return;
		const save = at("absent-save");
		at("absent-list")?.replaceChildren();
		save?.setAttribute("hidden", "");
		const [head, ...rows] = rowsOf(await file.text());
		const [name, link] = ["name", "link"].map((column) => (head ?? []).indexOf(column));
		if (name < 0 || link < 0)
			return tell("absent-said", "This is not a table of invitations. Its first line must be name,link.");
		const response = await fetch(table.dataset.invited ?? "").catch(() => null);
		if (!response?.ok) return tell("absent-said", "The server did not respond. Reload the page and try again.");
		/** @type {{ not_taken: string[] }} */
		const { not_taken } = await response.json();
		const free = new Set(not_taken);
		const absent = rows.filter((row) => free.has(digest(utf8(codeOf(row[link] ?? "")))));
		const items = absent.map((row) => {
			const item = document.createElement("li");
			item.textContent = row[name].trim();
			return item;
		});
		at("absent-list")?.replaceChildren(...items);
		tell("absent-said", `${absent.length} of ${rows.length} people in this table have not taken a ticket.`);
		if (absent.length > 0 && save instanceof HTMLAnchorElement) {
			save.href = fileOf([head, ...absent.map((row) => row.map((cell) => cell.trim()))]);
			save.hidden = false;
		}
	});
}
