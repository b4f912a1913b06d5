"""The form page of a survey, and the form as a file.

The server sends the state of the survey, and our own strings in its languages. The device shows all text of the author,
from the title to the thanks, from the definition that it has fetched and verified. So respondents read exactly the text
that is hashed. Only without scripts does the server show this text, with the other ways to answer.
"""

import hashlib
import secrets
from datetime import datetime
from functools import lru_cache
from typing import Any

from flask import Blueprint, Response, render_template, request
from markupsafe import Markup

from candor_client.definition import Survey
from candor_client.version import __version__
from survey_app.assure.form_file import FormFileError, build_form_file, check_server
from survey_app.assure.form_strings import form_data, json_block
from survey_app.channels import posterior
from survey_app.languages import LANGUAGES, Words
from survey_app.problems import Problem
from survey_app.store import Outcome, PublishedSurvey, Unavailable, now, state_refusal
from survey_app.web import assets
from survey_app.web.access import find_visible
from survey_app.web.compression import compress_conditional
from survey_app.web.headers import content_security

blueprint = Blueprint("form", __name__)
CACHE_SIZE = 32  # files
PLACEHOLDER_SERVER = (
    f"https://{secrets.token_hex(16)}.invalid"  # a random name, so that no text of an author contains it
)


@blueprint.get("/s/<slug>")
def form(slug: str) -> Response:
    """Show the frame of the form, or the reason why there is none."""
    published = find_visible(slug)
    survey, outcome = published.survey, find_refusal(published)
    content = None if outcome else build_survey_file(survey)
    more = {"file": hashlib.sha256(content).hexdigest()} if content else {}
    if published.release_date and not outcome:
        more["shown"] = published.release_date.isoformat()
    page = render_template("form/form.html", **frame_context(survey, outcome, published.terms.opens, **more))
    headers = {"Cache-Control": "no-cache"}
    if survey.tickets and survey.tickets.issuer:
        headers["Content-Security-Policy"] = content_security(connect=f"'self' {survey.tickets.issuer}")
    response = Response(page, content_type="text/html; charset=utf-8", headers=headers)
    return compress_conditional(response, request)


def frame_context(
    survey: Survey, outcome: Outcome | None = None, opens: datetime | None = None, **more: str
) -> dict[str, Any]:
    """Return the template variables of the frame around a survey. A preview uses them for its draft."""
    words = Words(survey.language)
    if opens and outcome is Outcome.NOT_OPEN:
        more["opens"] = opens.isoformat()
    return {
        "survey": survey,
        "refusal": outcome,
        "words": words,
        "deniable": posterior.is_deniable(survey),
        "opens": opens,
        "data": Markup(json_block(form_data(survey, outcome or "open", **more))),  # noqa: S704
        "language": survey.language,
        "direction": words.direction,
    }


@blueprint.get("/s/<slug>/form.html")
def file(slug: str) -> Response:
    """Return the form as a file, for respondents who do not trust the page."""
    content = build_survey_file(find_visible(slug).survey)
    if content is None:
        raise Problem("not_found")
    headers = {"Cache-Control": "no-cache", "Content-Disposition": f'attachment; filename="{slug}.html"'}
    return compress_conditional(Response(content, content_type="text/html; charset=utf-8", headers=headers), request)


def build_survey_file(survey: Survey) -> bytes | None:
    """Return the form of a survey on this server as a file; None if no link can hold the server's name."""
    try:
        return build_file(survey.source, request.url_root.rstrip("/").lower())
    except FormFileError:
        return None


def build_file(source: bytes, server: str) -> bytes:
    """Return the form file for a definition and a server. See `survey_app.assure.form_file`.

    Raise FormFileError if the server's name is invalid.
    """
    return _build_placeholder_file(source).replace(PLACEHOLDER_SERVER.encode(), check_server(server).encode())


@lru_cache(CACHE_SIZE)
def _build_placeholder_file(source: bytes) -> bytes:
    """Build a file once for all servers.

    Any client may call our server by any name, and each name would otherwise need a new file.
    """
    style = assets.read_source("/static/style.css")
    mark = assets.read_source("/static/mark.svg")
    script = assets.build_form_script()
    survey = Survey.from_stored(source)
    return build_form_file(survey, PLACEHOLDER_SERVER, script=script, style=style, mark=mark, version=__version__)


def find_refusal(published: PublishedSurvey) -> Outcome | None:
    """Return the reason why the survey takes no reports now, as the outcome that a report would get; else None."""
    return state_refusal(published.state_at(now()), full=published.full)


@blueprint.errorhandler(Problem)
@blueprint.errorhandler(Unavailable)
def show_missing_page(error: Problem | Unavailable) -> tuple[str, int, dict[str, str]]:
    """Show an error page for a link that leads nowhere, in a language that the reader prefers."""
    is_unavailable = not isinstance(error, Problem)
    words = Words(request.accept_languages.best_match(LANGUAGES) or LANGUAGES[0])
    title, detail = words("trouble.page_unavailable" if is_unavailable else "trouble.page_not_found").split("\n")
    page = render_template("problem.html", title=title, detail=detail, language=words.language, words=words)
    return page, 503 if is_unavailable else 404, {"Vary": "Accept-Language"}
