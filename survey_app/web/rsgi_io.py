"""Reading requests and sending replies with RSGI, the interface of granian's event loop. Both adapters use it."""

import asyncio
import io
import sys
from typing import Any

from survey_app.collect.endpoint import (
    RESPONDENT_HEADERS,
    WAIT_SECONDS,
    Endpoint,
    Reply,
    check_length,
    incomplete_body,
    problem_reply,
    too_large,
)
from survey_app.problems import Problem

READ_SECONDS = 20.0
LOWER_HEADERS = [(name.lower(), value) for name, value in RESPONDENT_HEADERS]


async def answer(endpoint: Endpoint[Any], slug: str, scope: Any, protocol: Any) -> None:
    """Read the body of a request to an endpoint, and send the reply. No thread waits for it.

    The adapter has called `endpoint.admit` before. Raise Problem if the body cannot be read.
    """
    body = await read_body(scope, protocol, endpoint.largest)
    reply = endpoint.answer(slug, scope.headers.get("candor-invitation"), body)
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            send_reply(protocol, await asyncio.wrap_future(reply))
    except TimeoutError as error:
        send_reply(protocol, endpoint.refuse(error))


def body_length(scope: Any, most: int) -> int:
    """Return the length that a body can have. Raise Problem if more than `most` bytes are declared."""
    declared = check_length(scope.headers.get("content-length"), most)
    return most if scope.headers.get("transfer-encoding") else declared


async def read_body(scope: Any, protocol: Any, most: int) -> bytes:
    """Return the whole body. Raise Problem if it is too large, does not arrive in time, or breaks off."""
    declared = check_length(scope.headers.get("content-length"), most)
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(READ_SECONDS):
            async for chunk in protocol:
                size += len(chunk)
                if size > most:
                    raise too_large(most)
                chunks.append(chunk)
    except TimeoutError:
        message = f"The body did not arrive in {READ_SECONDS:g} seconds. Retry with a better connection."
        raise Problem("malformed_request", message) from None
    if size < declared:  # granian ends the body there when the sender disconnects
        raise incomplete_body()
    return b"".join(chunks)


def send_reply(protocol: Any, reply: Reply, *extra_headers: tuple[str, str]) -> None:
    """Send a reply to a respondent, with the common headers."""
    extra = [(name.lower(), value) for name, value in (*reply.headers, *extra_headers)]
    protocol.response_bytes(reply.status, [("content-type", reply.content_type), *LOWER_HEADERS, *extra], reply.body)


def refuse(protocol: Any, problem: Problem) -> None:
    """Refuse a request before its body was read, and close the connection: the unread body may still arrive on it."""
    send_reply(protocol, problem_reply(problem), ("connection", "close"))


def sender_address(scope: Any, proxies: int) -> str:
    """Return the address of the sender, as the last trusted proxy saw it. Only the rate limit uses it."""
    lines = ",".join(scope.headers.get_all("x-forwarded-for"))
    forwarded = [part.strip() for part in lines.split(",") if part.strip()]
    if proxies and len(forwarded) >= proxies:
        return str(forwarded[-proxies])
    return str(scope.client.rpartition(":")[0])


def wsgi_environ(scope: Any, body: bytes) -> dict[str, Any]:
    """Return a request as WSGI describes it."""
    host, _, port = scope.server.rpartition(":")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string.encode().decode("latin-1"),
        "SERVER_NAME": host,
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "REMOTE_ADDR": scope.client.rpartition(":")[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.scheme,
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in scope.headers.items():
        if "_" in name:  # it would look like the name with a dash, which a trusted proxy may set
            continue
        key = name.upper().replace("-", "_")
        key = key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    environ["CONTENT_LENGTH"] = str(len(body))
    return environ
