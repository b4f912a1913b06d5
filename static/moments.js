// Beside every moment, which the page tells in UTC, the same on the reader's own clock. Without scripts UTC stands.

/** @param {Element | Document} root */
function tell(root) {
	for (const time of root.querySelectorAll("time[datetime]:not(:has(.own-clock))")) {
		const moment = new Date(time.getAttribute("datetime") ?? "");
		if (Number.isNaN(moment.getTime()) || moment.getTimezoneOffset() === 0) continue;
		const own = document.createElement("span");
		own.className = "own-clock";
		own.textContent = ` (${written(moment)})`;
		time.append(own);
	}
}

/** @param {Date} moment */
function written(moment) {
	return moment.toLocaleString("en-GB", {
		day: "2-digit",
		month: "short",
		year: "numeric",
		hour: "2-digit",
		minute: "2-digit",
		timeZoneName: "short",
	});
}

tell(document);
// parts of a page are replaced while one looks at it
new MutationObserver((changes) => {
	for (const { target } of changes) if (target instanceof Element) tell(target);
}).observe(document.body, { childList: true, subtree: true });
