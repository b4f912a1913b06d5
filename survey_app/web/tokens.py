"""API tokens of the signed-in account: create a token, which is shown once, and revoke tokens.

The account page lists them.
"""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from survey_app.accounts import hash_secret, new_token
from survey_app.store import token_id
from survey_app.web.access import store
from survey_app.web.console.guard import guard
from survey_app.web.sessions import require_session_account

blueprint = Blueprint("tokens", __name__)
guard(blueprint)


@blueprint.post("/account/tokens")
def make() -> ResponseReturnValue:
    """Create a token and show it on a page that is not cached. Only its hash is stored."""
    user, token = require_session_account(), new_token()
    hashed = hash_secret(token)
    store().add_token(user, hashed)
    return render_template("auth/token.html", token=token, id=token_id(hashed), name=user.name)


@blueprint.post("/account/tokens/revoke")
def revoke() -> ResponseReturnValue:
    """Revoke one token permanently."""
    token = request.form.get("token", "")
    if store().revoke_token(require_session_account(), token):
        flash(f"The token {token} was revoked. Scripts that use it are refused from now on.", "status")
    else:
        flash("This token no longer exists.", "error")
    return redirect(url_for("auth.account"))
