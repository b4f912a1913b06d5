// The form of a draft, with its own scripts: they fetch from here, send nowhere, and remember nothing.

const told = /** @type {HTMLElement} */ (document.getElementById("definition"));
const definition = JSON.parse(told.textContent);

/** @type {typeof fetch} */
globalThis.fetch = async (_, options) =>
	options?.method === "POST"
		? new Response('{"status":"stored"}', { status: 201 })
		: new Response(new TextEncoder().encode(definition));

Object.defineProperty(globalThis, "localStorage", { value: {} });

for (const link of document.querySelectorAll('a[href^="/s/"]')) {
	link.setAttribute("href", `${told.dataset.base}${link.getAttribute("href")}`);
}
