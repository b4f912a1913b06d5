"""Sign-in, sign-out, and the account page. Sessions end when the password changes or the account is disabled."""

from urllib.parse import urlsplit

from flask import Blueprint, Flask, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf import CSRFProtect

from survey_app.accounts import LEAST_PASSWORD, LONGEST_NAME, MOST_PASSWORD, check_password, hash_password
from survey_app.collect.rate_limit import Limiter, TooMany
from survey_app.problems import Problem
from survey_app.store import StoreError, list_surveys
from survey_app.web import sessions
from survey_app.web.access import CONSOLE, store
from survey_app.web.extension import current_candor
from survey_app.web.sessions import end_session, redirect_to_sign_in, require_session_account, start_session

blueprint = Blueprint("auth", __name__)
csrf = CSRFProtect()


def init(app: Flask) -> None:
    """Attach sessions and CSRF protection to an app."""
    app.before_request(_guard_posts)  # before CSRF: a stranger's body is not read
    csrf.init_app(app)
    app.jinja_env.globals["account"] = sessions.account


def _guard_posts() -> ResponseReturnValue | None:
    """Refuse any POST to the console from a visitor who is not signed in."""
    if request.method != "POST" or not request.endpoint or not request.path.startswith(CONSOLE):
        return None
    return redirect_to_sign_in()


@blueprint.before_request
def _guard_account() -> ResponseReturnValue | None:
    """Require sign-in for every page of this module except the sign-in page."""
    return None if request.endpoint == "auth.sign_in" else redirect_to_sign_in()


@blueprint.route("/login", methods=["GET", "POST"])
def sign_in() -> ResponseReturnValue:
    """Sign in, then redirect to the page that the visitor requested, if it is on this server."""
    if request.method == "GET":
        return _render_sign_in("")
    _count_attempt(current_candor().limiters.sign_ins)
    name, password = (request.form.get(field, "") for field in ("name", "password"))
    if 0 < len(name) <= LONGEST_NAME and 0 < len(password) <= MOST_PASSWORD:
        user = store().user_by_name(name)
        if check_password(user, password) and user is not None:
            start_session(user)
            return redirect(local_path(request.args.get("next")) or url_for("auth.account"))
    flash("Name or password is wrong.", "error")
    return _render_sign_in(name), 401


def _render_sign_in(name: str) -> str:
    return render_template("auth/login.html", name=name, longest_name=LONGEST_NAME, most=MOST_PASSWORD)


@blueprint.post("/logout")
def sign_out() -> ResponseReturnValue:
    """Sign out everywhere, so that a copied cookie does not outlive the session."""
    store().end_sessions(require_session_account())
    end_session()
    return redirect(url_for("auth.sign_in"))


@blueprint.get("/account")
def account() -> ResponseReturnValue:
    """Show the account's surveys and API tokens, and the form to change the password."""
    database = store()
    user = require_session_account()
    surveys = [
        (groups[0], len(groups), sum(database.snapshot(group).reports for group in groups))
        for groups in list_surveys(database, user.key)
    ]
    context = {"surveys": surveys, "tokens": database.tokens(user), "name": user.name}
    return render_template("auth/account.html", **context, least=LEAST_PASSWORD, most=MOST_PASSWORD)


@blueprint.post("/account/password")
def change_password() -> ResponseReturnValue:
    """Change the password. Every other session ends, and API tokens are revoked unless their owner keeps them.

    Revoking is the default: many people change a password because somebody else has it, who may have made a token with
    it.
    """
    _count_attempt(current_candor().limiters.passwords)
    user, keep = require_session_account(), "keep_tokens" in request.form
    old, new, again = (request.form.get(field, "") for field in ("old", "new", "again"))
    if not 0 < len(old) <= MOST_PASSWORD or not LEAST_PASSWORD <= len(new) <= MOST_PASSWORD:
        flash(f"A new password must have {LEAST_PASSWORD} to {MOST_PASSWORD} characters.", "error")
    elif new != again:
        flash("The two new passwords differ. Type the same password twice.", "error")
    elif not check_password(user, old):
        flash("The current password is wrong.", "error")
    else:
        try:
            hashed = hash_password(new, user.name)
        except StoreError as error:
            reason = str(error)
            flash(f"{reason[0].upper()}{reason[1:]}.", "error")
            return redirect(url_for("auth.account"))
        revoked = 0 if keep else len(store().tokens(user))
        store().set_password(user, hashed, keep_tokens=keep)
        current = store().user(user.key)
        if current is None:
            raise Problem("forbidden")
        start_session(current)
        note = f" API tokens revoked: {revoked}." if revoked else ""
        flash(f"The password was changed. All other sessions have ended.{note}", "status")
    return redirect(url_for("auth.account"))


def _count_attempt(limiter: Limiter) -> None:
    """Count one more password attempt from this address. Raise TooMany if there were too many."""
    limiter.check(request.remote_addr or "")


@blueprint.errorhandler(TooMany)
def show_limit(problem: TooMany) -> ResponseReturnValue:
    """Show when to try again, with a link back to the page the visitor came from."""
    changing, wait = request.endpoint == "auth.change_password", problem.wait
    target = local_path(request.args.get("next"))
    back = url_for("auth.account") if changing else url_for("auth.sign_in", next=target)
    page = render_template("auth/too_many_attempts.html", wait=wait, back=back, changing=changing)
    return page, 429, problem.headers


def local_path(target: str | None) -> str | None:
    """Return the target if it is a path on this server, else None, so that no redirect leads anywhere else."""
    if not target or not target.startswith("/") or target.startswith(("//", "/\\")) or not target.isprintable():
        return None
    parts = urlsplit(target)
    return target if not parts.scheme and not parts.netloc and "\\" not in target else None
