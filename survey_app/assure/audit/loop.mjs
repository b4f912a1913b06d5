// The JavaScript client, audited as a stranger would be: a definition and answers on each line, a report on each back.
// It runs after the assembled modules of the client, which are in `client`.

import { createInterface } from "node:readline";

/** @type {Map<string, any>} */
const known = new Map();

for await (const line of createInterface({ input: process.stdin })) {
	const { definition, answers } = JSON.parse(line);
	if (!known.has(definition)) {
		known.set(definition, client.Survey.fromJson(new TextEncoder().encode(definition)));
	}
	process.stdout.write(`${client.randomize(known.get(definition), answers).toJson()}\n`);
}
