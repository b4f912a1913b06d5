// Counts that move while one looks, and buttons that copy.

const SECONDS = 10;
const counts = [...document.querySelectorAll("[data-count]")];

async function refresh(node) {
	try {
		const response = await fetch(node.dataset.count);
		if (!response.ok) return;
		const { reports } = await response.json();
		const text = reports.toLocaleString("en");
		if (node.textContent !== text) node.textContent = text;
	} catch {} // the next round may find the server again
}

if (counts.length) setInterval(() => document.hidden || counts.forEach(refresh), 1000 * SECONDS);

for (const node of document.querySelectorAll("[data-copy]")) {
	const button = document.createElement("button");
	button.type = "button";
	button.className = "copy";
	button.textContent = "Copy";
	button.setAttribute("aria-label", `Copy: ${document.querySelector(`label[for="${node.id}"]`).textContent}`);
	button.addEventListener("click", async () => {
		node.select();
		try {
			await navigator.clipboard.writeText(node.value.trim());
			button.textContent = "Copied";
		} catch {
			button.textContent = "Press Ctrl+C"; // without https there is no clipboard
		}
		setTimeout(() => (button.textContent = "Copy"), 2000);
	});
	node.after(button);
}
