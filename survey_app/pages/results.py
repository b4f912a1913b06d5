"""The results page: estimates with their intervals, as plots and tables, for whoever may see them.

It works without scripts; with them it asks for the number of reports every ten seconds and fetches itself again when
that has advanced.
"""

import csv
import io
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from flask import Blueprint, Response, jsonify, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from survey_app import charts, methods
from survey_app.caution import UNTRUE, untrue_answers
from survey_app.estimate.fields import LEAST_REPORTS
from survey_app.estimate.tables import PairError
from survey_app.export import ExportError, csv_chunks, ndjson_chunks, neutral, shown, write_parquet
from survey_app.odds import total
from survey_app.pages.api import may_manage, readable, store, version
from survey_app.pages.choices import Choices, query, read
from survey_app.pages.figures import Plot, View, figures, noise, share_format
from survey_app.pages.readings import Snapshot, candidates, compare, cross, crossed_document, document, reader
from survey_app.problems import CONTENT_TYPE, PROBLEMS, Problem
from survey_app.results import NUMBERS, lines
from survey_app.store import STEP, Published, State, Store, now

blueprint = Blueprint("results", __name__)

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "ndjson": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
CHUNK = 2**20


@blueprint.get("/results/<slug>")
def page(slug: str) -> ResponseReturnValue:
    """All questions of a survey, and what the reader wants to compare."""
    snapshot, choices = _wanted(slug)
    published = snapshot.published
    told = _about(snapshot, choices)
    if snapshot.reports < LEAST_REPORTS:
        return render_template("results/empty.html", **told)
    survey, view, found = published.survey, View(choices.options, choices.sample), document(snapshot, choices.options)
    parts = figures(survey, found, view)
    crossed, uncrossed = cross(snapshot, choices, view)
    compared, unmatched = compare(snapshot, choices, view)
    messages = [*choices.messages, *uncrossed, *unmatched]
    setting = methods.Setting(
        choices.options,
        choices.sample,
        told["final"],
        published.invited,
        _stopping(published),
        compared=(crossed.intervals if crossed else 0) + sum(one.intervals for one in compared),
    )
    html = render_template(
        "results.html",
        **told,
        figures=parts,
        noise=noise(parts),
        joint=[(part, share_format(part["estimates"], view)) for part in found["joint"]],
        crossed=crossed,
        compared=compared,
        others=candidates(published),
        messages=messages,
        methods=methods.paragraph(survey, found, setting),
        checklist=methods.checklist(survey, found, setting),
        cautions=methods.cautions(found, setting),
        untrue=untrue_answers(survey, found),
        lies=UNTRUE,
    )
    return html, 400 if messages else 200


def _wanted(slug: str) -> tuple[Snapshot, Choices]:
    """What a request asks for, if it may."""
    snapshot = Snapshot.of(readable(version(slug)))
    return snapshot, read(request.args, snapshot.reports)


def _about(snapshot: Snapshot, choices: Choices) -> dict[str, Any]:
    """What every page about a survey says of it."""
    published, survey = snapshot.published, snapshot.published.survey
    state = published.at(now())
    full = published.max_reports is not None and snapshot.reports >= published.max_reports
    current = store().current(survey.slug)
    return {
        "survey": survey,
        "published": published,
        "questions": {question.id: question for question in survey.questions},
        "reports": snapshot.reports,
        "state": state,
        "full": full,
        "final": state is State.CLOSED or full,
        "older": current is not None and current[1] != survey.digest,
        "step": STEP,
        "choices": choices,
        "query": query,
        "percent": methods.percent,
        "owner": may_manage(reader(), published),
        "total": methods.loss(total(survey)),
        "parquet": find_spec("pyarrow") is not None,
    }


def _stopping(published: Published) -> str:
    """The stopping rule that was published."""
    rules = [f"at {published.closes:%Y-%m-%d %H:%M} UTC"] if published.closes else []
    rules += [f"with {published.max_reports:,} reports"] if published.max_reports else []
    return f"The survey closes {' or '.join(rules)}." if rules else ""


@blueprint.get("/results/<slug>/count")
def count(slug: str) -> Response:
    """How many reports the page would show now: what a live page asks."""
    snapshot, _ = _wanted(slug)
    return jsonify({"reports": snapshot.reports, "state": snapshot.published.at(now())})


@blueprint.get("/results/<slug>.csv")
def table(slug: str) -> Response:
    """Every estimate as a line."""
    snapshot, choices = _checked(slug)
    rows: list[list[Any]] = [["survey", "list", "question", "option", *NUMBERS]]
    for kind, question, option, numbers in lines(document(snapshot, choices.options)):
        rows.append([slug, kind, question, neutral(option), *numbers])
    return _download(_csv(rows), f"{slug}-results.csv", TYPES["csv"])


@blueprint.get("/results/<slug>/crosstab.csv")
def crosstab_table(slug: str) -> Response:
    """Every figure of a cross-tab as a line."""
    snapshot, choices = _checked(slug)
    try:
        found = crossed_document(snapshot, choices.rows, choices.columns, choices.options)
    except PairError as error:
        raise Problem("malformed_request", f"{error}.") from None
    rows: list[list[Any]] = [["list", choices.rows, choices.columns, *NUMBERS]]
    for kind in ("estimates", "within_rows", "differences"):
        for line in found.get(kind, []):
            rows.append([kind, *map(neutral, line["options"]), *(line[key] for key in NUMBERS)])
    return _download(_csv(rows), f"{slug}-{choices.rows}-by-{choices.columns}.csv", TYPES["csv"])


@blueprint.get("/results/<slug>/plots/<name>.svg")
def plot(slug: str, name: str) -> Response:
    """One plot as a file that works alone: `help`, `fair.mean`, `cheated.noise`, and those of comparisons."""
    snapshot, choices = _checked(slug)
    view = View(choices.options, choices.sample, standalone=True)
    found = next((one for one in _plots(snapshot, choices, view, name) if one.name == name), None)
    if found is None:
        raise Problem("not_found", "There is no such plot.")
    return _download(found.svg, f"{slug}-{name.replace('.', '-')}.svg", "image/svg+xml")


def _plots(snapshot: Snapshot, choices: Choices, view: View, name: str) -> list[Plot]:
    """The plots of the question that a name begins with."""
    id, _, kind = name.partition(".")
    if kind == "crosstab":
        crossed, _ = cross(snapshot, choices, view)
        return [crossed.plot] if crossed and crossed.plot else []
    if kind.endswith("strata"):
        compared, _ = compare(snapshot, choices, view)
        return [one for part in compared if part.question.id == id for one in part.plots]
    parts = figures(snapshot.published.survey, document(snapshot, choices.options), view)
    if kind == "noise":
        told = noise(parts)
        return [told.plot] if told else []
    return [one for part in parts if part.question.id == id for one in part.plots]


def _checked(slug: str) -> tuple[Snapshot, Choices]:
    """What a download asks for; a file has no place for messages, so a bad choice is a Problem."""
    snapshot, choices = _wanted(slug)
    if choices.messages:
        raise Problem("malformed_request", " ".join(choices.messages))
    return snapshot, choices


@blueprint.get("/results/<slug>/reports.<kind>")
def reports(slug: str, kind: str) -> Response:
    """The noisy bits with their definition, for the owner; the log keeps that they were taken."""
    published = version(slug)
    user = reader()
    if user is None:
        raise Problem("unauthorized", "Only the owner may take the noisy bits.")
    if not may_manage(user, published):
        raise Problem("forbidden")
    if kind not in TYPES:
        raise Problem("not_found", f"Noisy bits come as {', '.join(TYPES)}.")
    chunks = _bits(store(), published, kind)
    try:
        first = next(chunks)  # before anything is promised
    except ExportError as error:
        raise Problem("malformed_request", f"{error}.") from None
    if request.method == "GET":
        store().record(published.owner, slug, f"exported noisy bits as {kind}")
    return _download(_rest(first, chunks), f"{slug}-reports.{kind}", TYPES[kind])


def _bits(kept: Store, published: Published, kind: str) -> Iterator[bytes]:
    """A file piece by piece; Parquet is written to disk first, so memory does not grow with the reports either."""
    survey = published.survey
    if kind == "parquet":
        with tempfile.TemporaryFile() as file:
            with shown(kept, published) as (_, rows):
                write_parquet(survey, rows, file)
            file.seek(0)
            while chunk := file.read(CHUNK):
                yield chunk
        return
    with shown(kept, published) as (tally, rows):
        yield from csv_chunks(survey, rows) if kind == "csv" else ndjson_chunks(survey, tally.reports, rows)


def _rest(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from chunks


def _csv(rows: list[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _download(body: str | Iterator[bytes], name: str, kind: str) -> Response:
    """A file to keep, under a sensible name."""
    return Response(body, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@blueprint.get("/charts.css")
def style() -> Response:
    """The look of plots on a page; on paper they are always dark on light."""
    look = charts.STYLE.replace("@media (prefers", "@media screen and (prefers")
    return Response(look, content_type="text/css; charset=utf-8", headers={"Cache-Control": "no-cache"})


@blueprint.errorhandler(Problem)
def refused(problem: Problem) -> ResponseReturnValue:
    """A helpful page for each refusal; who is not signed in is asked to."""
    if request.endpoint == "results.count":
        return Response(problem.body(), problem.status, content_type=CONTENT_TYPE)
    if problem.code == "unauthorized" and "Authorization" not in request.headers:
        wanted = request.full_path if request.query_string else request.path
        return redirect(url_for("auth.sign_in", next=wanted))
    title = PROBLEMS[problem.code][1]
    page = render_template("results/refused.html", code=problem.code, title=title, detail=problem.detail)
    return page, problem.status
