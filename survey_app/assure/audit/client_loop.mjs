// The JavaScript client, audited like a third-party one: it reads a definition and answers on each line, and prints a
// report for each. It runs after the assembled modules of the client, which are in `client`.

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
