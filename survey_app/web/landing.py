"""The front page: a description of this server, its open public surveys, and links to the console and to the checks.

It does not identify its visitors: it has no cookie and no script, and lists only surveys with public results. The
groups of a study are one entry, because the link that people were given decides their group.
"""

import time
from dataclasses import dataclass

from flask import Blueprint, Response, render_template, request

from candor_client.definition import Survey
from survey_app.languages import LANGUAGES, Words, numbers
from survey_app.store import PublishedSurvey
from survey_app.web.access import store
from survey_app.web.compression import compress_conditional
from survey_app.web.extension import current_candor
from survey_app.web.form.form_page import find_refusal

blueprint = Blueprint("front", __name__)

MOST_LISTED = 200
# The cache lasts this many times as long as reading all surveys took: any visitor may ask, and some servers have many.
CACHE_FACTOR = 20

clock = time.monotonic


@dataclass(frozen=True)
class Entry:
    """A survey, or a study with all its groups, as the page lists it."""

    slug: str
    title: str
    words: Words  # in the language of the title
    by_invitation: bool
    has_groups: bool


@blueprint.get("/")
def front() -> Response:
    """Show the page in the language that the URL names or that the visitor prefers."""
    language = request.args.get("language", "")
    words = Words(language if language in LANGUAGES else request.accept_languages.best_match(LANGUAGES) or LANGUAGES[0])
    entries = list_entries(_load_surveys(), words.language)
    page = render_template(
        "landing.html",
        words=words,
        language=words.language,
        languages=[Words(language) for language in LANGUAGES],
        entries=entries[:MOST_LISTED],
        more=numbers.format_count(len(entries) - MOST_LISTED, numbers.MARKS[words.language]),
        left_out=len(entries) > MOST_LISTED,
    )
    response = Response(page, content_type="text/html; charset=utf-8", headers={"Cache-Control": "no-cache"})
    response.vary.add("Accept-Language")
    return compress_conditional(response, request)


def _load_surveys() -> list[PublishedSurvey]:
    cache, start = current_candor().landing, clock()
    if start >= cache.expires:
        cache.surveys = [published for published in store().surveys() if published.terms.public]
        cache.expires = clock() + CACHE_FACTOR * (clock() - start)
    return cache.surveys


def list_entries(surveys: list[PublishedSurvey], language: str) -> list[Entry]:
    """Return an entry for each survey with public results that takes reports now, sorted by title."""
    entries: dict[str, Entry] = {}
    for published in surveys:
        survey = published.survey
        if find_refusal(published) is None:
            slug = survey.study or survey.slug
            invited, grouped = survey.tickets is not None, bool(survey.study)
            entries.setdefault(slug, Entry(slug, *_translated_title(survey, language), invited, grouped))
    return sorted(entries.values(), key=lambda entry: (entry.title.casefold(), entry.slug))


def _translated_title(survey: Survey, language: str) -> tuple[str, Words]:
    """Return the title in this language if it was translated, or as its author wrote it."""
    own = Words(survey.language)
    for translation in survey.translations if own.tag.split("-")[0] != language else ():
        if translation.language.split("-")[0] == language:
            return translation.title, Words(translation.language)
    return survey.title, own
