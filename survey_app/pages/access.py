"""Who asks, which survey they mean, and what of it they may see or do; for every page and for the API.

Roles are decided here alone. Each may do what those before it may: anybody, whoever opened a link to the results, then
reader, editor and owner, who are accounts. docs/console.md has the table, tests/pages/test_roles.py tries every cell.
"""

import hmac
import re
from collections.abc import Iterator

from flask import Flask, Response, current_app, request
from flask_login import current_user

from client.canonical import NAME
from survey_app.accounts import secret_hash
from survey_app.estimate.tables import PairError
from survey_app.explain import written
from survey_app.problems import Problem
from survey_app.store import Published, Role, State, Store, TicketFile, User, any_version, opened_version

MOST_SCANNED, MOST_SCANNED_FOR_ANYONE = 1_000_000, 100_000
BEARER = re.compile(r"(?i:bearer) ([A-Za-z0-9_-]{20,200})")
SECRET = re.compile(r"[A-Za-z0-9_-]{43}")  # of a link to results
WITHDRAWN = "The link that opened these results for you was withdrawn. Ask whoever gave it to you."
CONSOLE = "/console"  # everything below it is for accounts
RESULTS = "/results/"  # where such links count, and their cookies go


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


def account_of(kept: Store, header: str | None) -> User | None:
    """The account whose token a header carries, if there is one; a token that is not known is a Problem."""
    if header is None:
        return None
    match = BEARER.fullmatch(header)
    user = match and kept.user_of_token(secret_hash(match[1]))
    if not user:
        raise Problem("unauthorized", "The token is not known, or its account is disabled.")
    return user


def bearer() -> User | None:
    """The account whose token the request carries; a token that is not known is a Problem."""
    return account_of(store(), request.headers.get("Authorization"))


def holder() -> User:
    """The same where nothing else counts: another site could ride on a session, so it authorizes no script."""
    user = bearer()
    if user is None:
        raise Problem("unauthorized", "This needs a token, in the header Authorization: Bearer …")
    return user


def reader() -> User | None:
    """Who reads, by token or session."""
    return bearer() or (current_user.user if current_user.is_authenticated else None)


def role_of(user: User | None, published: Published) -> Role | None:
    """What an account is to a survey; None for a stranger, and for whoever has no account."""
    return store().role_of(user, published) if user else None


def may(user: User | None, published: Published, least: Role) -> bool:
    """Whether an account has at least this role."""
    role = role_of(user, published)
    return role is not None and role >= least


def require(user: User | None, published: Published, least: Role) -> Published:
    """A survey to which an account has at least this role, or a Problem."""
    role = role_of(user, published)
    if user is None:
        raise Problem("unauthorized")
    if role is None:
        raise Problem("forbidden", "This survey belongs to another account, and is not shared with yours.")
    if role < least:
        raise Problem("forbidden", f"This survey is shared with you as {role.said}; this is for its {least.said}.")
    return published


def managed(slug: str, least: Role, user: User, digest: str | None = None) -> Published:
    """A survey to be managed: the version with this digest, or the one that collects; else a Problem.

    Of a study it is the first group: what is done to one is done to all. One that nobody could open yet is not there
    for strangers.
    """
    groups = store().study(slug)
    wanted = groups[0].survey.slug if groups else slug
    published = any_version(store(), wanted, digest) if NAME.fullmatch(slug) else None
    if published is None or (role_of(user, published) is None and opened_version(store(), wanted) is None):
        raise Problem("not_found", "There is no such survey.")
    return require(user, published, least)


def link_cookie(name: str) -> str:
    """The cookie that holds the secret of a link to the results of a survey or study."""
    return f"candor_link_{name}"


def is_linked(published: Published) -> bool:
    """Whether this request carries a link to the results of a survey that counts, on a page of results.

    A link that does not count any more is a Problem, so that nobody is asked for a password they never had.
    """
    secret = request.cookies.get(link_cookie(published.name))
    if secret is None or not request.path.startswith(RESULTS):
        return False
    opened = store().link_opens(secret_hash(secret)) if SECRET.fullmatch(secret) else None
    if opened is None or not hmac.compare_digest(opened, published.name):
        raise Problem("not_found", WITHDRAWN)
    return True


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
    if published.terms.public:
        return published
    user = reader()
    if may(user, published, Role.READER) or is_linked(published):
        return published
    if user is None:
        raise Problem("unauthorized", "These results are private.")
    raise Problem("forbidden")


def check_scan(
    published: Published, reports: int, command: str = "crosstab", refuse: type[Exception] = PairError
) -> None:
    """Reading very many reports takes seconds: only for accounts with a role, and beyond that only by the command."""
    if reports > (MOST_SCANNED if may(reader(), published, Role.READER) else MOST_SCANNED_FOR_ANYONE):
        raise refuse(
            f"{written.count(reports)} reports are too many to read for a page; the command candor {command} does it"
        )


def download(body: str | bytes | Iterator[bytes], name: str, kind: str) -> Response:
    """A file to keep, under a sensible name."""
    return Response(body, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
