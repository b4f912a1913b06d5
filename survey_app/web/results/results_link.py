"""Opening private results by a link that their owner made.

The secret stands behind `#key=`, so it is in no request for this page, no log and no referrer. A script sends it in the
body of a post; whoever has none pastes the link. It is kept as a cookie of this browser, until that is closed, which
goes to pages of results alone; each request is checked against the hash in the store, so a link that is withdrawn ends
at once. Nothing is written down when a link is used. The post needs no CSRF token: all that another site could do with
it is to show somebody the results of a link it has itself.
"""

import re

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from candor_client.canonical import NAME
from survey_app.accounts import secret_hash
from survey_app.problems import Problem
from survey_app.web.access import RESULTS, link_cookie, store
from survey_app.web.auth import csrf
from survey_app.web.results.results_page import refused

blueprint = Blueprint("link", __name__)
blueprint.register_error_handler(Problem, refused)
csrf.exempt(blueprint)

KEY = re.compile(r"(?:.*#key=)?([A-Za-z0-9_-]{43})")


@blueprint.get("/results/<slug>/link")
def enter(slug: str) -> ResponseReturnValue:
    """The page that a link leads to; the same whether or not there is such a survey."""
    if not NAME.fullmatch(slug):
        raise Problem("not_found")
    return render_template("results/link.html", slug=slug, wrong="", member=False)


@blueprint.post("/results/<slug>/link")
def follow(slug: str) -> ResponseReturnValue:
    """To the results, with a cookie; or say that the link does not open them."""
    key = KEY.fullmatch(request.form.get("key", "").strip())
    opened = store().link_opens(secret_hash(key[1])) if key else None
    if key is None or opened is None:
        page = render_template("results/link.html", slug=slug, wrong="withdrawn" if key else "lost", member=False)
        return page, 404
    response = redirect(url_for("results.page", slug=opened), 303)
    response.set_cookie(
        link_cookie(opened),
        key[1],
        path=RESULTS.rstrip("/"),
        httponly=True,
        samesite="Lax",
        secure=request.is_secure,
    )
    return response
