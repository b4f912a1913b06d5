"""What a reader takes along: every plot and every line as a file, and for the owner the raw data."""

import csv
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow.parquet
import pytest

from survey_app.results.export import write_csv_chunks, write_ndjson_chunks
from survey_app.store import STEP, EventCode, PublishedSurvey
from tests.web.results.results_fixtures import (
    EVIL,
    LISTS,
    NUMBERS,
    Installation,
    campus,
    fill,
    hostile_survey,
    parse_svg,
    plot_rows,
)


@pytest.mark.parametrize("slug", ["campus", "others"])
def test_each_plot_is_a_file_that_says_the_same(installation: Installation, slug: str) -> None:
    page = installation.page(
        f"/results/{slug}?confidence=0.9&rows={'fair' if slug == 'campus' else 'left'}&columns={'cheated' if slug == 'campus' else 'right'}"
    )
    figures = page.all("figure")
    assert len(figures) >= 8
    for figure in figures:
        address = figure.one("a").attributes["href"]
        answer = installation.get(address)
        assert answer.content_type == "image/svg+xml"
        name = re.fullmatch(r'attachment; filename="([a-z0-9_-]+\.svg)"', answer.headers["Content-Disposition"])
        assert name and name[1].startswith(f"{slug}-")
        alone = parse_svg(answer.text)
        assert alone.find("{http://www.w3.org/2000/svg}style") is not None
        titles = [
            one.findtext("{http://www.w3.org/2000/svg}title")
            for one in alone.iter("{http://www.w3.org/2000/svg}g")
            if one.get("class") == "row"
        ]
        assert titles == plot_rows(figure.one("svg"))
    installation.get(f"/results/{slug}/plots/nothing.svg", 404)
    installation.get(f"/results/{slug}/plots/fair.svg?confidence=7", 400)


WORDS = ("kind", "coverage", "sample_coverage", "method")


def test_csv_texts_are_no_formulas_and_numbers_stay_numbers(fresh: Installation) -> None:
    fresh.add(hostile_survey(), 60)
    for address in ("/results/evil.csv", "/results/evil/crosstab.csv?rows=pick&columns=rate"):
        rows = list(csv.DictReader(io.StringIO(fresh.get(address).text)))
        assert any(EVIL in cell for row in rows for cell in row.values())
        negative = 0
        for row in rows:
            for key, cell in row.items():
                if key in NUMBERS and key not in WORDS and cell:
                    negative += float(cell) < 0
                else:
                    assert not cell.startswith(("=", "+", "-", "@"))
        assert negative > 0


def test_the_csv_has_every_line_of_the_api(installation: Installation) -> None:
    answer = installation.get("/results/campus.csv?confidence=0.8")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="campus-results.csv"'
    assert answer.content_type.startswith("text/csv")
    rows = iter(csv.DictReader(io.StringIO(answer.text)))
    document = json.loads(installation.get("/api/surveys/campus/results?confidence=0.8").text)
    for part in [*document["questions"], *document["joint"]]:
        for kind in LISTS:
            for line in part.get(kind, []):
                row = next(rows)
                assert row["list"] == kind
                for key in NUMBERS:
                    assert row[key] == ("" if line.get(key) is None else str(line[key]))
    assert not list(rows)
    installation.get("/results/campus.csv?confidence=5", 400)


@pytest.mark.parametrize("slug", ["campus", "others"])
def test_the_csv_names_its_survey_and_has_the_chances_behind_every_reported_share(
    installation: Installation, slug: str
) -> None:
    """p and q lead from what was reported to the unbiased estimate; where nothing was, there are none."""
    rows = list(csv.DictReader(io.StringIO(installation.get(f"/results/{slug}.csv").text)))
    document = json.loads(installation.get(f"/api/surveys/{slug}/results").text)
    assert {(row["slug"], row["digest"]) for row in rows} == {(slug, document["survey"])}
    for row in rows:
        assert bool(row["p"]) == bool(row["q"]) == bool(row["reported"])
        if row["reported"]:
            p, q, share = (float(row[key]) for key in ("p", "q", "reported"))
            assert (share - q) / (p - q) == pytest.approx(float(row["unbiased"]), abs=1e-12)
    told = {row["option"]: (row["p"], row["q"]) for row in rows if row["question"] == "cheated"}
    assert told == ({"no": ("0.75", "0.25"), "yes": ("0.75", "0.25")} if slug == "campus" else {})
    empty = {row["kind"] if row["list"] == "estimates" else row["list"] for row in rows if not row["p"]}
    assert {"mean", "answered"} <= empty


def test_nothing_is_written_while_raw_data_are_read(fresh: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tidying waits for readers, and writers wait for tidying."""
    fresh.add(campus(), 2 * STEP)
    shown, record, seen = fresh.store.open_snapshot, fresh.store.record, list[str]()

    @contextmanager
    def watched(published: PublishedSurvey) -> Iterator[Any]:
        seen.append("begin")
        with shown(published) as read:
            yield read
        seen.append("end")

    def noted(*event: Any, by: int | None) -> None:
        seen.append("write")
        record(*event, by=by)

    monkeypatch.setattr(fresh.store, "open_snapshot", watched)
    monkeypatch.setattr(fresh.store, "record", noted)
    for kind, order in (("csv", "write begin end"), ("ndjson", "write begin end"), ("parquet", "begin end write")):
        assert fresh.get(f"/results/campus/reports.{kind}", name="ada").data
        assert " ".join(seen) == order
        seen.clear()


def test_the_owner_takes_raw_data_and_the_log_keeps_it(fresh: Installation) -> None:
    published = fresh.add(campus(), 3 * STEP + 7)
    with fresh.store.open_snapshot(published) as (tally, rows):
        chunks = list(rows)
    assert tally.reports == 3 * STEP + 7
    before = len(fresh.store.events(fresh.ada.key))
    answer = fresh.get("/results/campus/reports.csv", name="ada")
    assert answer.data == b"".join(write_csv_chunks(published.survey, chunks))
    assert answer.headers["Content-Disposition"] == 'attachment; filename="campus-reports.csv"'
    answer = fresh.get("/results/campus/reports.ndjson", name="ada")
    assert answer.data == b"".join(write_ndjson_chunks(published.survey, tally.reports, chunks))
    answer = fresh.get("/results/campus/reports.parquet", name="ada")
    table = pyarrow.parquet.read_table(io.BytesIO(answer.data))
    assert table.num_rows == tally.reports
    assert table.schema.metadata[b"candor.digest"].decode() == published.survey.digest
    events = fresh.store.events(fresh.ada.key, "campus")
    assert [event.code for event in events[:3]] == [EventCode.EXPORTED] * 3
    assert [event.data.format for event in events[:3]] == ["parquet", "ndjson", "csv"]
    assert len(fresh.store.events(fresh.ada.key)) == before + 3
    assert fresh.client("ada").head("/results/campus/reports.csv").status_code == 200
    fresh.get("/results/campus/reports.csv", 403, name="bob")
    fresh.get("/results/campus/reports.csv", 302)
    fresh.get("/results/campus/reports.exe", 404, name="ada")
    assert len(fresh.store.events(fresh.ada.key)) == before + 3
    assert fresh.page("/results/campus", name="ada").text.count("Raw data as") == 3
    assert "Raw data as" not in fresh.page("/results/campus", name="bob").text


def test_reports_that_wait_for_their_step_are_not_exported(fresh: Installation) -> None:
    published = fresh.add(campus())
    for _ in range(2 * STEP + 5):
        fill(fresh.store, published, 1)
    lines = fresh.get("/results/campus/reports.ndjson", name="ada").data.splitlines()
    assert len(lines) == 1 + STEP


def test_without_pyarrow_parquet_is_not_offered(fresh: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    fresh.add(campus(), 40)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "Parquet" not in fresh.page("/results/campus", name="ada").one("section", aria_labelledby="downloads").text
    page = fresh.page("/results/campus/reports.parquet", 400, name="ada")
    assert "needs pyarrow" in page.text
    assert not [event for event in fresh.store.events(fresh.ada.key) if event.data.format == "parquet"]
