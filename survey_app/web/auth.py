"""Sign-in, sign-out, and the account page. Sessions end when the password changes or the account is disabled."""

import hmac
from urllib.parse import urlsplit

from flask import Blueprint, Flask, current_app, flash, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_login import LoginManager, current_user, login_required, login_user, logout_user
from flask_wtf import CSRFProtect, FlaskForm
from wtforms import PasswordField, StringField
from wtforms.validators import InputRequired, Length

from survey_app.accounts import LEAST_PASSWORD, MOST_PASSWORD, check_password, hash_password
from survey_app.collect.rate_limit import Counts, Limiter, TooMany
from survey_app.problems import Problem
from survey_app.store import StoreError, User, list_surveys
from survey_app.web.access import CONSOLE, store
from survey_app.web.console.guard import require_sign_in

blueprint = Blueprint("auth", __name__)
csrf = CSRFProtect()


class Session:
    """A signed-in account, as flask-login needs it."""

    is_authenticated = is_active = True
    is_anonymous = False

    def __init__(self, user: User) -> None:
        self.user = user

    def get_id(self) -> str:
        return f"{self.user.key}:{self.user.stamp}"


class SignIn(FlaskForm):  # type: ignore[misc]
    """The form for name and password."""

    name = StringField("Name", [InputRequired(), Length(max=80)])
    password = PasswordField("Password", [InputRequired(), Length(max=MOST_PASSWORD)])


class ChangePassword(FlaskForm):  # type: ignore[misc]
    """The form for the old password and the new password, which is typed twice."""

    old = PasswordField("Current password", [InputRequired(), Length(max=MOST_PASSWORD)])
    new = PasswordField("New password", [InputRequired(), Length(min=LEAST_PASSWORD, max=MOST_PASSWORD)])
    again = PasswordField("New password again", [InputRequired()])


def init(app: Flask, counts: Counts) -> None:
    """Attach sessions, CSRF protection and the limits on attempts to an app."""
    manager = LoginManager(app)
    manager.login_view = "auth.sign_in"
    manager.login_message = "Sign in to go on."
    manager.login_message_category = "status"
    manager.session_protection = None
    manager._session_identifier_generator = lambda: None  # the default would store a hash of the address and user agent
    app.before_request(_guard_posts)  # before CSRF: a stranger's body is not read
    csrf.init_app(app)
    for place in ("signing-in", "passwords"):
        app.extensions[f"candor_{place}"] = Limiter(app.config["LOGIN_LIMIT"], place, counts)

    @manager.user_loader  # type: ignore[untyped-decorator]
    def load(identity: str) -> Session | None:
        key, _, stamp = identity.partition(":")
        user = store().user(int(key)) if key.isascii() and key.isdigit() else None
        if user is None or user.disabled or not hmac.compare_digest(user.stamp, stamp):
            return None
        return Session(user)


def _guard_posts() -> ResponseReturnValue | None:
    """Refuse any POST to the console from a visitor who is not signed in."""
    if request.method != "POST" or not request.endpoint or not request.path.startswith(CONSOLE):
        return None
    return require_sign_in()


@blueprint.route("/login", methods=["GET", "POST"])
def sign_in() -> ResponseReturnValue:
    """Sign in, then redirect to the page that the visitor requested, if it is on this server."""
    if request.method == "POST":
        _count_attempt("signing-in")
    form = SignIn(request.form)
    if form.validate_on_submit():
        user = store().user_by_name(form.name.data)
        if check_password(user, form.password.data) and user is not None:
            session.clear()
            login_user(Session(user))
            return redirect(local_path(request.args.get("next")) or url_for("auth.account"))
        flash("Name or password is wrong.", "error")
    return render_template("auth/login.html", form=form), 401 if request.method == "POST" else 200


@blueprint.post("/logout")
@login_required  # type: ignore[untyped-decorator]
def sign_out() -> ResponseReturnValue:
    """Sign out everywhere, so that a copied cookie does not outlive the session."""
    store().end_sessions(current_user.user)
    logout_user()
    session.clear()
    return redirect(url_for("auth.sign_in"))


@blueprint.get("/account")
@login_required  # type: ignore[untyped-decorator]
def account() -> ResponseReturnValue:
    """Show the account's surveys and API tokens, and the form to change the password."""
    database = store()
    user = current_user.user
    surveys = [
        (groups[0], len(groups), sum(database.snapshot(group).reports for group in groups))
        for groups in list_surveys(database, user.key)
    ]
    tokens = database.tokens(user)
    return render_template("auth/account.html", form=ChangePassword(), surveys=surveys, tokens=tokens, name=user.name)


@blueprint.post("/account/password")
@login_required  # type: ignore[untyped-decorator]
def change_password() -> ResponseReturnValue:
    """Change the password. Every other session ends, and API tokens are revoked unless their owner keeps them.

    Revoking is the default: many people change a password because somebody else has it, who may have made a token with
    it.
    """
    _count_attempt("passwords")
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
        current = store().user(user.key)
        if current is None:
            raise Problem("forbidden")
        session.clear()
        login_user(Session(current))
        note = f" API tokens revoked: {revoked}." if revoked else ""
        flash(f"The password was changed. All other sessions have ended.{note}", "status")
    return redirect(url_for("auth.account"))


def _count_attempt(place: str) -> None:
    """Count one more password attempt from this address. Raise TooMany if there were too many."""
    current_app.extensions[f"candor_{place}"].check(request.remote_addr or "")


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
