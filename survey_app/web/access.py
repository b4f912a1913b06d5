"""Access control for all pages and the API: who sends the request, which survey it names, and what it may see or do.

Roles are decided in this module alone. Each role may do everything that the roles before it may. The order is: anybody,
the holder of a link to the results, and then the accounts: reader, editor, owner. docs/console.md has the table of
roles, and tests/web/test_roles.py tests every cell of it.
"""

import hmac
import re
from collections.abc import Iterator

from flask import Flask, Response, request

from candor_client.canonical import NAME
from survey_app.accounts import hash_secret
from survey_app.estimate.contingency import PairError
from survey_app.estimate.refusal_codes import Refusal, RefusalCode
from survey_app.languages import numbers
from survey_app.problems import Problem
from survey_app.store import PublishedSurvey, Role, State, Store, TicketFile, User, any_version, opened_version
from survey_app.web.extension import current_candor, get_candor
from survey_app.web.sessions import require_session_account, session_account

MOST_SCANNED, MOST_SCANNED_FOR_ANYONE = 1_000_000, 100_000
BEARER = re.compile(r"(?i:bearer) ([A-Za-z0-9_-]{20,200})")
SECRET = re.compile(r"[A-Za-z0-9_-]{43}")  # the secret of a link to results
CONSOLE = "/console"  # all paths below it require an account
RESULTS = "/results/"  # links to results are valid below this path only, and so are their cookies


def get_store(app: Flask) -> Store:
    """Return the store of an app."""
    return get_candor(app).store


def store() -> Store:
    """Return the store of the current app."""
    return current_candor().store


def tickets() -> TicketFile:
    """Return the tickets file of the current app."""
    return current_candor().tickets


def find_visible(slug: str) -> PublishedSurvey:
    """Return the newest opened version of a survey. Raise Problem if there is none."""
    published = opened_version(store(), slug)
    if published is None:
        raise Problem("not_found", "There is no such survey.")
    return published


def find_groups(slug: str) -> list[PublishedSurvey]:
    """Return the opened groups of a study in their order; an empty list if the slug names no study."""
    return [group for group in store().study(slug) if group.state is not State.READY]


def find_account(accounts: Store, header: str | None) -> User | None:
    """Return the account whose token a header carries, or None without a header. Raise Problem for an unknown token."""
    if header is None:
        return None
    match = BEARER.fullmatch(header)
    user = match and accounts.user_of_token(hash_secret(match[1]))
    if not user:
        raise Problem(
            "unauthorized", "The token is unknown, or its account is disabled. Your account page lists your tokens."
        )
    return user


def token_account() -> User | None:
    """Return the account whose token the request carries, or None. Raise Problem if the token is unknown."""
    return find_account(store(), request.headers.get("Authorization"))


def require_token_account() -> User:
    """Return the account whose token the request carries. Raise Problem if the request carries no token.

    A session does not authorize a script, because another site could ride on it.
    """
    user = token_account()
    if user is None:
        raise Problem("unauthorized", "This request needs a token. Send it in the header Authorization: Bearer …")
    return user


def reader() -> User | None:
    """Return the account of the reader, by token or session; None without an account."""
    return token_account() or session_account()


def role_of(user: User | None, published: PublishedSurvey) -> Role | None:
    """Return the role of an account in a survey; None for a stranger or without an account."""
    return store().role_of(user, published) if user else None


def has_role(user: User | None, published: PublishedSurvey, least: Role) -> bool:
    """Return whether an account has at least the role `least` in a survey."""
    role = role_of(user, published)
    return role is not None and role >= least


def require(user: User | None, published: PublishedSurvey, least: Role) -> PublishedSurvey:
    """Return the survey if the account has at least the role `least`. Raise Problem otherwise."""
    role = role_of(user, published)
    if user is None:
        raise Problem("unauthorized")
    if role is None:
        raise Problem(
            "forbidden",
            "This survey belongs to another account and is not shared with yours. Ask its owner to share it.",
        )
    if role < least:
        raise Problem("forbidden", f"Your role in this survey is {role.label}. This needs the role {least.label}.")
    return published


def find_managed(slug: str, least: Role, user: User, digest: str | None = None) -> PublishedSurvey:
    """Return the survey to manage: the version with this digest, or the version that collects. Raise Problem otherwise.

    For a study this is its first group: an action on one group is an action on all of them. To strangers, a survey that
    was never opened does not exist.
    """
    groups = store().study(slug)
    version_slug = groups[0].survey.slug if groups else slug
    published = any_version(store(), version_slug, digest) if NAME.fullmatch(slug) else None
    if published is None or (role_of(user, published) is None and opened_version(store(), version_slug) is None):
        raise Problem("not_found", "There is no such survey.")
    return require(user, published, least)


class WithdrawnLink(Problem):
    """The link that a visitor used to open results was withdrawn since."""

    def __init__(self) -> None:
        super().__init__(
            "not_found", "The link that you used to open these results was withdrawn. Ask its sender for a new one."
        )


def link_cookie(name: str) -> str:
    """Return the name of the cookie that holds the secret of a link to the results of a survey or study."""
    return f"candor_link_{name}"


def is_linked(published: PublishedSurvey) -> bool:
    """Return whether this request is for a page of results and carries a valid link to the results of a survey.

    Raise Problem if the link is no longer valid, so that nobody is asked for a password they never had.
    """
    secret = request.cookies.get(link_cookie(published.name))
    if secret is None or not request.path.startswith(RESULTS):
        return False
    target = store().link_target(hash_secret(secret)) if SECRET.fullmatch(secret) else None
    if target is None or not hmac.compare_digest(target, published.name):
        raise WithdrawnLink
    return True


def owner_key() -> int:
    """Return the key of the signed-in account, whose console this is."""
    return require_session_account().key


def requested_version(slug: str) -> PublishedSurvey:
    """Return the version that ?digest= names, or the newest. Raise Problem if there is none."""
    digest = request.args.get("digest")
    if not digest:
        return find_visible(slug)
    published = opened_version(store(), slug, digest)
    if published is None:
        raise Problem("not_found", "The survey has no version with this digest.")
    return published


def require_readable(published: PublishedSurvey) -> PublishedSurvey:
    """Return the survey if this request may see its results. Raise Problem otherwise."""
    if published.terms.public:
        return published
    user = reader()
    if has_role(user, published, Role.READER) or is_linked(published):
        return published
    if user is None:
        raise Problem("unauthorized", "These results are private. Send the token of an account that may read them.")
    raise Problem("forbidden")


def check_scan(
    published: PublishedSurvey, reports: int, command: str = "crosstab", error_class: type[Refusal] = PairError
) -> None:
    """Raise `error_class` if there are too many reports to read for a page, because reading very many takes seconds.

    Accounts with a role may read more reports than anybody else. Beyond that, only the command reads them.
    """
    if reports > (MOST_SCANNED if has_role(reader(), published, Role.READER) else MOST_SCANNED_FOR_ANYONE):
        raise error_class(
            RefusalCode.TOO_MANY_REPORTS,
            f"{numbers.format_count(reports)} reports are too many to read for a page; use the command "
            f"candor {command}",
        )


def download(body: str | bytes | Iterator[bytes], name: str, kind: str) -> Response:
    """Return a response that the browser saves as a file called `name`."""
    return Response(body, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
