// Counts that are updated while the page is open, and buttons that copy.

const SECONDS = 10;
/** @type {HTMLElement[]} */
const counts = [...document.querySelectorAll("[data-count]")].filter((node) => node instanceof HTMLElement);

/** @param {HTMLElement} node */
async function refresh(node) {
	try {
		const response = await fetch(node.dataset.count ?? "");
		if (!response.ok) return;
		const { text } = await response.json();
		if (node.textContent !== text) node.textContent = text;
	} catch {
		// the next round may find the server again
	}
}

function refreshAll() {
	if (!document.hidden) for (const node of counts) refresh(node);
}

if (counts.length > 0) setInterval(refreshAll, 1000 * SECONDS);

for (const node of document.querySelectorAll("[data-copy]")) {
	if (node instanceof HTMLInputElement || node instanceof HTMLTextAreaElement) offerCopy(node);
}

/** @param {HTMLInputElement | HTMLTextAreaElement} node */
function offerCopy(node) {
	const button = document.createElement("button");
	button.type = "button";
	button.className = "copy";
	button.textContent = "Copy";
	button.setAttribute("aria-label", `Copy: ${document.querySelector(`label[for="${node.id}"]`)?.textContent}`);
	button.addEventListener("click", async () => {
		node.select();
		try {
			await navigator.clipboard.writeText(node.value.trim());
			button.textContent = "Copied";
		} catch {
			button.textContent = "Press Ctrl+C"; // without https there is no clipboard
		}
		setTimeout(() => {
			button.textContent = "Copy";
		}, 2000);
	});
	node.after(button);
}
