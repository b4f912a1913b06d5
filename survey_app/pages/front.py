"""The front page: what this server is, its open public surveys, the way to the console, and how to check it all.

It asks nobody who they are: no cookie, no script, and no survey whose owner has not made its results public. The groups
of a study are one entry, for who belongs to which is told by the link that people were given.
"""

import time
from dataclasses import dataclass

from flask import Blueprint, Response, current_app, render_template, request

from client.definition import Survey
from survey_app.explain import written
from survey_app.explain.languages import LANGUAGES, Words
from survey_app.pages.access import store
from survey_app.pages.form.form import refusal
from survey_app.server.compress import lean
from survey_app.store import Published

blueprint = Blueprint("front", __name__)

MOST_LISTED = 200
REST = (
    20  # times as long as it took to read all surveys, until they are read again: anybody may ask, and some have many
)

clock = time.monotonic


@dataclass(frozen=True)
class Read:
    """The surveys with public results, and until when it is not worth reading them again."""

    surveys: list[Published]
    until: float


@dataclass(frozen=True)
class Entry:
    """A survey, or a study with all its groups, as the page lists it."""

    slug: str
    title: str
    words: Words  # of the title
    invited: bool
    grouped: bool


@blueprint.get("/")
def front() -> Response:
    """The page, in the language that the address names or that the reader prefers."""
    asked = request.args.get("language", "")
    words = Words(asked if asked in LANGUAGES else request.accept_languages.best_match(LANGUAGES) or LANGUAGES[0])
    entries = open_and_public(_surveys(), words.language)
    page = render_template(
        "front.html",
        words=words,
        language=words.language,
        languages=[Words(language) for language in LANGUAGES],
        entries=entries[:MOST_LISTED],
        more=written.count(len(entries) - MOST_LISTED, written.MARKS[words.language]),
        left_out=len(entries) > MOST_LISTED,
    )
    response = Response(page, content_type="text/html; charset=utf-8", headers={"Cache-Control": "no-cache"})
    response.vary.add("Accept-Language")
    return lean(response, request)


def _surveys() -> list[Published]:
    kept: Read | None = current_app.extensions.get("candor_front")
    start = clock()
    if kept is None or start >= kept.until:
        found = [published for published in store().surveys() if published.terms.public]
        kept = current_app.extensions["candor_front"] = Read(found, clock() + REST * (clock() - start))
    return kept.surveys


def open_and_public(surveys: list[Published], language: str) -> list[Entry]:
    """What everybody may see of surveys with public results: those that take reports now, by their titles."""
    entries: dict[str, Entry] = {}
    for published in surveys:
        survey = published.survey
        if refusal(published) is None:
            slug = survey.study or survey.slug
            invited, grouped = survey.tickets is not None, bool(survey.study)
            entries.setdefault(slug, Entry(slug, *_title(survey, language), invited, grouped))
    return sorted(entries.values(), key=lambda entry: (entry.title.casefold(), entry.slug))


def _title(survey: Survey, language: str) -> tuple[str, Words]:
    """The title in a language that it was translated into, or as its author wrote it."""
    own = Words(survey.language)
    for translation in survey.translations if own.tag.split("-")[0] != language else ():
        if translation.language.split("-")[0] == language:
            return translation.title, Words(translation.language)
    return survey.title, own
