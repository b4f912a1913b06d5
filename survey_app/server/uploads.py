"""How large an upload may be, by where it goes; who has to be known before it is read; and how much all may hold.

A number stands with what it limits; here they come together. Whoever sends more than a report has an account: a token
that may do what is asked, or a session. That is decided from the headers, so that nobody else makes the server buffer
megabytes; what is wrong with the request the app tells, which gets it without a body.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask, request
from flask_login import current_user

from client.definition import LARGEST_REPORT
from survey_app.authoring.source import LARGEST_FILE, LARGEST_FORM
from survey_app.collect.batch import BATCHES, LARGEST_BATCH
from survey_app.pages.access import CONSOLE, holder, managed, require, visible
from survey_app.problems import Problem
from survey_app.store import Role
from survey_app.tickets.issue import LARGEST_REQUEST, TICKETS

SURVEYS = "/api/surveys"
LARGEST_OF_ALL = max(LARGEST_REPORT, LARGEST_FORM, LARGEST_BATCH)
MOST_HELD = 64_000_000  # bytes of bodies that one worker holds, of all accounts together
MOST_HELD_OF_ANYBODY = 32_000_000  # and of everybody else, apart: neither can use up what the other needs
UNCOUNTED = 8_192  # bytes of each body: a usual report gets in, however much others withhold
TRY_AGAIN = 5  # seconds: what is withheld is given back in READ_SECONDS at the latest


def largest_upload(method: str, path: str) -> int:
    """How many bytes a request may carry; whoever sends more is told before they are read."""
    if TICKETS.fullmatch(path):
        return LARGEST_REQUEST
    if method != "POST":
        return LARGEST_REPORT
    if path.startswith(CONSOLE):
        return LARGEST_FORM
    if path == SURVEYS:
        return LARGEST_FILE
    return LARGEST_BATCH if BATCHES.fullmatch(path) else LARGEST_REPORT


def of_an_account(method: str, path: str) -> bool:
    """Whether whoever sends this has to be known before anything of it is read."""
    return method == "PATCH" or largest_upload(method, path) > LARGEST_REPORT


def admits(app: Flask, environ: dict[str, object]) -> bool:
    """Whether the headers of such a request are of somebody who may send it."""
    with app.request_context(environ):
        try:
            if request.path.startswith(CONSOLE):
                return bool(current_user.is_authenticated)
            user, slug = holder(), (request.view_args or {}).get("slug")
            if slug is not None and request.method == "PATCH":
                managed(slug, Role.EDITOR, user, request.args.get("digest"))
            elif slug is not None:
                require(user, visible(slug), Role.OWNER)
        except Exception:  # whatever it is, the app meets it too, and tells
            return False
        return request.routing_exception is None


class Budget:
    """The bytes that a worker holds of bodies that are under way; only its event loop asks."""

    def __init__(self, most: int) -> None:
        self._most, self._held = most, 0

    @contextmanager
    def room(self, length: int) -> Iterator[None]:
        """Room for a body of this length until its request is over; a Problem, before it is read, if there is none.

        All of it is taken at once: were it taken as it comes, many that are half read would refuse each other.
        """
        counted = max(length - UNCOUNTED, 0)
        if counted and self._held + counted > self._most:
            raise Problem("unavailable", "Too much is being sent here at once; send the same again.", wait=TRY_AGAIN)
        self._held += counted
        try:
            yield
        finally:
            self._held -= counted
