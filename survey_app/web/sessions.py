"""Sessions: which account a browser is signed in to.

Flask signs the session cookie with the server's secret key. The cookie names the account and the account's stamp at
sign-in. The stamp changes with the password, at sign-out, and when the account is disabled or enabled. A cookie with an
earlier stamp is refused.
"""

import hmac
import re

from flask import flash, g, redirect, request, session, url_for
from flask.typing import ResponseReturnValue
from werkzeug.local import LocalProxy

from survey_app.problems import Problem
from survey_app.store import User
from survey_app.web.extension import current_candor

IDENTITY = "account"  # the entry of the session
IDENTITY_FORMAT = re.compile(r"([0-9]{1,18}):([!-~]+)")  # the key of the account, and its stamp


def start_session(user: User) -> None:
    """Sign the browser in to an account. Everything that the session held before is removed."""
    session.clear()
    session[IDENTITY] = f"{user.key}:{user.stamp}"
    g.session_account = user


def end_session() -> None:
    """Sign the browser out."""
    session.clear()
    g.session_account = None


def session_account() -> User | None:
    """Return the account of the session, or None. The store is read once in each request."""
    if "session_account" not in g:
        g.session_account = _load_account(session.get(IDENTITY))
    account: User | None = g.session_account
    return account


def _load_account(identity: object) -> User | None:
    """Return the enabled account of an identity with the account's present stamp; None for anything else."""
    match = IDENTITY_FORMAT.fullmatch(identity) if isinstance(identity, str) else None
    if match is None:
        return None
    user = current_candor().store.user(int(match[1]))
    if user is None or user.disabled or not hmac.compare_digest(user.stamp, match[2]):
        return None
    return user


def require_session_account() -> User:
    """Return the account of the session. Raise Problem if there is none."""
    user = session_account()
    if user is None:
        raise Problem("unauthorized")
    return user


def redirect_to_sign_in() -> ResponseReturnValue | None:
    """Redirect a visitor who is not signed in to the sign-in page; return None for an account.

    After sign-in, the browser goes on to the page of this request.
    """
    if session_account() is not None:
        return None
    flash("Sign in to continue.", "status")
    return redirect(url_for("auth.sign_in", next=requested_path()))


def requested_path() -> str:
    """Return the path and query of this request, to which the browser goes on after sign-in."""
    return request.script_root + (request.full_path if request.query_string else request.path)


account = LocalProxy(session_account)  # for templates: it reads the session of those pages only that use it
