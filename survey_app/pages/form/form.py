"""The form, its scripts and its styles.

The server gives the state of the survey, and our strings in its languages. Everything that its author wrote, from the
title to the thanks, is shown by the device, from the definition that it has fetched and verified: what is read is what
is hashed. Only where scripts are off does the server show it, with the ways to answer all the same.
"""

import hashlib
import secrets
from datetime import datetime
from functools import lru_cache
from typing import Any

from flask import Blueprint, Response, render_template, request
from markupsafe import Markup

from client.definition import Survey
from survey_app.assure.form import NoFile, checked_server, form_file
from survey_app.assure.version import __version__
from survey_app.explain import chances
from survey_app.explain.form import block, told
from survey_app.explain.languages import LANGUAGES, Words
from survey_app.pages import assets
from survey_app.pages.access import visible
from survey_app.problems import Problem
from survey_app.server.compress import lean
from survey_app.server.headers import content_security
from survey_app.store import Outcome, Published, Unavailable, now, state_refusal

blueprint = Blueprint("form", __name__)
MOST_KEPT = 32  # files
SOMEWHERE = f"https://{secrets.token_hex(16)}.invalid"  # no text of an author has it


@blueprint.get("/s/<slug>")
def form(slug: str) -> Response:
    """The frame of the form, or why there is none."""
    published = visible(slug)
    survey, refused = published.survey, refusal(published)
    made = None if refused else file_of(survey)
    more = {"file": hashlib.sha256(made).hexdigest()} if made else {}
    if published.shown_from and not refused:
        more["shown"] = published.shown_from.isoformat()
    page = render_template("form/form.html", **frame_of(survey, refused, published.terms.opens, **more))
    headers = {"Cache-Control": "no-cache"}
    if survey.tickets and survey.tickets.issuer:
        headers["Content-Security-Policy"] = content_security(connect=f"'self' {survey.tickets.issuer}")
    response = Response(page, content_type="text/html; charset=utf-8", headers=headers)
    return lean(response, request)


def frame_of(
    survey: Survey, refused: Outcome | None = None, opens: datetime | None = None, **more: str
) -> dict[str, Any]:
    """What the frame shows of a survey; a preview has the same one around its draft."""
    words = Words(survey.language)
    if opens and refused is Outcome.NOT_OPEN:
        more["opens"] = opens.isoformat()
    return {
        "survey": survey,
        "refusal": refused,
        "words": words,
        "deniable": chances.deniable(survey),
        "opens": opens,
        "data": Markup(block(told(survey, refused or "open", **more))),  # noqa: S704
        "language": survey.language,
        "direction": words.direction,
    }


@blueprint.get("/s/<slug>/form.html")
def file(slug: str) -> Response:
    """The form as a file, for those who do not trust the page."""
    made = file_of(visible(slug).survey)
    if made is None:
        raise Problem("not_found")
    headers = {"Cache-Control": "no-cache", "Content-Disposition": f'attachment; filename="{slug}.html"'}
    return lean(Response(made, content_type="text/html; charset=utf-8", headers=headers), request)


def file_of(survey: Survey) -> bytes | None:
    """The form of a survey at this server as a file; none where the server is called in a way that no link can be."""
    try:
        return made_file(survey.source, request.url_root.rstrip("/").lower())
    except NoFile:
        return None


def made_file(source: bytes, server: str) -> bytes:
    """Return the file for a definition and a server; NoFile if that is none. See `survey_app.assure.form`."""
    return _file_somewhere(source).replace(SOMEWHERE.encode(), checked_server(server).encode())


@lru_cache(MOST_KEPT)
def _file_somewhere(source: bytes) -> bytes:
    """Make a file once for all servers: anybody may call ours by any name, and each time it would be made again."""
    style = assets.source("/static/style.css")
    mark = assets.source("/static/mark.svg")
    script = assets.script_of_the_form()
    survey = Survey.from_stored(source)
    return form_file(survey, SOMEWHERE, script=script, style=style, mark=mark, version=__version__)


def refusal(published: Published) -> Outcome | None:
    """Why the survey takes no reports now, as the code that a report would get."""
    return state_refusal(published.at(now()), full=published.full)


@blueprint.errorhandler(Problem)
@blueprint.errorhandler(Unavailable)
def missing(error: Problem | Unavailable) -> tuple[str, int, dict[str, str]]:
    """A page of its own for a link that leads nowhere, in a language that the reader prefers."""
    known = not isinstance(error, Problem)
    words = Words(request.accept_languages.best_match(LANGUAGES) or LANGUAGES[0])
    title, detail = words("trouble.page_unavailable" if known else "trouble.page_not_found").split("\n")
    page = render_template("problem.html", title=title, detail=detail, language=words.language, words=words)
    return page, 503 if known else 404, {"Vary": "Accept-Language"}
