// Adds the reader's local time to every moment, which the page shows in UTC.

/** @param {Element | Document} root */
function tell(root) {
	for (const time of root.querySelectorAll("time[datetime]:not(:has(.own-clock))")) {
		const moment = new Date(time.getAttribute("datetime") ?? "");
		if (Number.isNaN(moment.getTime()) || moment.getTimezoneOffset() === 0) continue;
		const own = document.createElement("span");
		own.className = "own-clock";
		own.textContent = ` (${formatMoment(moment)})`;
		time.append(own);
	}
}

/** @param {Date} moment */
function formatMoment(moment) {
	return moment.toLocaleString("en-GB", {
		day: "2-digit",
		month: "short",
		year: "numeric",
		hour: "2-digit",
		minute: "2-digit",
		timeZoneName: "short",
	});
}

/**
 * Show the reader's local time below each input of a moment, which is in UTC too.
 * @param {Element | Document} root
 */
function tellFields(root) {
	/** @type {NodeListOf<HTMLInputElement>} */
	const fields = root.querySelectorAll("input[type=datetime-local]:not([data-own-clock])");
	for (const field of fields) {
		const own = document.createElement("p");
		own.className = "hint own-clock";
		field.dataset.ownClock = "";
		field.after(own);
		const update = () => {
			const moment = new Date(`${field.value}Z`);
			const isValid = field.value !== "" && moment.getTimezoneOffset() !== 0;
			own.textContent = isValid ? `Your local time: ${formatMoment(moment)}` : "";
			own.hidden = !isValid;
		};
		field.addEventListener("input", update);
		update();
	}
}

tell(document);
tellFields(document);
// parts of a page may be replaced while it is open
new MutationObserver((changes) => {
	for (const { target } of changes) {
		if (!(target instanceof Element)) continue;
		tell(target);
		tellFields(target);
	}
}).observe(document.body, { childList: true, subtree: true });
