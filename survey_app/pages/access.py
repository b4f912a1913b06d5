"""Who asks, which survey they mean, and what of it they may see; for every page and for the API."""

import hmac
import re
from collections.abc import Iterator

from flask import Flask, Response, current_app, request
from flask_login import current_user

from survey_app.accounts import secret_hash
from survey_app.estimate.tables import PairError
from survey_app.explain import written
from survey_app.problems import Problem
from survey_app.store import Published, State, Store, TicketFile, User, opened_version

MOST_SCANNED, MOST_SCANNED_FOR_ANYONE = 1_000_000, 100_000
BEARER = re.compile(r"(?i:bearer) ([A-Za-z0-9_-]{20,200})")


def get_store(app: Flask) -> Store:
    """The store of an app."""
    kept: Store = app.extensions["candor_store"]
    return kept


def store() -> Store:
    """The store of the current app."""
    return get_store(current_app)


def tickets() -> TicketFile:
    """The tickets file of the current app."""
    kept: TicketFile = current_app.extensions["candor_tickets"]
    return kept


def visible(slug: str) -> Published:
    """The newest version of a survey that was opened, or a Problem."""
    published = opened_version(store(), slug)
    if published is None:
        raise Problem("not_found", "There is no such survey.")
    return published


def study(slug: str) -> list[Published]:
    """The groups of a study that was opened, in their order; none if the slug is a survey's, or nobody's."""
    return [group for group in store().study(slug) if group.state is not State.READY]


def bearer() -> User | None:
    """The account whose token the request carries; a token that is not known is a Problem."""
    header = request.headers.get("Authorization")
    if header is None:
        return None
    match = BEARER.fullmatch(header)
    user = match and store().user_of_token(secret_hash(match[1]))
    if not user:
        raise Problem("unauthorized", "The token is not known, or its account is disabled.")
    return user


def may_manage(user: User | None, published: Published) -> bool:
    """Whether an account owns a survey."""
    return user is not None and hmac.compare_digest(str(user.key), str(published.owner))


def reader() -> User | None:
    """Who reads, by token or session."""
    return bearer() or (current_user.user if current_user.is_authenticated else None)


def owner() -> int:
    """Whose console this is."""
    key: int = current_user.user.key
    return key


def version(slug: str) -> Published:
    """The version that ?digest= names, or the newest."""
    digest = request.args.get("digest")
    if not digest:
        return visible(slug)
    published = opened_version(store(), slug, digest)
    if published is None:
        raise Problem("not_found", "There is no such version of the survey.")
    return published


def readable(published: Published) -> Published:
    """A survey whose results this request may see, or a Problem."""
    if not published.terms.public:
        user = reader()
        if user is None:
            raise Problem("unauthorized", "These results are private.")
        if not may_manage(user, published):
            raise Problem("forbidden")
    return published


def check_scan(published: Published, reports: int) -> None:
    """Reading very many reports takes seconds: only for the owner, and beyond that only by the command."""
    if reports > (MOST_SCANNED if may_manage(reader(), published) else MOST_SCANNED_FOR_ANYONE):
        raise PairError(
            f"{written.count(reports)} reports are too many to read for a page; the command candor crosstab does it"
        )


def download(body: str | bytes | Iterator[bytes], name: str, kind: str) -> Response:
    """A file to keep, under a sensible name."""
    return Response(body, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
