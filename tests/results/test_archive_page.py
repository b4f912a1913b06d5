"""The scripts of docs/archive.md, run as they stand there: they come to the unbiased values of the results."""

import contextlib
import io
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from client.definition import Survey
from survey_app.plan.people import draw_people
from survey_app.results.bits import field_bits
from survey_app.results.document import Line, results, table_rows
from survey_app.results.export import csv_chunks
from survey_app.results.spss import write_statistics
from survey_app.results.table import csv_text, results_table
from survey_app.simulate.devices import reports
from survey_app.tally import Bits, Tally, add_bits
from tests.definitions import (
    COIN,
    choice,
    define,
    drawn,
    field,
    geometric,
    multiple,
    number,
    scale,
    subset,
    survey,
    yes_no,
)
from tests.rscript import find_rscript

PAGE = (Path(__file__).parents[2] / "docs" / "archive.md").read_text()
PANDAS, PANDAS_TABLE, PYREADSTAT = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
R, R_TABLE = re.findall(r"^```r\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)

QUESTIONS = [
    yes_no("cheated"),
    choice("help", optional=True),
    scale("fair"),
    scale("calm"),
    multiple("used", optional=True),
    number("spend", levels=7, min="-1.5", max=12, step="1.5", unit="€"),
    choice("many", options=5) | {"text": 'A trap: "mechanism":{"kind":"flip"},"questions":["many"] – ü'},
]
FIELDS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    (COIN, ("cheated",)),
    (subset(4, 1), ("help",)),
    (subset(9, 2), ("fair", "calm")),
    (drawn(4, 2), ("used",)),
    (geometric(7), ("spend",)),
    (subset(5, 2), ("many",)),
]


def everything(ask: bool) -> Survey:
    fields = [
        field(mechanism, *ids, **({"chance": place + 2} if ask else {}))
        for place, (mechanism, ids) in enumerate(FIELDS)
    ]
    return survey(define(QUESTIONS, fields, **({"ask": 1} if ask else {})))


def filled(parsed: Survey, count: int = 3000) -> tuple[Bits, Tally]:
    rng = np.random.default_rng()
    rows = np.concatenate(list(reports(parsed, draw_people(parsed, {}, count, rng), rng)))
    counts = Tally.empty(parsed).counts
    add_bits(counts, rows)
    return rows, Tally(count, counts)


def on_the_page(parsed: Survey, tally: Tally) -> dict[str, float | None]:
    """The unbiased values of the results, by the names that the script prints."""
    document = results(parsed, tally)
    found: dict[str, float | None] = {}

    def keep(name: str, line: Line) -> None:
        found[name] = line.unbiased

    for part in document.questions:
        for line in part.estimates:
            if part.id == "cheated" and line.option == "yes":
                keep("cheated", line)
            elif part.id == "spend":
                keep("spend", line)
            elif part.id == "used":
                keep(f"used:{line.option}:yes", line)
            elif part.id in ("help", "many") and line.kind != "mean":
                keep(f"{part.id}:{line.option}", line)
    for joint in document.joint:
        for line in joint.estimates:
            keep(f"fair+calm:{line.name}", line)
    return found


def printed(text: str) -> dict[str, float]:
    """What a script prints: a name and a number a line."""
    pairs = (line.rsplit("\t", 1) for line in text.splitlines())
    return {name: float(value) for name, value in pairs}


def in_python(script: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    path = file.parent / "script.py"
    path.write_text(script, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", [str(path), str(file)])
    with contextlib.redirect_stdout(io.StringIO()) as said:
        runpy.run_path(str(path))
    return printed(said.getvalue())


def in_r(script: str, file: Path) -> dict[str, float]:
    rscript = find_rscript()
    if rscript is None:
        message = "Rscript is missing; on Debian: apt-get install r-base-core"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    path = file.parent / "script.r"
    path.write_text(script, encoding="utf-8")
    done = subprocess.run(
        [rscript, "--vanilla", str(path), str(file)],
        capture_output=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return printed(done.stdout.decode())


def exported(parsed: Survey, rows: Bits, tmp_path: Path) -> Path:
    file = tmp_path / "exam.csv"
    file.write_bytes(b"".join(csv_chunks(parsed, [rows])))
    (tmp_path / "exam.csv.definition.json").write_bytes(parsed.source)
    return file


@pytest.mark.parametrize("ask", [False, True])
def test_the_pandas_script_comes_to_the_estimates_of_the_page(
    ask: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = everything(ask)
    rows, tally = filled(parsed)
    assert in_python(PANDAS, exported(parsed, rows, tmp_path), monkeypatch) == pytest.approx(
        on_the_page(parsed, tally), abs=1e-9
    )


@pytest.mark.parametrize("ask", [False, True])
def test_the_r_script_comes_to_the_estimates_of_the_page(ask: bool, tmp_path: Path) -> None:
    """In R itself, which `make test` installs where it may; without it the test is skipped, but never in CI."""
    parsed = everything(ask)
    rows, tally = filled(parsed)
    assert in_r(R, exported(parsed, rows, tmp_path)) == pytest.approx(on_the_page(parsed, tally), abs=1e-9)


def tabled(ask: bool, folder: Path) -> tuple[Path, dict[str, float]]:
    """The table of results as a file, and the unbiased value of every line that has a share that was sent."""
    parsed = everything(ask)
    _, tally = filled(parsed)
    document = results(parsed, tally)
    file = folder / "exam-results.csv"
    file.write_text(csv_text(results_table(parsed, document)), encoding="utf-8", newline="")
    lines = table_rows(document.parts)
    found = {f"{name} {which} {line.name}": line.unbiased for which, name, line in lines if line.reported is not None}
    return file, {name: value for name, value in found.items() if value is not None}


@pytest.mark.parametrize("ask", [False, True])
def test_the_pandas_script_needs_only_the_table_of_results(
    ask: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, wanted = tabled(ask, tmp_path)
    assert in_python(PANDAS_TABLE, file, monkeypatch) == pytest.approx(wanted, abs=1e-9)


def test_the_r_script_needs_only_the_table_of_results(tmp_path: Path) -> None:
    file, wanted = tabled(False, tmp_path)
    assert in_r(R_TABLE, file) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("kind", [".sav", ".dta"])
def test_the_pyreadstat_script_needs_the_file_alone(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fields = [field(one, *ids) for one, ids in FIELDS if ids[0] not in ("used", "spend")]
    wanted = [question for question in QUESTIONS if question["id"] not in ("used", "spend")]
    parsed = survey(define(wanted, fields))
    rows, tally = filled(parsed)
    file = tmp_path / f"exam{kind}"
    with file.open("wb") as target:
        write_statistics(parsed, len(rows), [rows], kind, target)
    columns = {bit.variable: bit.column for one in field_bits(parsed) for bit in one.all}
    found = in_python(PYREADSTAT, file, monkeypatch)
    assert {columns[name]: value for name, value in found.items()} == pytest.approx(
        on_the_page(parsed, tally), abs=1e-12
    )
