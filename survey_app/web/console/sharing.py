"""Sharing a survey: the accounts that may see it or work on it, and links to its results.

Only its owner shares a survey; an account that it is shared with may leave. If no account has the name, the page says
so: owners share by name, and the operator made all accounts here. The sign-in page does not reveal names.

The secret of a link is behind `#`, which no browser sends, so neither a log nor another site learns it. A script, or
the person by hand, sends it to `/results/<slug>/link` (`survey_app/web/results/results_link.py`).
"""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from survey_app.accounts import hash_secret, new_token
from survey_app.problems import Problem
from survey_app.store import Role, token_id
from survey_app.web.access import require, store
from survey_app.web.console.guard import guard
from survey_app.web.console.survey_page import require_survey
from survey_app.web.sessions import require_session_account

blueprint = Blueprint("people", __name__)
guard(blueprint)

UNKNOWN_NAME = "unknown"  # flash category for a name that no account has, shown next to the field
SHARED_ROLES: dict[str, Role] = {role.label: role for role in (Role.READER, Role.EDITOR)}


@blueprint.post("/console/<slug>/shares")
def share(slug: str) -> ResponseReturnValue:
    """Share with an account, or change its role."""
    published = require_survey(slug, Role.OWNER)
    name, role = request.form.get("name", "").strip(), SHARED_ROLES.get(request.form.get("role", ""))
    if role is None:
        raise Problem("malformed_request", "The role must be reader or editor.")
    user = store().user_by_name(name)
    if user is None or user.disabled:
        flash(name, UNKNOWN_NAME)
    else:
        store().share(published, user, role)
        flash(f"{published.survey.title} is shared with {name} as {role.label}.", "status")
    return redirect(url_for("survey.show", slug=published.name, _anchor="people"))


@blueprint.post("/console/<slug>/shares/withdraw")
def withdraw(slug: str) -> ResponseReturnValue:
    """Stop sharing with an account. The owner or that account may do this."""
    published, name = require_survey(slug, Role.READER), request.form.get("name", "")
    is_leaving = name == require_session_account().name
    if not is_leaving:
        require(require_session_account(), published, Role.OWNER)
    user = store().user_by_name(name)
    if user is None:
        raise Problem("not_found", "There is no such account.")
    store().share(published, user, None)
    flash(f"{published.survey.title} is no longer shared with {'you' if is_leaving else name}.", "status")
    return redirect(
        url_for("console.home") if is_leaving else url_for("survey.show", slug=published.name, _anchor="people")
    )


@blueprint.post("/console/<slug>/links")
def make_link(slug: str) -> ResponseReturnValue:
    """Create a link to the results and show it on a page that is not cached. Only its hash is stored."""
    published, label = require_survey(slug, Role.OWNER), " ".join(request.form.get("label", "").split())
    secret = new_token()
    hashed = hash_secret(secret)
    store().add_link(published, label, hashed)
    link = url_for("link.enter", slug=published.name, _anchor=f"key={secret}", _external=True)
    context = {"published": published, "survey": published.survey, "label": label}
    return render_template("console/link.html", **context, link=link, id=token_id(hashed))


@blueprint.post("/console/<slug>/links/withdraw")
def withdraw_link(slug: str) -> ResponseReturnValue:
    """Withdraw a link, also for readers who have it open."""
    published = require_survey(slug, Role.OWNER)
    if store().withdraw_link(published, request.form.get("link", "")):
        flash("The link was withdrawn. Anybody who uses it now sees a message that says so.", "status")
    else:
        flash("This link no longer exists.", "error")
    return redirect(url_for("survey.show", slug=published.name, _anchor="people"))
