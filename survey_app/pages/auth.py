"""Signing in and out, and one's own account. Sessions end when the password changes or the account is disabled."""

import hmac
import secrets
from urllib.parse import urlsplit

from flask import Blueprint, Flask, current_app, flash, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_limiter import Limiter
from flask_login import LoginManager, current_user, login_required, login_user, logout_user
from flask_wtf import CSRFProtect, FlaskForm
from wtforms import PasswordField, StringField
from wtforms.validators import InputRequired, Length

from survey_app.accounts import LEAST_PASSWORD, MOST_PASSWORD, check_password, hash_password
from survey_app.pages.access import store
from survey_app.problems import Problem
from survey_app.store import User, listed

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
    """One's own surveys, and the form to change the password."""
    kept = store()
    surveys = [
        (groups[0], sum(kept.snapshot(group).reports for group in groups))
        for groups in listed(kept, current_user.user.key)
    ]
    return render_template("auth/account.html", form=ChangePassword(), surveys=surveys, name=current_user.user.name)


@blueprint.post("/account/password")
@limiter.limit(_limit, exempt_when=_unlimited)
@login_required  # type: ignore[untyped-decorator]
def change_password() -> ResponseReturnValue:
    """Change the password; every other session ends."""
    form = ChangePassword(request.form)
    user = current_user.user
    if not form.validate_on_submit():
        flash(f"A new password has {LEAST_PASSWORD} to {MOST_PASSWORD} characters.", "error")
    elif form.new.data != form.again.data:
        flash("The two new passwords differ.", "error")
    elif not check_password(user, form.old.data):
        flash("The current password is wrong.", "error")
    else:
        store().set_password(user, hash_password(form.new.data))
        fresh = store().user(user.key)
        if fresh is None:
            raise Problem("forbidden")
        session.clear()
        login_user(Session(fresh))
        flash("The password was changed. All other sessions have ended.", "status")
    return redirect(url_for("auth.account"))


def local_path(target: str | None) -> str | None:
    """A path on this server, or None: no redirect leads anywhere else."""
    if not target or not target.startswith("/") or target.startswith(("//", "/\\")) or not target.isprintable():
        return None
    parts = urlsplit(target)
    return target if not parts.scheme and not parts.netloc and "\\" not in target else None
