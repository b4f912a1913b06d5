"""The pages that explain: what a survey can learn about a person, the same on paper, and the interviewer's page.

They need no script (but for the interviewer's), set no cookie, and speak the survey's language; the first of them the
reader's, where the survey has it.
"""

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, render_template, request

from client.definition import Survey
from survey_app.explain.translated import language_for, languages, localized
from survey_app.pages.access import visible
from survey_app.pages.form.explanation import Explanation
from survey_app.pages.form.form import missing, refusal
from survey_app.problems import Problem
from survey_app.server.compress import compressed
from survey_app.store import Outcome, Unavailable

blueprint = Blueprint("explain", __name__)
blueprint.add_app_template_global(Explanation, "explanation")  # for what the form says without scripts
for error in (Problem, Unavailable):
    blueprint.register_error_handler(error, missing)


@blueprint.after_request
def fresh(response: Response) -> Response:
    """No cache keeps a page: it repeats the address it was asked at, and an example that is new each time."""
    response.headers["Cache-Control"] = "no-store"
    response.vary.add("Accept-Language")
    return compressed(response, request)


def _page(template: str, slug: str, read: Callable[[Survey], Survey] = lambda survey: survey) -> str:
    published = visible(slug)
    told = explained(read(published.survey), f"{request.url_root}s/{slug}", refusal(published))
    return render_template(template, **told)


def preferred(survey: Survey) -> Survey:
    """The survey in the language that the browser asks for with every request anyhow, if it has that."""
    return localized(survey, language_for(languages(survey), request.accept_languages.values()))


def explained(survey: Survey, url: str, refused: Outcome | None = None) -> dict[str, Any]:
    """What the pages tell of a survey; a preview tells the same of its draft."""
    told = Explanation(survey)
    return {
        "survey": survey,
        "refusal": refused,
        "told": told,
        "say": told.say,
        "root": request.url_root,
        "url": url,
        "language": told.words.language,
    }


@blueprint.get("/s/<slug>/privacy")
def privacy(slug: str) -> str:
    """What the survey can learn about a person, and what it cannot; in a language that no address tells."""
    return _page("form/privacy.html", slug, preferred)


@blueprint.get("/s/<slug>/paper")
def paper(slug: str) -> str:
    """The survey on paper, one printed sheet for each person."""
    return _page("form/paper.html", slug)


@blueprint.get("/s/<slug>/enter")
def enter(slug: str) -> str:
    """Where an interviewer enters the outcomes that are ticked on sheets."""
    return _page("form/enter.html", slug)
