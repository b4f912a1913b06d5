// Keeps the results page up to date: it asks for the number of reports, and fetches the page again if it has changed.
// Only the parts marked data-live are replaced. They have no focusable elements, so focus and open tables stay. If there are
// new parts, everything is replaced, and open parts are opened again. The scroll position follows the text at the top of the
// window, although figures above it may grow.

const EVERY = 10_000;
const news = () => document.getElementById("news");
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let failing = false;
let busy = false;

/** @param {string} text */
function say(text) {
	const place = news();
	if (place) place.textContent = text;
}

function later() {
	clearTimeout(timer);
	timer = setTimeout(look, EVERY);
}

async function look() {
	const page = document.getElementById("page");
	if (!page?.dataset.count || document.hidden || busy) return;
	busy = true;
	try {
		const answer = await fetch(page.dataset.count, { headers: { Accept: "application/json" } });
		if ([401, 403, 404].includes(answer.status)) {
			say("These results can no longer be read here. Reload the page to see why.");
			delete page.dataset.count;
		} else if (!answer.ok) {
			throw new Error(`${answer.status}`);
		} else {
			await compare(page, await answer.json());
		}
		failing = false;
	} catch {
		failing = true;
		say("The server does not respond, so these figures may be out of date. Trying again.");
	}
	busy = false;
	later();
}

/**
 * @param {HTMLElement} page
 * @param {{ reports: number, state: string }} now
 */
async function compare(page, { reports, state }) {
	if (`${reports}` !== page.dataset.reports || state !== page.dataset.state) await refresh(page);
	else if (failing) say("");
}

/** @param {HTMLElement} page */
async function refresh(page) {
	const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
	if (answer.status !== 200 && answer.status !== 400) throw new Error(`${answer.status}`);
	const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("page");
	if (!fresh) throw new Error("no results");
	const stay = findAnchor(page);
	/** @param {Element} one */
	const ids = (one) => [...one.querySelectorAll("[data-live]")].map((part) => part.id);
	if (ids(page).join() === ids(fresh).join()) {
		for (const id of ids(fresh)) {
			const [old, made] = [page, fresh].map((one) => one.querySelector(`#${CSS.escape(id)}`));
			if (old && made && old.outerHTML !== made.outerHTML) old.replaceWith(made);
		}
	} else {
		const again = listOpenParts(page);
		page.replaceChildren(...fresh.childNodes);
		wire();
		again();
	}
	for (const name of ["reports", "state", "count"]) {
		if (name in fresh.dataset) page.dataset[name] = fresh.dataset[name];
		else delete page.dataset[name];
	}
	const count = page.querySelector('[data-key="reports"]')?.textContent ?? page.dataset.reports;
	say(page.dataset.count ? `The figures now include ${count} reports.` : `Final: ${count} reports.`);
	stay();
}

/**
 * Remember the section at the top of the window, and return a function that scrolls it there again.
 * @param {HTMLElement} page
 */
function findAnchor(page) {
	const top = [...page.querySelectorAll("section[id]")].find((section) => section.getBoundingClientRect().bottom > 0);
	const before = top?.getBoundingClientRect().top ?? 0;
	return () => {
		const after = top && document.getElementById(top.id)?.getBoundingClientRect().top;
		if (scrollY > 0 && after !== undefined) scrollBy(0, after - before);
	};
}

/** Open the closed part to which the fragment of the address links. */
function unfold() {
	const fold = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("summary")?.parentElement;
	if (fold instanceof HTMLDetailsElement) fold.open = true;
}

const SHARP = 4; // pixels of a PNG for each of the SVG: 18 cm of paper at 300 dots an inch

/**
 * Draw the SVG of a button on white and save it as PNG. Text is drawn in the reader's fonts, which the server lacks.
 * @param {HTMLButtonElement} button
 */
async function picture(button) {
	const image = new Image();
	image.src = button.dataset.png ?? "";
	await image.decode();
	const canvas = document.createElement("canvas");
	[canvas.width, canvas.height] = [image.naturalWidth * SHARP, image.naturalHeight * SHARP];
	const paper = canvas.getContext("2d");
	if (!paper) throw new Error("no canvas");
	paper.fillStyle = "#fff";
	paper.fillRect(0, 0, canvas.width, canvas.height);
	paper.drawImage(image, 0, 0, canvas.width, canvas.height);
	const link = document.createElement("a");
	link.href = canvas.toDataURL("image/png");
	link.download = button.dataset.name ?? "plot.png";
	link.click();
}

/**
 * Remember the open parts and the focus, and return a function that restores both in the new page.
 * @param {HTMLElement} page
 */
function listOpenParts(page) {
	const open = [...page.querySelectorAll("details[open] > summary")].map((one) => one.textContent);
	const focused = document.activeElement?.closest("summary")?.textContent;
	return () => {
		for (const one of page.querySelectorAll("summary")) {
			const fold = one.parentElement;
			if (fold instanceof HTMLDetailsElement && open.includes(one.textContent)) fold.open = true;
			if (one.textContent === focused) one.focus({ preventScroll: true });
		}
	};
}

function wire() {
	for (const button of document.querySelectorAll("button[data-png]")) {
		if (!(button instanceof HTMLButtonElement)) continue;
		button.hidden = false;
		button.addEventListener("click", () => {
			picture(button).catch(() => say("The browser could not draw the plot. Download the SVG instead."));
		});
	}
	const copy = document.getElementById("copy");
	if (!copy || !navigator.clipboard) return;
	copy.hidden = false;
	copy.addEventListener("click", async () => {
		const done = document.getElementById("copied");
		const paragraph = document.getElementById("paragraph");
		if (!done || !paragraph) return;
		try {
			await navigator.clipboard.writeText(paragraph.textContent);
			done.textContent = "Copied.";
		} catch {
			done.textContent = "The browser does not allow copying. Select the text instead.";
		}
	});
}

document.addEventListener("visibilitychange", () => {
	clearTimeout(timer);
	if (!document.hidden) look();
});
document.documentElement.style.overflowAnchor = "none"; // the browser's scroll anchoring would add to that of `findAnchor`
addEventListener("hashchange", unfold);
wire();
unfold();
later();
