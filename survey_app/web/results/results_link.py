"""Access to private results by a link that their owner created.

The secret comes after `#key=`, so no request for this page, no log and no referrer contains it. A script sends it in
the body of a POST request; without scripts the reader pastes the link. The browser keeps it as a session cookie, sent
to pages of results only. Each request is checked against the hash in the store, so a withdrawn link ends at once.
Nothing is recorded when a link is used. The POST request needs no CSRF token: with a forged one, another site could
only show a visitor the results of a link that the site has itself.
"""

import re

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from candor_client.canonical import NAME
from survey_app.accounts import hash_secret
from survey_app.problems import Problem
from survey_app.web.access import RESULTS, link_cookie, store
from survey_app.web.auth import csrf
from survey_app.web.results.results_page import show_results_refusal

blueprint = Blueprint("link", __name__)
blueprint.register_error_handler(Problem, show_results_refusal)
csrf.exempt(blueprint)

KEY = re.compile(r"(?:.*#key=)?([A-Za-z0-9_-]{43})")


@blueprint.get("/results/<slug>/link")
def enter(slug: str) -> ResponseReturnValue:
    """Show the page that a link leads to. It is the same whether or not the survey exists."""
    if not NAME.fullmatch(slug):
        raise Problem("not_found")
    return render_template("results/link.html", slug=slug, wrong="", member=False)


@blueprint.post("/results/<slug>/link")
def follow(slug: str) -> ResponseReturnValue:
    """Set the cookie and redirect to the results, or show that the link is invalid."""
    key = KEY.fullmatch(request.form.get("key", "").strip())
    target = store().link_target(hash_secret(key[1])) if key else None
    if key is None or target is None:
        page = render_template("results/link.html", slug=slug, wrong="withdrawn" if key else "lost", member=False)
        return page, 404
    response = redirect(url_for("results.page", slug=target), 303)
    response.set_cookie(
        link_cookie(target),
        key[1],
        path=request.script_root + RESULTS.rstrip("/"),
        httponly=True,
        samesite="Lax",
        secure=request.is_secure,
    )
    return response
