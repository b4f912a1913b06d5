"""The capture of what Candor writes: the same commit gives the same tree, and a changed product another one."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from survey_app.authoring.diagnostics import check
from survey_app.estimate import quantiles
from survey_app.estimate import question_estimates as estimates
from survey_app.kinds.question_kind import SingleAnswer
from survey_app.results import csv_columns, survey_document
from tests import author_files, product
from tests.capture import Task, capture_definition, capture_file, perform
from tests.capture_case import list_crashes, make_random
from tests.capture_text import choose_examples, compare, format_body, list_files, round_numbers
from tests.module_graph import ROOT

NUMBER = 44  # a definition with one scale: shares, a mean and quartiles, of 2,000 reports
INVITED = 194  # an author's file by invitation, with 2,000 reports
Plant = Callable[[], Any]


# Random author's files


def test_every_key_of_the_page_on_authoring_occurs_in_some_file() -> None:
    page = (ROOT / "docs" / "authoring.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|(?=.*\|.*\|.*\|.*\|$)", page, re.MULTILINE)
    contents = [author_files.draw_content(make_random(f"file {number}")) for number in range(300)]
    assert {*rows} - {*list_keys(contents)} == set()


def list_keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from list_keys(item)


@pytest.mark.slow
def test_about_one_file_in_eight_is_refused() -> None:
    """The files are always the same; binomial(300, 1/8) has a standard deviation of 5.7."""
    texts = [author_files.write_file(make_random(f"file {number}")) for number in range(300)]
    refused = sum(bool(check(text.encode()).faults) for text in texts)
    assert 24 <= refused <= 51


# Planted changes


@contextmanager
def plant_estimates(change: Callable[[estimates.Estimate], estimates.Estimate]) -> Iterator[None]:
    real = estimates.family_estimates

    def estimate(*given: Any) -> list[estimates.Estimate]:
        return [change(line) for line in real(*given)]

    with patch.object(survey_document, "family_estimates", estimate):
        yield


def plant_mean() -> Any:
    return plant_estimates(
        lambda line: replace(line, estimate=line.estimate + 1e-9) if line.kind == "mean" else line,
    )


def plant_count() -> Any:
    return plant_estimates(lambda line: replace(line, n=line.n + 1))


def plant_quartile() -> Any:
    return patch.object(quantiles, "QUARTILES", (0.25, 0.75))


@contextmanager
def plant_label() -> Iterator[None]:
    real = SingleAnswer.answers

    def swap(kind: SingleAnswer, question: Any) -> Sequence[str]:
        first, second, *others = real(kind, question)
        return [second, first, *others]

    with patch.object(SingleAnswer, "answers", swap):
        yield


@contextmanager
def plant_column() -> Iterator[None]:
    def swap(names: Sequence[str]) -> tuple[str, ...]:
        return tuple({"low": "high", "high": "low"}.get(name, name) for name in names)

    with (
        patch.object(csv_columns, "COLUMNS", swap(csv_columns.COLUMNS)),
        patch.object(csv_columns, "HEAD", swap(csv_columns.HEAD)),
    ):
        yield


PLANTED: dict[str, tuple[Plant, tuple[str, ...]]] = {
    "a mean + 1e-9": (plant_mean, ("exam/results.json", "exam/results.csv", "exam/command/results-json.txt")),
    "a dropped quartile": (plant_quartile, ("exam/results.json", "exam/results/page.html", "exam/command/results.txt")),
    "a swapped label": (plant_label, ("exam/results.json", "exam/results.csv", "exam/results/page.html")),
    "a column's order": (plant_column, ("exam/results.csv", "exam/command/results-csv.txt")),
    "a wrong n": (plant_count, ("exam/results.json", "exam/results.csv", "exam/results/page.html")),
}


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("captured") / "unchanged"
    assert perform(Task(capture_definition, out, (NUMBER,))) == ""
    return out


def test_a_second_capture_shows_no_difference(captured: Path, tmp_path: Path) -> None:
    assert perform(Task(capture_definition, tmp_path / "again", (NUMBER,))) == ""
    assert compare(captured, tmp_path / "again") == []


@pytest.mark.slow
@pytest.mark.parametrize("change", PLANTED)
def test_a_planted_change_is_found_where_it_is(captured: Path, tmp_path: Path, change: str) -> None:
    plant, expected = PLANTED[change]
    with plant():
        assert perform(Task(capture_definition, tmp_path / "changed", (NUMBER,))) == ""
    names = compare(captured, tmp_path / "changed")
    assert {*expected} <= {*names}
    assert "exam/definition.json" not in names


def test_the_results_of_an_invited_survey_are_captured_once_its_date_is_over(tmp_path: Path) -> None:
    assert perform(Task(capture_file, tmp_path, (INVITED,))) == ""
    slug = re.search(r'slug: "(\w+)"', (tmp_path / "survey.yaml").read_text())
    assert slug is not None
    withheld, results = ((tmp_path / name / "results.json").read_text() for name in ("withheld", slug[1]))
    assert '"estimate"' not in withheld
    assert '"reports": 2000' in results and '"estimate"' in results
    assert list_crashes(tmp_path) == []


# How it is written down


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3.2000000010000004 and 3.2", "3.200000001 and 3.2"),
        ("0.30000000000000004", "0.3"),
        ("1.5e-07 2.0000000000000001e-17", "1.5e-07 2e-17"),
        ("127.0.0.1 v1.123456789012345.6", "127.0.0.1 v1.123456789012345.6"),
    ],
)
def test_numbers_have_twelve_significant_digits(text: str, expected: str) -> None:
    assert round_numbers(text) == expected


def test_a_json_document_keeps_its_order_and_its_strings() -> None:
    text = format_body("/x", "application/json", b'{"b":0.30000000000000004,"a":"0.30000000000000004"}')
    assert text == '{\n "b": 0.3,\n "a": "0.30000000000000004"\n}'


def test_one_file_of_each_name_is_described() -> None:
    assert choose_examples(["a/x", "a/y", "b/x", "c/z"]) == ["a/x", "a/y", "c/z"]


def test_rows_of_reports_have_no_order() -> None:
    bodies = [
        format_body("/results/x/reports.csv", "text/csv", rows) for rows in (b"a,b\n0,1\n1,0\n", b"a,b\n1,0\n0,1\n")
    ]
    assert bodies[0] == bodies[1] != format_body("/results/x.csv", "text/csv", b"a,b\n0,1\n1,0\n")


# The command

NOT_REQUESTED = {  # scripts and style sheets are sources; metrics depend on the time
    "api.metrics", "assets.chart_style", "assets.favicon", "assets.form_script", "assets.script", "assets.static",
}  # fmt: skip
NOT_RUN = {  # servers, other machines, mail, copies of stores, and trials that take long; their help is captured
    "audit", "backup", "copy", "demo", "doctor", "issuer add", "issuer close", "issuer invite", "issuer invited",
    "issuer key", "issuer serve", "restore", "serve", "survey mail", "token revoke", "user password",
}  # fmt: skip


def start(*words: str, folder: Path, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.capture", *words]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.Popen(command, cwd=folder, env=variables, stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    with process:
        try:
            output, _ = process.communicate(timeout=300)
        finally:
            process.kill()
        return process.returncode, output


@pytest.mark.slow
def test_the_command_captures_every_page_and_command_twice_the_same(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    small = ("--size", "tiny", "--workers", "1")
    runs = (
        start(*small, "a", folder=tmp_path, PYTHONHASHSEED="1", TZ="Asia/Tokyo"),
        start(*small, str(tmp_path / "b"), folder=elsewhere, PYTHONHASHSEED="2", CANDOR_DB="sqlite:///x"),
    )
    assert [finish(process)[0] for process in runs] == [0, 0]
    assert finish(start("--compare", "a", "b", folder=tmp_path)) == (0, "no difference\n")

    tree = tmp_path / "a"
    assert list_crashes(tree) == []
    tops = [(tree / name).read_text().split("\n")[0] for name in list_files(tree)]
    assert list_unrequested(tops, tmp_path / "server") == NOT_REQUESTED
    assert list_unrun(tops) == NOT_RUN

    file = tree / "help" / "candor.txt"
    file.write_text(file.read_text().replace("Usage: candor", "Usage: other"))
    (tree / "once" / "pages" / "openapi.json").unlink()
    code, output = finish(start("--compare", "a", "b", folder=tmp_path))
    assert code == 1
    assert "help/candor.txt\n" in output and "once/pages/openapi.json\n  only in b\n" in output
    assert compare(tree, tmp_path / "b", r"Usage: \w+") == ["once/pages/openapi.json"]
    assert finish(start("a", folder=tmp_path))[0] == 2  # it is not empty
    assert finish(start("--compare", "a", "nothing", folder=tmp_path))[0] == 2


def list_unrequested(tops: Sequence[str], folder: Path) -> set[str]:
    """Return the endpoints of pages of which no reply was captured but an error."""
    folder.mkdir()
    server = product.start_server(folder)
    try:
        routes = server.app.url_map
        pages = {rule.endpoint for rule in routes.iter_rules() if rule.methods and "GET" in rule.methods}
        paths = [top.split()[2].partition("?")[0] for top in tops if re.match(r"[23]\d\d GET /", top)]
        local = routes.bind("localhost")
        return pages - {local.match(path)[0] for path in paths if not path.startswith("/demo")}
    finally:
        server.close()


def list_unrun(tops: Sequence[str]) -> set[str]:
    """Return the commands of which only the help was captured."""
    names = [*product.list_commands()]
    commands = {" ".join(words) for words in names if not any(other[:-1] == words for other in names)}
    runs = [f"{top} " for top in tops if top.startswith("candor ") and not top.endswith(" --help")]
    return {command for command in commands if not any(run.startswith(f"candor {command} ") for run in runs)}
