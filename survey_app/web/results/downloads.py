"""The downloads of the results page: tables and plots, and the raw data for accounts with a role."""

import tempfile
from collections.abc import Iterator

from flask import Blueprint, Response, request

from survey_app.estimate.contingency import PairError
from survey_app.problems import Problem
from survey_app.results.csv_columns import crosstab_table, format_csv, results_table, study_table
from survey_app.results.export import ExportError, write_csv_chunks, write_ndjson_chunks, write_parquet
from survey_app.store import EventCode, EventData, PublishedSurvey, Role, Store
from survey_app.web.access import download, find_groups, reader, requested_version, require, store
from survey_app.web.results.crosstab_view import crosstab_file_name, read_crosstab, view_crosstab
from survey_app.web.results.group_comparison import compare_surveys
from survey_app.web.results.joint_blocks import joint_blocks
from survey_app.web.results.noise import find_noise
from survey_app.web.results.plots import Plot, View, build_figures
from survey_app.web.results.reader_choices import Choices, problem_of_choices
from survey_app.web.results.results_cache import Snapshot, cached_results
from survey_app.web.results.results_page import read_request, show_results_refusal
from survey_app.web.results.study_page import StudyRequest

blueprint = Blueprint("downloads", __name__)
blueprint.register_error_handler(Problem, show_results_refusal)

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "ndjson": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
CHUNK = 2**20


@blueprint.get("/results/<slug>.csv")
def table(slug: str) -> Response:
    """Return a CSV file with one line for each estimate of a survey or study."""
    if groups := find_groups(slug):
        study_request = StudyRequest.of(groups)
        study_request.check()
        rows = study_table([group.survey for group in groups], study_request.document)
        return download(format_csv(rows), f"{slug}-results.csv", TYPES["csv"])
    snapshot, choices = _require_choices(slug)
    rows = results_table(snapshot.published.survey, cached_results(snapshot, choices.options))
    return download(format_csv(rows), f"{slug}-results.csv", TYPES["csv"])


@blueprint.get("/results/<slug>/crosstab.csv")
def crosstab(slug: str) -> Response:
    """Return a CSV file with one line for each figure of a cross-tab."""
    snapshot, choices = _require_choices(slug)
    try:
        result = read_crosstab(snapshot, choices.rows, choices.columns, choices.options)
    except PairError as error:
        raise Problem("malformed_request", f"{error}.") from None
    rows = crosstab_table(choices.rows, choices.columns, result)
    return download(format_csv(rows), f"{slug}-{crosstab_file_name(choices.rows, choices.columns)}.csv", TYPES["csv"])


@blueprint.get("/results/<slug>/plots/<name>.svg")
def plot(slug: str, name: str) -> Response:
    """Return one plot as a standalone SVG file, by a name such as `help`, `fair.mean` or `cheated.noise`."""
    if groups := find_groups(slug):
        study_request = StudyRequest.of(groups)
        study_request.check()
        plots = [plot for part in study_request.parts(standalone=True) for plot in part.plots]
    else:
        snapshot, choices = _require_choices(slug)
        plots = _candidate_plots(
            snapshot, choices, View(choices.options, choices.sample, standalone=True, zoomed=choices.zoomed), name
        )
    match = next((candidate for candidate in plots if candidate.name == name), None)
    if match is None:
        raise Problem("not_found", "There is no such plot.")
    return download(match.svg, f"{slug}-{name.replace('.', '-')}.svg", "image/svg+xml")


def _candidate_plots(snapshot: Snapshot, choices: Choices, view: View, name: str) -> list[Plot]:
    """Return the plots among which a plot with this name would be: those of its question and its kind."""
    id, _, kind = name.partition(".")
    if kind == "crosstab":
        view_result, _ = view_crosstab(snapshot, choices, view)
        return [picture] if view_result and (picture := view_result.plot) else []
    if kind.endswith("groups"):
        comparisons, _ = compare_surveys(snapshot, choices, view)
        return [plot for part in comparisons if part.question.id == id for plot in part.plots]
    parts = build_figures(snapshot.published.survey, cached_results(snapshot, choices.options), view)
    if kind == "noise":
        explanation = find_noise(parts)
        return [explanation.plot] if explanation else []
    if kind == "joint":
        joint = joint_blocks(snapshot.published.survey, cached_results(snapshot, choices.options), view)
        return [block.plot for block in joint if block.plot]
    return [plot for part in parts if part.question.id == id for plot in part.plots]


def _require_choices(slug: str) -> tuple[Snapshot, Choices]:
    """Return the snapshot and the choices of a download.

    Raise Problem for a bad choice, because a file has no place for messages.
    """
    snapshot, choices = read_request(slug)
    if choices.messages:
        raise problem_of_choices(choices.messages)
    return snapshot, choices


@blueprint.get("/results/<slug>/reports.<kind>")
def reports(slug: str, kind: str) -> Response:
    """Return the raw reports of a survey as a file, for accounts with a role. The owner's log records the export."""
    user = reader()
    published = require(user, requested_version(slug), Role.READER)
    if kind not in TYPES:
        raise Problem("not_found", f"Raw data are available as {', '.join(TYPES)}.")
    chunks = _raw_data_chunks(store(), published, kind)
    try:
        first = next(chunks)  # before anything is promised
    except ExportError as error:
        raise Problem("malformed_request", f"{error}.") from None
    if request.method == "GET":
        store().record(published.owner, slug, EventCode.EXPORTED, EventData(format=kind), by=user.key if user else None)
    return download(_chain_chunks(first, chunks), f"{slug}-reports.{kind}", TYPES[kind])


def _raw_data_chunks(kept: Store, published: PublishedSurvey, kind: str) -> Iterator[bytes]:
    """Yield a file of raw data piece by piece. Parquet is written to disk first, so that memory does not grow.

    The first piece is yielded while no read of the store is open. Tidying waits for reads to end, so a read must not
    wait for the record in the log, which is written after the first piece.
    """
    survey = published.survey
    if kind == "parquet":
        with tempfile.TemporaryFile() as file:
            with kept.open_snapshot(published) as (_, rows):
                write_parquet(survey, rows, file)
            file.seek(0)
            while chunk := file.read(CHUNK):
                yield chunk
        return
    yield b""
    with kept.open_snapshot(published) as (tally, rows):
        yield from write_csv_chunks(survey, rows) if kind == "csv" else write_ndjson_chunks(survey, tally.reports, rows)


def _chain_chunks(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from chunks
