"""The respondents' pages. Until the form exists, the page tells how to answer with the Python client."""

from flask import Blueprint, render_template, request

from survey_app.pages.api import visible
from survey_app.store import now

blueprint = Blueprint("respond", __name__)


@blueprint.get("/s/<slug>")
def form(slug: str) -> str:
    """What the survey is, and how to answer it."""
    published = visible(slug)
    survey, state = published.survey, published.at(now())
    return render_template("respond.html", survey=survey, state=state, url=request.base_url, language=survey.language)
