"""Signing in and out, and one's own account. Sessions end when the password changes or the account is disabled."""

import hmac
import secrets
import time
from urllib.parse import urlsplit

from flask import Blueprint, Flask, current_app, flash, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_limiter import Limiter, RateLimitExceeded
from flask_login import LoginManager, current_user, login_required, login_user, logout_user
from flask_wtf import CSRFProtect, FlaskForm
from wtforms import PasswordField, StringField
from wtforms.validators import InputRequired, Length

from survey_app.accounts import LEAST_PASSWORD, MOST_PASSWORD, check_password, hash_password
from survey_app.pages.access import store
from survey_app.problems import Problem
from survey_app.store import StoreError, User, listed

blueprint = Blueprint("auth", __name__)
_salt = secrets.token_bytes(16)


def _address() -> str:
    """An address as a hash that means nothing in another process."""
    return hmac.digest(_salt, (request.remote_addr or "").encode(), "sha256")[:16].hex()


def _limit() -> str:
    return str(current_app.config["LOGIN_LIMIT"])


def _unlimited() -> bool:
    return _limit() == "off"


limiter = Limiter(_address, storage_uri="memory://", default_limits=[])
csrf = CSRFProtect()


class Session:
    """What flask-login needs to know of a signed-in account."""

    is_authenticated = is_active = True
    is_anonymous = False

    def __init__(self, user: User) -> None:
        self.user = user

    def get_id(self) -> str:
        return f"{self.user.key}:{self.user.stamp}"


class SignIn(FlaskForm):  # type: ignore[misc]
    """Name and password."""

    name = StringField("Name", [InputRequired(), Length(max=80)])
    password = PasswordField("Password", [InputRequired(), Length(max=MOST_PASSWORD)])


class ChangePassword(FlaskForm):  # type: ignore[misc]
    """The old password and the new one, twice."""

    old = PasswordField("Current password", [InputRequired(), Length(max=MOST_PASSWORD)])
    new = PasswordField("New password", [InputRequired(), Length(min=LEAST_PASSWORD, max=MOST_PASSWORD)])
    again = PasswordField("New password again", [InputRequired()])


def init(app: Flask) -> None:
    """Attach sessions, CSRF protection and the limit on attempts."""
    manager = LoginManager(app)
    manager.login_view = "auth.sign_in"
    manager.login_message = "Sign in to go on."
    manager.login_message_category = "status"
    manager.session_protection = None
    manager._session_identifier_generator = lambda: None  # it would keep a hash of the address and agent
    csrf.init_app(app)
    limiter.init_app(app)

    @manager.user_loader  # type: ignore[untyped-decorator]
    def load(identity: str) -> Session | None:
        key, _, stamp = identity.partition(":")
        user = store().user(int(key)) if key.isascii() and key.isdigit() else None
        if user is None or user.disabled or not hmac.compare_digest(user.stamp, stamp):
            return None
        return Session(user)


@blueprint.route("/login", methods=["GET", "POST"])
@limiter.limit(_limit, methods=["POST"], exempt_when=_unlimited)
def sign_in() -> ResponseReturnValue:
    """Sign in, then go where one wanted to go, if that is on this server."""
    form = SignIn(request.form)
    if form.validate_on_submit():
        user = store().user_named(form.name.data)
        if check_password(user, form.password.data) and user is not None:
            session.clear()
            login_user(Session(user))
            return redirect(local_path(request.args.get("next")) or url_for("auth.account"))
        flash("Name or password is wrong.", "error")
    return render_template("auth/login.html", form=form), 401 if request.method == "POST" else 200


@blueprint.post("/logout")
@login_required  # type: ignore[untyped-decorator]
def sign_out() -> ResponseReturnValue:
    """Sign out, everywhere: a copied cookie must not outlive it."""
    store().end_sessions(current_user.user)
    logout_user()
    session.clear()
    return redirect(url_for("auth.sign_in"))


@blueprint.get("/account")
@login_required  # type: ignore[untyped-decorator]
def account() -> ResponseReturnValue:
    """One's own surveys and API tokens, and the form to change the password."""
    kept = store()
    user = current_user.user
    surveys = [
        (groups[0], len(groups), sum(kept.snapshot(group).reports for group in groups))
        for groups in listed(kept, user.key)
    ]
    tokens = kept.tokens(user)
    return render_template("auth/account.html", form=ChangePassword(), surveys=surveys, tokens=tokens, name=user.name)


@blueprint.post("/account/password")
@limiter.limit(_limit, exempt_when=_unlimited)
@login_required  # type: ignore[untyped-decorator]
def change_password() -> ResponseReturnValue:
    """Change the password; every other session ends, and API tokens are revoked unless their owner keeps them.

    Whoever changes a password has often lost it to somebody, who may have made a token with it: so that is what
    happens unless one says otherwise.
    """
    form = ChangePassword(request.form)
    user, keep = current_user.user, "keep_tokens" in request.form
    if not form.validate_on_submit():
        flash(f"A new password has {LEAST_PASSWORD} to {MOST_PASSWORD} characters.", "error")
    elif form.new.data != form.again.data:
        flash("The two new passwords differ.", "error")
    elif not check_password(user, form.old.data):
        flash("The current password is wrong.", "error")
    else:
        try:
            hashed = hash_password(form.new.data, user.name)
        except StoreError as error:
            reason = str(error)
            flash(f"{reason[0].upper()}{reason[1:]}.", "error")
            return redirect(url_for("auth.account"))
        revoked = 0 if keep else len(store().tokens(user))
        store().set_password(user, hashed, keep_tokens=keep)
        fresh = store().user(user.key)
        if fresh is None:
            raise Problem("forbidden")
        session.clear()
        login_user(Session(fresh))
        told = f" API tokens revoked: {revoked}." if revoked else ""
        flash(f"The password was changed. All other sessions have ended.{told}", "status")
    return redirect(url_for("auth.account"))


@blueprint.errorhandler(RateLimitExceeded)
def limited(error: RateLimitExceeded) -> ResponseReturnValue:
    """When to try again, and the way back to where one was."""
    changing = request.endpoint == "auth.change_password"
    current = limiter.current_limit
    wait = max(1, current.reset_at - int(time.time())) if current else 60
    target = local_path(request.args.get("next"))
    back = url_for("auth.account") if changing else url_for("auth.sign_in", next=target)
    page = render_template("auth/limited.html", wait=wait, back=back, changing=changing)
    return page, 429, {"Retry-After": str(wait)}


def local_path(target: str | None) -> str | None:
    """A path on this server, or None: no redirect leads anywhere else."""
    if not target or not target.startswith("/") or target.startswith(("//", "/\\")) or not target.isprintable():
        return None
    parts = urlsplit(target)
    return target if not parts.scheme and not parts.netloc and "\\" not in target else None
