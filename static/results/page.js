// Keeps the results page fresh: asks how many reports it would show, and fetches it again when that has changed.
// Only the parts marked data-live are replaced; none of them can hold the focus, so focus and open tables stay. What one
// reads stays where it is too, though figures above it may get taller.

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
		say("The server does not answer; these figures may be old. Trying again.");
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
	const stay = held(page);
	/** @param {Element} one */
	const ids = (one) => [...one.querySelectorAll("[data-live]")].map((part) => part.id);
	if (ids(page).join() === ids(fresh).join()) {
		for (const id of ids(fresh)) {
			const [old, made] = [page, fresh].map((one) => one.querySelector(`#${CSS.escape(id)}`));
			if (old && made && old.outerHTML !== made.outerHTML) old.replaceWith(made);
		}
	} else {
		page.replaceChildren(...fresh.childNodes);
		wire();
	}
	for (const name of ["reports", "state", "count"]) {
		if (name in fresh.dataset) page.dataset[name] = fresh.dataset[name];
		else delete page.dataset[name];
	}
	const count = page.querySelector('[data-key="reports"]')?.textContent ?? page.dataset.reports;
	say(page.dataset.count ? `Now ${count} reports; the figures are new.` : `Final: ${count} reports.`);
	stay();
}

/**
 * What stands at the top of the window now; the function scrolls so that it stands there again.
 * @param {HTMLElement} page
 */
function held(page) {
	const top = [...page.querySelectorAll("section[id]")].find((one) => one.getBoundingClientRect().bottom > 0);
	const before = top?.getBoundingClientRect().top ?? 0;
	return () => {
		const after = top && document.getElementById(top.id)?.getBoundingClientRect().top;
		if (scrollY > 0 && after !== undefined) scrollBy(0, after - before);
	};
}

function wire() {
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
			done.textContent = "The browser does not allow it; select the text instead.";
		}
	});
}

document.addEventListener("visibilitychange", () => {
	clearTimeout(timer);
	if (!document.hidden) look();
});
document.documentElement.style.overflowAnchor = "none"; // the browser's own way would come on top of `held`
wire();
later();
