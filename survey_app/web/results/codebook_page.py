"""The codebook of a survey, to archive with its results, for readers who may see the results."""

from flask import Blueprint, Response

from survey_app.languages import numbers
from survey_app.languages.markup import render_html, render_markdown
from survey_app.problems import Problem
from survey_app.results.codebook import make_codebook
from survey_app.results.ddi import make_ddi
from survey_app.web.access import download, requested_version, require_readable, store
from survey_app.web.results.results_page import show_results_refusal

blueprint = Blueprint("archive", __name__)
blueprint.register_error_handler(Problem, show_results_refusal)

TYPES = {"html": "text/html; charset=utf-8", "md": "text/markdown; charset=utf-8", "xml": "application/xml"}
MOST_BITS = 10_000  # the most bits that a page lists; the command lists any number


@blueprint.get("/results/<slug>/codebook.<kind>")
def codebook_file(slug: str, kind: str) -> Response:
    """Return the meaning of every stored bit as HTML, Markdown or DDI-Codebook 2.5."""
    published = require_readable(requested_version(slug))
    survey = published.survey
    if kind not in TYPES:
        raise Problem("not_found", f"A codebook is available as {', '.join(TYPES)}.")
    if survey.width > MOST_BITS:
        bits = numbers.format_count(survey.width)
        raise Problem("malformed_request", f"{bits} bits are too many for a page. Use the command candor codebook.")
    if kind == "xml":
        body: str | bytes = make_ddi(survey, store().snapshot(published).reports)
    else:
        blocks = make_codebook(survey)
        body = render_markdown(blocks) if kind == "md" else render_html(f"Codebook: {survey.title}", blocks)
    return download(body, f"{slug}-codebook.{kind}", TYPES[kind])
