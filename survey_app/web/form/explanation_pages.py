"""The pages that explain: what a survey can learn about a person, the survey on paper, and the interviewer's page.

They need no script, except for the interviewer's page, and set no cookie. They are in the survey's language. The first
of them is in the reader's language, where the survey has a translation.
"""

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, render_template, request, url_for

from candor_client.definition import Survey
from survey_app.languages.translation import choose_language, list_languages, translate_survey
from survey_app.problems import Problem
from survey_app.store import Outcome, Unavailable
from survey_app.web.access import find_visible
from survey_app.web.compression import compress
from survey_app.web.form.form_page import find_refusal, show_missing_page
from survey_app.web.form.privacy_text import Explanation

blueprint = Blueprint("explain", __name__)
blueprint.add_app_template_global(Explanation, "explanation")  # for the text that the form shows without scripts
for error in (Problem, Unavailable):
    blueprint.register_error_handler(error, show_missing_page)


@blueprint.after_request
def forbid_caching(response: Response) -> Response:
    """Forbid caching of a page.

    It repeats the address of the request, and contains an example that is new each time.
    """
    response.headers["Cache-Control"] = "no-store"
    response.vary.add("Accept-Language")
    return compress(response, request)


def _render_page(template: str, slug: str, read: Callable[[Survey], Survey] = lambda survey: survey) -> str:
    published = find_visible(slug)
    url = url_for("form.form", slug=slug, _external=True)
    return render_template(template, **explanation_context(read(published.survey), url, find_refusal(published)))


def localize_for_browser(survey: Survey) -> Survey:
    """Return the survey in the language that the browser prefers, if it is translated into that language."""
    return translate_survey(survey, choose_language(list_languages(survey), request.accept_languages.values()))


def explanation_context(survey: Survey, url: str, outcome: Outcome | None = None) -> dict[str, Any]:
    """Return the template variables that explain a survey. A preview uses them for its draft."""
    explanation = Explanation(survey)
    return {
        "survey": survey,
        "refusal": outcome,
        "told": explanation,
        "say": explanation.say,
        "url": url,
        "language": explanation.words.language,
    }


@blueprint.get("/s/<slug>/privacy")
def privacy(slug: str) -> str:
    """Show what the survey can and cannot learn about a person.

    The URL does not reveal the language of the page.
    """
    return _render_page("form/privacy.html", slug, localize_for_browser)


@blueprint.get("/s/<slug>/paper")
def paper(slug: str) -> str:
    """Show the survey on paper, with one printed sheet for each person."""
    return _render_page("form/paper.html", slug)


@blueprint.get("/s/<slug>/enter")
def enter(slug: str) -> str:
    """Show the page on which an interviewer enters the outcomes that are ticked on sheets."""
    return _render_page("form/paper_entry.html", slug)
