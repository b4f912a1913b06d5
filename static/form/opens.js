// The moment a survey opens, on the reader's own clock.

for (const time of document.querySelectorAll("time")) {
	const lang = time.closest("[lang]")?.getAttribute("lang") ?? undefined;
	try {
		time.textContent = new Date(time.dateTime).toLocaleString(lang, { dateStyle: "full", timeStyle: "short" });
	} catch {
		// a language that this browser does not know
	}
}
