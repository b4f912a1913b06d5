"""A study on the command line: one name for all groups."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from survey_app.cli import main
from survey_app.cli.exit_codes import CALLED_WRONGLY, NOT_DONE
from survey_app.store import State
from survey_app.store.sqlite import SqliteStore
from tests.golden_files import Golden

Run = Callable[..., Result]
STUDY = """\
slug: work
title: Life at work
epsilon: 2
results: public
groups:
  north: {label: North, size: 12000}
  south: {label: South, size: 8000}
questions:
  - {id: slept, type: yes_no, text: Did you sleep well?}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    return path


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, ["--db", f"sqlite:///{tmp_path}/candor.db", *arguments])

    assert CliRunner().invoke(main, ["--db", f"sqlite:///{tmp_path}/candor.db", "user", "add", "ada"], input="a long password\na long password\n").exit_code == 0  # fmt: skip
    return invoke


@pytest.fixture
def store(tmp_path: Path, run: Run) -> SqliteStore:
    return SqliteStore(tmp_path / "candor.db")


def test_the_whole_life_of_a_study(run: Run, file: Path, store: SqliteStore) -> None:
    added = run("survey", "add", str(file), "--later")
    assert added.exit_code == 0, added.output
    assert added.output.startswith("work  ready  Life at work, 2 groups\n")
    for group in store.study("work"):
        assert f"link     /s/{group.survey.slug}#sha256={group.survey.digest}" in added.output
    assert "North, 12,000 people" in added.output
    assert run("survey", "show", "work").output == added.output.partition("\nadvice")[0]
    assert "work is open" in run("survey", "open", "work").output
    assert {group.state for group in store.study("work")} == {State.OPEN}
    assert "1000 reports were added" in run("simulate", "work", "--respondents", "1000", "--yes").output
    counts = [json.loads(run("survey", "check", f"work-{name}", "--json").stdout) for name in ("north", "south")]
    assert [one["reports"] for one in counts] == [600, 400]
    (line,) = run("survey", "list").output.splitlines()
    assert line.split()[:3] == ["work", "open", "960"] and line.endswith("Life at work (2 groups)")
    assert run("survey", "pause", "work").exit_code == 0
    assert {group.state for group in store.study("work")} == {State.PAUSED}
    assert run("survey", "open", "work").exit_code == 0
    assert run("survey", "close", "work-south", "--yes").exit_code == 0
    assert {group.state for group in store.study("work")} == {State.CLOSED}
    assert json.loads(run("results", "work", "--json").stdout)["groups"][0]["reports"] == 600
    assert run("survey", "delete", "work", "--yes").exit_code == 0
    assert store.study("work") == [] and store.newest_version("work-north") is None


def test_results_of_a_study_for_people_and_programs(run: Run, file: Path, golden: Golden) -> None:
    run("survey", "add", str(file))
    run("simulate", "work", "--respondents", "1000", "--yes")
    said = run("results", "work").output
    assert said.startswith("Life at work (work)\n960 reports in 2 groups; 95% intervals")
    assert "all groups" in said and "South - North" in said
    document = json.loads(run("results", "work", "--json").stdout)
    assert (document["study"], [one["size"] for one in document["groups"]]) == ("work", [12000, 8000])
    rows = list(csv.DictReader(io.StringIO(run("results", "work", "--csv").stdout)))
    assert {row["group"] for row in rows} == {"North", "South", "all groups", "South - North"}
    for option, value in (("population", "90000"), ("digest", "0" * 64), ("total", "slept=yes")):
        refused = run("results", "work", f"--{option}", value)
        assert refused.exit_code == NOT_DONE and refused.stdout == ""
        golden(refused.output, option)


def test_weights_of_ones_own_take_the_place_of_sizes(run: Run, file: Path, tmp_path: Path) -> None:
    run("survey", "add", str(file))
    run("simulate", "work", "--respondents", "1000", "--yes")
    weights = tmp_path / "weights.yaml"
    weights.write_text("work-north: 1\nwork-south: 3\n")
    document = json.loads(run("results", "work", "--weights", str(weights), "--json").stdout)
    assert document["total"]["weights"] == {"North": 0.25, "South": 0.75}


def test_terms_are_those_of_all_groups_and_sizes_each_ones_own(run: Run, file: Path, store: SqliteStore) -> None:
    run("survey", "add", str(file))
    assert run("survey", "set", "work", "--results", "private", "--size", "north=500").exit_code == 0
    assert [(one.terms.public, one.terms.size) for one in store.study("work")] == [(False, 500), (False, 8000)]
    for said, named in (("west=3", "north, south"), ("north=0", "north=1200"), ("north", "north=1200")):
        refused = run("survey", "set", "work", "--size", said)
        assert (refused.exit_code, named in refused.output) == (NOT_DONE, True), refused.output
    assert run("survey", "set", "work").exit_code == CALLED_WRONGLY


def test_sizes_are_for_all_groups_or_for_none(run: Run, file: Path, store: SqliteStore) -> None:
    file.write_text(STUDY.replace(", size: 12000", "").replace(", size: 8000", ""))
    run("survey", "add", str(file))
    refused = run("survey", "set", "work", "--size", "north=3")
    assert refused.exit_code == NOT_DONE and "south" in refused.output and "north" not in refused.output
    assert [one.terms.size for one in store.study("work")] == [None, None]
    assert run("survey", "set", "work", "--size", "north=3", "--size", "south=1").exit_code == 0
    assert [one.terms.size for one in store.study("work")] == [3, 1]
    assert "120 reports were added" in run("simulate", "work", "--respondents", "120", "--yes").output


def test_what_is_of_one_survey_asks_for_one_group(run: Run, file: Path, golden: Golden) -> None:
    run("survey", "add", str(file))
    for command in (("crosstab", "work", "slept", "slept"), ("export", "work", "x.csv"), ("survey", "check", "work")):
        refused = run(*command)
        assert refused.exit_code == NOT_DONE and "work-north, work-south" in refused.stderr
        golden(refused.output, command[0])
