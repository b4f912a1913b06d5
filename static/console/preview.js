// The form of a draft, with its own scripts: what it asks comes with the page, it sends nowhere, and remembers nothing.

globalThis.fetch = async () => new Response('{"status":"stored"}', { status: 201 });

Object.defineProperty(globalThis, "localStorage", { value: {} });
