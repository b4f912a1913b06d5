// Where a survey is, and what its link says after #: nothing there is ever sent to a server as part of an address.
//
// A link may pin its definition (`sha256=`), carry an invitation (`code=`), or a ticket that was taken on another device
// (`ticket=<prefix>.<signature>`).

import { check } from "./errors.js";
import { fromText, toText } from "./report.js";

/** @import { Survey } from "./definition.js" */
/** @import { Ticket } from "./report.js" */
/**
 * The server with any path before the survey's, where the definition is, and what the link's fragment says.
 * @typedef {object} Address
 * @property {string} server
 * @property {string} slug
 * @property {string} api
 * @property {string} [pin]
 * @property {string} [invitation]
 * @property {Ticket} [ticket]
 */

const PLACE = /^(.*)\/(?:s|api\/surveys)\/([\w-]+)\/?$/;
const CODE = /^[\x21-\x7e]{1,200}$/; // what can travel in a header
const TICKET = /^[\w-]{43}\.[\w-]{512}$/; // 32 and 384 bytes

/**
 * Read `…/s/<slug>` or `…/api/surveys/<slug>`, with `#sha256=…`, `#code=…` and `#ticket=…`, once each.
 * @param {string} url
 * @returns {Address}
 */
export function parseAddress(url) {
	const { origin, pathname, hash } = new URL(url, globalThis.location?.href);
	const place = PLACE.exec(pathname);
	check(place, "bad_address");
	const [, base, slug] = place;
	const parts = [...new URLSearchParams(hash.slice(1))];
	for (const [key, value] of parts) check(["sha256", "code", "ticket"].includes(key) && value, "bad_address");
	/** @type {Record<string, string | undefined>} */
	const named = Object.fromEntries(parts);
	check(Object.keys(named).length === parts.length, "bad_address");
	const { sha256: pin, code: invitation, ticket } = named;
	check(!invitation || CODE.test(invitation), "bad_address");
	const server = `${origin}${base}`;
	const api = `${server}/api/surveys/${slug}`;
	return { server, slug, api, pin, invitation, ticket: ticket ? readTicket(ticket) : undefined };
}

/**
 * Where tickets of a survey are taken: at its own server, or at the one that its definition names.
 * @param {Address} address
 * @param {Survey} survey
 */
export function issuerOf({ server, slug }, { tickets }) {
	const issuer = tickets?.issuer ?? server;
	check(issuer.startsWith("https:") || server.startsWith("http:"), "bad_address");
	return `${issuer}/api/surveys/${slug}/tickets`;
}

/**
 * A link to save: it carries the ticket to another device, and the pin if there was one.
 * @param {Address} address
 * @param {Ticket} ticket
 */
export function ticketLink({ server, slug, pin }, { prefix, signature }) {
	const pinned = pin ? `sha256=${pin}&` : "";
	return `${server}/s/${slug}#${pinned}ticket=${toText(prefix)}.${toText(signature)}`;
}

/**
 * @param {string} text
 * @returns {Ticket}
 */
function readTicket(text) {
	check(TICKET.test(text), "bad_ticket");
	const [prefix, signature] = text.split(".").map(fromText);
	check(text.startsWith(toText(prefix)), "bad_ticket"); // its one spelling
	return { prefix, signature };
}
