// The secret of a link stands behind the #: it goes into the form, and out of the address and the history.

const key = /^#key=([\w-]+)$/.exec(location.hash)?.[1];
const field = document.querySelector("#key");
const form = document.querySelector("form#open");
if (key && field instanceof HTMLInputElement && form instanceof HTMLFormElement) {
	history.replaceState(null, "", location.pathname);
	field.value = key;
	form.requestSubmit();
}
