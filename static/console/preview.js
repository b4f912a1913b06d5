// The form of a draft: the definition is embedded in the page, and nothing is sent or stored.

globalThis.fetch = async () => new Response('{"status":"stored"}', { status: 201 });

Object.defineProperty(globalThis, "localStorage", { value: {} });
