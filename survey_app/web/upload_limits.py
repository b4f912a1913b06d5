"""Upload limits: the largest body by URL, the uploads that need an account, and the memory for all bodies together.

Each limit is defined next to what it limits; this module combines them. Any upload larger than a report needs an
account: a token with the required role, or a session. The headers decide that, so that nobody else can make the server
buffer megabytes. The app receives a refused request without its body and reports the error.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask, request

from candor_client.definition import LARGEST_REPORT
from survey_app.authoring.yaml_source import LARGEST_FILE, LARGEST_FORM
from survey_app.collect.batch import BATCHES, LARGEST_BATCH
from survey_app.invitations.issuing import LARGEST_REQUEST, TICKETS
from survey_app.problems import Problem
from survey_app.store import Role
from survey_app.web.access import CONSOLE, find_managed, find_visible, require, require_token_account
from survey_app.web.sessions import session_account

SURVEYS = "/api/surveys"
LARGEST_OF_ALL = max(LARGEST_REPORT, LARGEST_FORM, LARGEST_BATCH)
ACCOUNT_BUDGET = 64_000_000  # bytes of bodies that one worker holds for all accounts together
PUBLIC_BUDGET = 32_000_000  # and separately for everybody else: neither can exhaust the budget of the other
UNCOUNTED_BYTES = 8_192  # bytes of each body: an ordinary report is accepted however many other bodies are incomplete
TRY_AGAIN = 5  # seconds: incomplete bodies release their memory within READ_SECONDS


def largest_upload(method: str, path: str) -> int:
    """Return the largest number of bytes that a request may carry. Larger ones are refused unread."""
    if TICKETS.fullmatch(path):
        return LARGEST_REQUEST
    if method != "POST":
        return LARGEST_REPORT
    if path.startswith(CONSOLE):
        return LARGEST_FORM
    if path == SURVEYS:
        return LARGEST_FILE
    return LARGEST_BATCH if BATCHES.fullmatch(path) else LARGEST_REPORT


def needs_account(method: str, path: str) -> bool:
    """Return whether the sender of a request must be authenticated before its body is read."""
    return method == "PATCH" or largest_upload(method, path) > LARGEST_REPORT


def may_upload(app: Flask, environ: dict[str, object]) -> bool:
    """Return whether the headers of a request authorize its sender to upload the body."""
    with app.request_context(environ):
        try:
            if request.path.startswith(CONSOLE):
                return session_account() is not None
            user, slug = require_token_account(), (request.view_args or {}).get("slug")
            if slug is not None and request.method == "PATCH":
                find_managed(slug, Role.EDITOR, user, request.args.get("digest"))
            elif slug is not None:
                require(user, find_visible(slug), Role.OWNER)
        except Exception:  # the app meets the same error, and reports it
            return False
        return request.routing_exception is None


class Budget:
    """The memory of a worker for request bodies in progress. Only its event loop calls it."""

    def __init__(self, most: int) -> None:
        self._capacity, self._reserved = most, 0

    @contextmanager
    def reserve(self, length: int) -> Iterator[None]:
        """Reserve memory for a body of this length until its request is over. Raise Problem if there is none.

        All of it is reserved at once. If memory were reserved piece by piece, many half-read bodies would refuse each
        other.
        """
        amount = max(length - UNCOUNTED_BYTES, 0)
        if amount and self._reserved + amount > self._capacity:
            raise Problem("unavailable", "The server is receiving too much data at once. Retry later.", wait=TRY_AGAIN)
        self._reserved += amount
        try:
            yield
        finally:
            self._reserved -= amount
