"""API tokens of the signed-in account: create a token, which is shown once, and revoke tokens.

The account page lists them.
"""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user

from survey_app.accounts import hash_secret, new_token
from survey_app.store import token_id
from survey_app.web.access import store
from survey_app.web.console.guard import guard

blueprint = Blueprint("tokens", __name__)
guard(blueprint)


@blueprint.post("/account/tokens")
def make() -> ResponseReturnValue:
    """Create a token and show it on a page that is not cached. Only its hash is stored."""
    token = new_token()
    hashed = hash_secret(token)
    store().add_token(current_user.user, hashed)
    return render_template("auth/token.html", token=token, id=token_id(hashed), name=current_user.user.name)


@blueprint.post("/account/tokens/revoke")
def revoke() -> ResponseReturnValue:
    """Revoke one token permanently."""
    token = request.form.get("token", "")
    if store().revoke_token(current_user.user, token):
        flash(f"The token {token} is revoked. Whatever used it is refused from now on.", "status")
    else:
        flash("There is no such token any more.", "error")
    return redirect(url_for("auth.account"))
