"""The form, its scripts and its styles.

The server renders a frame: what the survey is, its state, and our strings in its language. The questions are rendered
on the device, from the definition that it has fetched and verified: what is asked is what is hashed.
"""

import json
from typing import Any

from flask import Blueprint, Response, render_template, request
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from client.definition import Survey
from survey_app.explain import chances
from survey_app.explain.languages import LANGUAGES, Words
from survey_app.pages.access import visible
from survey_app.problems import Problem
from survey_app.server.compress import lean
from survey_app.server.headers import content_security
from survey_app.store import Published, State, Unavailable, now

blueprint = Blueprint("form", __name__)

NO_FORM = {
    State.READY: "survey_not_open",
    State.OPEN: None,
    State.PAUSED: "survey_paused",
    State.CLOSED: "survey_closed",
}
OF_INVITATIONS = {
    *("not_invited", "already_issued", "too_early", "too_late", "bad_ticket", "no_ticket", "id_taken"),
    *("invited", "unlinked", "bytes_ticket", "copy", "copied"),
}  # and whatever begins with "ticket"
OF_ANYBODY = {"review_all", "bytes_id"}  # where no ticket is needed
OF_ASK = {"chosen", "filter", "hidden"}
OF_ALL = {"rolls_each", "depends"}  # where everything is asked


@blueprint.get("/s/<slug>")
def form(slug: str) -> Response:
    """The frame of the form, or why there is none."""
    published = visible(slug)
    survey = published.survey
    page = render_template("form/form.html", **frame_of(survey, refusal(published)), opens=published.terms.opens)
    headers = {"Cache-Control": "no-cache"}
    if survey.tickets and survey.tickets.issuer:
        headers["Content-Security-Policy"] = content_security(connect=f"'self' {survey.tickets.issuer}")
    response = Response(page, content_type="text/html; charset=utf-8", headers=headers)
    return lean(response, request)


def frame_of(survey: Survey, refused: str | None = None) -> dict[str, Any]:
    """What the frame shows of a survey; a preview has the same one around its draft."""
    words = Words(survey.language)
    return {
        "survey": survey,
        "refusal": refused,
        "words": words,
        "foreign": is_foreign(words),
        "deniable": chances.deniable(survey),
        "data": data(words, survey, refused),
        "language": survey.language,
        "direction": words.direction,
    }


def refusal(published: Published) -> str | None:
    """Why the survey takes no reports now, as the code that a report would get."""
    return "survey_full" if published.full else NO_FORM[published.at(now())]


def is_foreign(words: Words) -> bool:
    """Whether our strings are in another language than the survey."""
    return words.tag.split("-")[0] != words.language


def data(words: Words, survey: Survey, refused: str | None = None) -> Markup:
    """The strings that this survey's script can need, in a block of JSON that no string can end."""
    unused = {"survey_not_open"}
    unused |= OF_ANYBODY if survey.tickets else OF_INVITATIONS
    unused |= OF_ALL if survey.ask else OF_ASK
    if not survey.tickets and refused != "survey_not_open":
        unused.add("moment")
    strings = {
        key: text
        for section in ("form", "trouble")
        for key, text in words.section(section).items()
        if not key.startswith("page_" if survey.tickets else ("page_", "ticket")) and key not in unused
    }
    told = {"language": words.language, "foreign": is_foreign(words), "strings": strings}
    return htmlsafe_json_dumps(told, dumps=json.dumps, ensure_ascii=False, separators=(",", ":"))


@blueprint.errorhandler(Problem)
@blueprint.errorhandler(Unavailable)
def missing(error: Problem | Unavailable) -> tuple[str, int, dict[str, str]]:
    """A page of its own for a link that leads nowhere, in a language that the reader prefers."""
    known = not isinstance(error, Problem)
    words = Words(request.accept_languages.best_match(LANGUAGES) or LANGUAGES[0])
    title, detail = words("trouble.page_unavailable" if known else "trouble.page_not_found").split("\n")
    page = render_template("problem.html", title=title, detail=detail, language=words.language, words=words)
    return page, 503 if known else 404, {"Vary": "Accept-Language"}
