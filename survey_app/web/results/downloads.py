"""The downloads of the results page: tables and plots, and the raw data for accounts with a role."""

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
    """Return a CSV file with one line for each estimate of a survey or study."""
    if groups := study(slug):
        study_request = ReadStudy.of(groups)
        study_request.check()
        rows = study_table([group.survey for group in groups], study_request.document)
        return download(csv_text(rows), f"{slug}-results.csv", TYPES["csv"])
    snapshot, choices = _checked(slug)
    rows = results_table(snapshot.published.survey, document(snapshot, choices.options))
    return download(csv_text(rows), f"{slug}-results.csv", TYPES["csv"])


@blueprint.get("/results/<slug>/crosstab.csv")
def crosstab(slug: str) -> Response:
    """Return a CSV file with one line for each figure of a cross-tab."""
    snapshot, choices = _checked(slug)
    try:
        result = read_crosstab(snapshot, choices.rows, choices.columns, choices.options)
    except PairError as error:
        raise Problem("malformed_request", f"{error}.") from None
    rows = crosstab_table(choices.rows, choices.columns, result)
    return download(csv_text(rows), f"{slug}-{crosstab_file_name(choices.rows, choices.columns)}.csv", TYPES["csv"])


@blueprint.get("/results/<slug>/plots/<name>.svg")
def plot(slug: str, name: str) -> Response:
    """Return one plot as a standalone SVG file, by a name such as `help`, `fair.mean` or `cheated.noise`."""
    if groups := study(slug):
        study_request = ReadStudy.of(groups)
        study_request.check()
        plots = [plot for part in study_request.parts(standalone=True) for plot in part.plots]
    else:
        snapshot, choices = _checked(slug)
        plots = _plots(
            snapshot, choices, View(choices.options, choices.sample, standalone=True, zoomed=choices.zoomed), name
        )
    match = next((candidate for candidate in plots if candidate.name == name), None)
    if match is None:
        raise Problem("not_found", "There is no such plot.")
    return download(match.svg, f"{slug}-{name.replace('.', '-')}.svg", "image/svg+xml")


def _plots(snapshot: Snapshot, choices: Choices, view: View, name: str) -> list[Plot]:
    """Return the plots among which a plot with this name would be: those of its question and its kind."""
    id, _, kind = name.partition(".")
    if kind == "crosstab":
        view_result, _ = view_crosstab(snapshot, choices, view)
        return [picture] if view_result and (picture := view_result.plot) else []
    if kind.endswith("groups"):
        comparisons, _ = compare_surveys(snapshot, choices, view)
        return [plot for part in comparisons if part.question.id == id for plot in part.plots]
    parts = figures(snapshot.published.survey, document(snapshot, choices.options), view)
    if kind == "noise":
        explanation = noise(parts)
        return [explanation.plot] if explanation else []
    if kind == "joint":
        joint = together(snapshot.published.survey, document(snapshot, choices.options), view)
        return [block.plot for block in joint if block.plot]
    return [plot for part in parts if part.question.id == id for plot in part.plots]


def _checked(slug: str) -> tuple[Snapshot, Choices]:
    """Return the snapshot and the choices of a download.

    Raise Problem for a bad choice, because a file has no place for messages.
    """
    snapshot, choices = wanted(slug)
    if choices.messages:
        raise refusal(choices.messages)
    return snapshot, choices


@blueprint.get("/results/<slug>/reports.<kind>")
def reports(slug: str, kind: str) -> Response:
    """Return the raw reports of a survey as a file, for accounts with a role. The owner's log records the export."""
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
    """Yield a file of raw data piece by piece. Parquet is written to disk first, so that memory does not grow.

    The first piece is yielded while no read of the store is open. Tidying waits for reads to end, so a read must not
    wait for the record in the log, which is written after the first piece.
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
