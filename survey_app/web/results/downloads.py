"""What a reader of results takes along: tables, plots, and for accounts with a role the raw data."""

import tempfile
from collections.abc import Iterator

from flask import Blueprint, Response, request

from survey_app.estimate.contingency import PairError
from survey_app.problems import Problem
from survey_app.results.csv_table import crosstab_table, csv_text, results_table, study_table
from survey_app.results.export import ExportError, csv_chunks, ndjson_chunks, write_parquet
from survey_app.store import Published, Role, Store
from survey_app.web.access import download, reader, require, store, study, version
from survey_app.web.results.blocks import together
from survey_app.web.results.crosstab_view import crosstab_file_name, read_crosstab, view_crosstab
from survey_app.web.results.group_comparison import compare_surveys
from survey_app.web.results.noise import noise
from survey_app.web.results.plots import Plot, View, figures
from survey_app.web.results.query_options import Choices, refusal
from survey_app.web.results.results_cache import Snapshot, document
from survey_app.web.results.results_page import refused, wanted
from survey_app.web.results.study_page import ReadStudy

blueprint = Blueprint("downloads", __name__)
blueprint.register_error_handler(Problem, refused)

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "ndjson": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
CHUNK = 2**20


@blueprint.get("/results/<slug>.csv")
def table(slug: str) -> Response:
    """Every estimate as a line."""
    if groups := study(slug):
        asked = ReadStudy.of(groups)
        asked.check()
        rows = study_table([group.survey for group in groups], asked.document)
        return download(csv_text(rows), f"{slug}-results.csv", TYPES["csv"])
    snapshot, choices = _checked(slug)
    rows = results_table(snapshot.published.survey, document(snapshot, choices.options))
    return download(csv_text(rows), f"{slug}-results.csv", TYPES["csv"])


@blueprint.get("/results/<slug>/crosstab.csv")
def crosstab(slug: str) -> Response:
    """Every figure of a cross-tab as a line."""
    snapshot, choices = _checked(slug)
    try:
        found = read_crosstab(snapshot, choices.rows, choices.columns, choices.options)
    except PairError as error:
        raise Problem("malformed_request", f"{error}.") from None
    rows = crosstab_table(choices.rows, choices.columns, found)
    return download(csv_text(rows), f"{slug}-{crosstab_file_name(choices.rows, choices.columns)}.csv", TYPES["csv"])


@blueprint.get("/results/<slug>/plots/<name>.svg")
def plot(slug: str, name: str) -> Response:
    """One plot as a file that works alone: `help`, `fair.mean`, `cheated.noise`, and those of comparisons."""
    if groups := study(slug):
        asked = ReadStudy.of(groups)
        asked.check()
        plots = [plot for part in asked.parts(standalone=True) for plot in part.plots]
    else:
        snapshot, choices = _checked(slug)
        plots = _plots(
            snapshot, choices, View(choices.options, choices.sample, standalone=True, zoomed=choices.zoomed), name
        )
    found = next((one for one in plots if one.name == name), None)
    if found is None:
        raise Problem("not_found", "There is no such plot.")
    return download(found.svg, f"{slug}-{name.replace('.', '-')}.svg", "image/svg+xml")


def _plots(snapshot: Snapshot, choices: Choices, view: View, name: str) -> list[Plot]:
    """The plots of the question that a name begins with."""
    id, _, kind = name.partition(".")
    if kind == "crosstab":
        found, _ = view_crosstab(snapshot, choices, view)
        return [picture] if found and (picture := found.plot) else []
    if kind.endswith("groups"):
        compared, _ = compare_surveys(snapshot, choices, view)
        return [one for part in compared if part.question.id == id for one in part.plots]
    parts = figures(snapshot.published.survey, document(snapshot, choices.options), view)
    if kind == "noise":
        told = noise(parts)
        return [told.plot] if told else []
    if kind == "joint":
        joint = together(snapshot.published.survey, document(snapshot, choices.options), view)
        return [one.plot for one in joint if one.plot]
    return [one for part in parts if part.question.id == id for one in part.plots]


def _checked(slug: str) -> tuple[Snapshot, Choices]:
    """What a download asks for; a file has no place for messages, so a bad choice is a Problem."""
    snapshot, choices = wanted(slug)
    if choices.messages:
        raise refusal(choices.messages)
    return snapshot, choices


@blueprint.get("/results/<slug>/reports.<kind>")
def reports(slug: str, kind: str) -> Response:
    """What the devices sent with its definition, for accounts with a role; the owner's log keeps that it was taken."""
    user = reader()
    published = require(user, version(slug), Role.READER)
    if kind not in TYPES:
        raise Problem("not_found", f"Raw data come as {', '.join(TYPES)}.")
    chunks = _bits(store(), published, kind)
    try:
        first = next(chunks)  # before anything is promised
    except ExportError as error:
        raise Problem("malformed_request", f"{error}.") from None
    if request.method == "GET":
        store().record(published.owner, slug, f"exported raw data as {kind}", user.key if user else None)
    return download(_rest(first, chunks), f"{slug}-reports.{kind}", TYPES[kind])


def _bits(kept: Store, published: Published, kind: str) -> Iterator[bytes]:
    """A file piece by piece; Parquet is written to disk first, so memory does not grow with the reports either.

    With the first piece nothing is being read: tidying waits for readers, so a reader must not wait to write.
    """
    survey = published.survey
    if kind == "parquet":
        with tempfile.TemporaryFile() as file:
            with kept.shown(published) as (_, rows):
                write_parquet(survey, rows, file)
            file.seek(0)
            while chunk := file.read(CHUNK):
                yield chunk
        return
    yield b""
    with kept.shown(published) as (tally, rows):
        yield from csv_chunks(survey, rows) if kind == "csv" else ndjson_chunks(survey, tally.reports, rows)


def _rest(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from chunks
