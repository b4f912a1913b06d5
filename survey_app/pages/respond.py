"""The respondents' pages. Until the form exists, the page tells how to answer with the Python client."""

from flask import Blueprint, Response, current_app, render_template, request

from survey_app.pages.api import visible
from survey_app.store import now

blueprint = Blueprint("respond", __name__)


@blueprint.get("/s/<slug>")
def form(slug: str) -> str:
    """What the survey is, and how to answer it."""
    published = visible(slug)
    survey, state = published.survey, published.at(now())
    return render_template("respond.html", survey=survey, state=state, url=request.base_url, language=survey.language)


@blueprint.get("/style.css")
def style() -> Response:
    """The one stylesheet."""
    loader, environment = current_app.jinja_loader, current_app.jinja_env
    source = loader.get_source(environment, "style.css")[0] if loader else ""
    return Response(source, content_type="text/css; charset=utf-8")
