// Moves the secret of a link from the fragment of the address into the form, and removes it from the history.

const key = /^#key=([\w-]+)$/.exec(location.hash)?.[1];
const field = document.querySelector("#key");
const form = document.querySelector("form#open");
if (key && field instanceof HTMLInputElement && form instanceof HTMLFormElement) {
	history.replaceState(null, "", location.pathname);
	field.value = key;
	form.requestSubmit();
}
