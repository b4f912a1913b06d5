"""The form, its scripts and its styles.

The server renders a frame: what the survey is, its state, and our strings in its language. The questions are rendered
on the device, from the definition that it has fetched and verified: what is asked is what is hashed.
"""

import json
import re

from flask import Blueprint, Response, current_app, render_template, request
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from survey_app import get_store
from survey_app.compress import lean
from survey_app.languages import LANGUAGES, Words
from survey_app.pages.api import visible
from survey_app.problems import Problem
from survey_app.store import Published, State, Unavailable, now

blueprint = Blueprint("respond", __name__)

NO_FORM = {State.DRAFT: "survey_not_open", State.CLOSED: "survey_closed"}
OF_INVITATIONS = {"no_code", "not_invited", "already_used", "invited"}
OF_ASK = {"ask", "not_asked"}


@blueprint.get("/s/<slug>")
def form(slug: str) -> Response:
    """The frame of the form, or why there is none."""
    published = visible(slug)
    survey = published.survey
    words = Words(survey.language)
    page = render_template(
        "respond.html",
        survey=survey,
        published=published,
        refusal=refusal(published),
        words=words,
        foreign=is_foreign(words),
        data=data(words, published),
        language=survey.language,
        direction=words.direction,
    )
    response = Response(page, content_type="text/html; charset=utf-8", headers={"Cache-Control": "no-cache"})
    return lean(response, request)


def refusal(published: Published) -> str | None:
    """Why the survey takes no reports now, as the code that a report would get."""
    state = published.at(now())
    if state is not State.OPEN:
        return NO_FORM[state]
    full = published.max_reports and get_store(current_app).snapshot(published).reports >= published.max_reports
    return "survey_full" if full else None


def is_foreign(words: Words) -> bool:
    """Whether our strings are in another language than the survey."""
    return words.tag.split("-")[0] != words.language


def data(words: Words, published: Published) -> Markup:
    """The strings that this survey's script can need, in a block of JSON that no string can end."""
    unused = {"survey_not_open"}
    unused |= set() if published.invited else OF_INVITATIONS
    unused |= set() if published.survey.ask else OF_ASK
    strings = {
        key: text
        for section in ("form", "edges")
        for key, text in words.section(section).items()
        if not key.startswith("page_") and key not in unused
    }
    told = {"language": words.language, "foreign": is_foreign(words), "strings": strings}
    return htmlsafe_json_dumps(told, dumps=json.dumps, ensure_ascii=False, separators=(",", ":"))


@blueprint.errorhandler(Problem)
@blueprint.errorhandler(Unavailable)
def missing(error: Problem | Unavailable) -> tuple[str, int, dict[str, str]]:
    """A page of its own for a link that leads nowhere, in a language that the reader prefers."""
    known = not isinstance(error, Problem)
    words = Words(request.accept_languages.best_match(LANGUAGES) or LANGUAGES[0])
    title, detail = words("edges.page_unavailable" if known else "edges.page_not_found").split("\n")
    page = render_template("problem.html", title=title, detail=detail, language=words.language)
    return page, 503 if known else 404, {"Vary": "Accept-Language"}


@blueprint.get("/form/<name>.js")
def script(name: str) -> Response:
    """A module of the form."""
    if not re.fullmatch(r"[a-z]+", name):
        raise Problem("not_found")
    return asset(f"form/{name}.js", "text/javascript")


@blueprint.get("/style.css", defaults={"name": "style"})
@blueprint.get("/explain.css", defaults={"name": "explain"})
def style(name: str) -> Response:
    """The one stylesheet, and what the pages that explain add to it."""
    return asset(f"{name}.css", "text/css")


def asset(name: str, kind: str) -> Response:
    """A file of the templates, as it is."""
    loader = current_app.jinja_loader
    try:
        source = loader.get_source(current_app.jinja_env, name)[0] if loader else ""
    except Exception:
        raise Problem("not_found") from None
    response = Response(source, content_type=f"{kind}; charset=utf-8", headers={"Cache-Control": "no-cache"})
    return lean(response, request)
