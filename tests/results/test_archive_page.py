"""The scripts of docs/archive.md, and the one in R that it names, run as they stand: they come to what the results say."""

import contextlib
import io
import math
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from candor_client.definition import Survey
from survey_app.assure.simulation.devices import reports
from survey_app.plan.simulated_people import draw_people
from survey_app.results.bit_meanings import field_bits
from survey_app.results.csv_columns import format_csv, results_table
from survey_app.results.export import write_csv_chunks
from survey_app.results.spss import write_statistics_file
from survey_app.results.survey_document import Line, results, table_rows
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

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "archive.md").read_text()
PANDAS, PANDAS_TABLE, PYREADSTAT = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
(R_TABLE,) = re.findall(r"^```r\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
REANALYSIS = ROOT / "examples" / "reanalysis.R"

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


def in_r(script: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    """A script in R itself, which `make test` installs where it may; without it the test is skipped, but never in CI."""
    rscript = find_rscript()
    if rscript is None:
        message = "Rscript is missing; on Debian: apt-get install r-base-core"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return subprocess.run(
        [rscript, "--vanilla", str(script), *map(str, files)],
        capture_output=True, check=False, encoding="utf-8", env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip


def exported(parsed: Survey, rows: Bits, tmp_path: Path) -> Path:
    file = tmp_path / "exam.csv"
    file.write_bytes(b"".join(write_csv_chunks(parsed, [rows])))
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
def test_the_r_script_comes_to_the_estimates_and_intervals_of_the_page(ask: bool, tmp_path: Path) -> None:
    parsed = everything(ask)
    rows, tally = filled(parsed)
    document = results(parsed, tally)
    table = tmp_path / "results.csv"
    table.write_text(format_csv(results_table(parsed, document)), encoding="utf-8", newline="")
    done = in_r(REANALYSIS, exported(parsed, rows, tmp_path), table)
    assert done.returncode == 0, done.stderr
    lines = {(name, line.name): line for which, name, line in table_rows(document.parts) if which == "estimates"}
    found = [line.split("\t") for line in done.stdout.splitlines() if not line.startswith("#")]
    assert {question for question, *_ in found} == {"cheated", "help", "fair + calm", "used", "spend", "many"}
    for question, option, n, *figures in found:
        line = lines[question, option]
        assert int(n) == line.n
        value, low, high = map(float, (one.replace("NA", "nan") for one in figures))
        assert value == pytest.approx(line.unbiased, abs=1e-6), (question, option)
        if line.kind != "mean":  # an interval of the page reaches to the displayed point
            reaching = [min(low, line.estimate), max(high, line.estimate)]
            assert reaching == pytest.approx([line.low, line.high], abs=1e-6), (question, option)


def test_the_r_script_refuses_other_results_and_says_what_rrreg_would(tmp_path: Path) -> None:
    parsed = survey(define(QUESTIONS[:1], [field(*FIELDS[0][:1], "cheated")]))
    rows, tally = filled(parsed)
    document = results(parsed, tally)
    table, bits = tmp_path / "results.csv", exported(parsed, rows, tmp_path)
    text = format_csv(results_table(parsed, document))
    (yes,) = (line for _, _, line in table_rows(document.parts) if line.name == "yes")
    table.write_text(text.replace(str(yes.high), str(yes.high + 2e-6)), encoding="utf-8", newline="")
    done = in_r(REANALYSIS, bits, table)
    assert done.returncode != 0 and "not the same" in done.stderr
    reported = int(tally.counts[0]) / tally.reports
    error = math.sqrt(reported * (1 - reported) / ((tally.reports - 1) * 0.5**2))
    (told,) = re.findall(r"p = 0.7500: cheated (\S+), standard error (\S+)", done.stdout)
    assert [float(one) for one in told] == pytest.approx([2 * reported - 0.5, error], abs=1e-9)


def tabled(ask: bool, folder: Path) -> tuple[Path, dict[str, float]]:
    """The table of results as a file, and the unbiased value of every line that has a share that was sent."""
    parsed = everything(ask)
    _, tally = filled(parsed)
    document = results(parsed, tally)
    file = folder / "exam-results.csv"
    file.write_text(format_csv(results_table(parsed, document)), encoding="utf-8", newline="")
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
    script = tmp_path / "script.r"
    script.write_text(R_TABLE, encoding="utf-8")
    assert printed(in_r(script, file).stdout) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("ask", [False, True])
@pytest.mark.parametrize("kind", [".sav", ".dta"])
def test_the_pyreadstat_script_needs_the_file_alone(
    kind: str, ask: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a device answers one block, and is asked about some options: what was not asked is missing."""
    parsed = everything(ask)
    rows, tally = filled(parsed)
    file = tmp_path / f"exam{kind}"
    with file.open("wb") as target:
        write_statistics_file(parsed, len(rows), [rows], kind, target)
    columns = {bit.variable: bit.column for one in field_bits(parsed) for bit in one.all_bits}
    found = in_python(PYREADSTAT, file, monkeypatch)
    wanted = on_the_page(parsed, tally)
    del wanted["spend"]  # a mean, of scores
    assert {columns[name]: value for name, value in found.items()} == pytest.approx(wanted, abs=1e-12)
