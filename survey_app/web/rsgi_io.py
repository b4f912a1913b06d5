"""Reading requests and sending replies on the event loop (RSGI), with limits on size and time; for both adapters."""

import asyncio
from collections.abc import Awaitable
from typing import Any

from survey_app.collect.intake import RESPONDENT_HEADERS, WAIT_SECONDS, Reply, check_length, make_reply
from survey_app.invitations.issuing import TicketIssuer, make_ticket_reply
from survey_app.problems import Problem

READ_SECONDS = 20.0
LOWER_HEADERS = [(name.lower(), value) for name, value in RESPONDENT_HEADERS]


def body_length(scope: Any, most: int) -> int:
    """Return the length of a body, at most. Raise Problem if that is too long."""
    declared = check_length(scope.headers.get("content-length"), most)
    return most if scope.headers.get("transfer-encoding") else declared


async def read_body(scope: Any, protocol: Any, most: int) -> bytes:
    """Return the whole body. Raise Problem if it is too large, does not arrive in time, or breaks off."""
    declared = check_length(scope.headers.get("content-length"), most)
    try:
        chunks = await asyncio.wait_for(_read_chunks(protocol, most), READ_SECONDS)
    except TimeoutError:
        message = f"The body did not arrive in {READ_SECONDS:g} seconds."
        raise Problem("malformed_request", message) from None
    if sum(map(len, chunks)) < declared:  # granian ends the body there when the sender disconnects
        raise Problem("malformed_request", "The body is shorter than its Content-Length.")
    return b"".join(chunks)


async def _read_chunks(protocol: Any, most: int) -> list[bytes]:
    chunks: list[bytes] = []
    size = 0
    async for chunk in protocol:
        size += len(chunk)
        if size > most:
            raise Problem("too_large", f"At most {most} bytes.")
        chunks.append(chunk)
    return chunks


def send_reply(protocol: Any, answer: Reply, *extra_headers: tuple[str, str]) -> None:
    """Send a reply to a respondent, with the common headers."""
    extra = [(name.lower(), value) for name, value in (*answer.headers, *extra_headers)]
    headers = [("content-type", answer.content_type), *LOWER_HEADERS, *extra]
    protocol.response_bytes(answer.status, headers, answer.body)


def refuse(protocol: Any, problem: Problem) -> None:
    """Refuse a request before its body was read, and close the connection: the unread body may still arrive on it."""
    send_reply(protocol, make_reply(problem), ("connection", "close"))


def sender_address(scope: Any, proxies: int) -> str:
    """Return the address of the sender, as the last trusted proxy saw it. Only the rate limit uses it."""
    lines = ",".join(scope.headers.get_all("x-forwarded-for"))
    forwarded = [part.strip() for part in lines.split(",") if part.strip()]
    if proxies and len(forwarded) >= proxies:
        return str(forwarded[-proxies])
    return str(scope.client.rpartition(":")[0])


async def issue_ticket(signer: TicketIssuer, slug: str, scope: Any, body: bytes) -> Reply:
    """Return a ticket for an invitation; waiting for the disk and the signing process needs no thread."""
    try:
        future: Awaitable[bytes] = asyncio.wrap_future(signer.issue(slug, scope.headers.get("candor-invitation"), body))
        return make_ticket_reply(await asyncio.wait_for(future, WAIT_SECONDS))
    except Exception as error:  # a Problem or not, it ends in a problem document
        return make_ticket_reply(error)
