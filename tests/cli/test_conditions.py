"""`simulate` names the condition that is not met before it asks, and the terminal names every fault of a file."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from survey_app.store import State
from tests.definitions import simple
from tests.fixtures import HOUR, Installation, build

TICKETS = {"key": "_" * 511 + "9"}  # as long and as odd as a key has to be; nobody signs with it


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """An installation whose database is where `run` looks for it."""
    built = build(tmp_path)
    yield built
    built.close()


@pytest.mark.parametrize(
    ("definition", "options", "says"),
    [
        ({}, {"state": State.READY}, "exam is not open yet: candor survey open exam opens it"),
        ({}, {"opens": datetime.now(UTC) + 24 * HOUR}, "exam is not open yet: it opens at "),
        ({}, {"closes": datetime.now(UTC) - HOUR}, "exam is closed, for good"),
        ({"tickets": TICKETS}, {}, "publish a copy of its file without the line invitations in a database of its own"),
        ({}, {"state": State.PAUSED}, "exam is paused"),
    ],
)
def test_simulate_says_which_condition_is_not_met_and_asks_nothing(
    run: Any, installation: Installation, definition: dict[str, Any], options: dict[str, Any], says: str
) -> None:
    installation.publish(simple() | definition, **options)
    done = run("simulate", "exam", "--respondents", "10", text="y\n")
    assert done.exit_code == 1
    assert says in done.output and "Nothing was added" in done.output
    assert "for good?" not in done.output


def test_simulate_says_that_a_survey_is_full_and_before_that_how_many_it_took(
    run: Any, installation: Installation
) -> None:
    installation.publish(simple(), max_reports=30)
    done = run("simulate", "exam", "--respondents", "50", "--yes")
    assert "30 reports were added" in done.output
    assert "20 were refused: exam is full: it has all the 30 reports" in done.output
    assert "exam is full" in run("simulate", "exam", "--respondents", "1").output


def test_simulate_goes_on_where_every_condition_is_met(run: Any, installation: Installation) -> None:
    installation.publish(simple(), closes=datetime.now(UTC) + timedelta(days=1))
    assert "5 reports were added" in run("simulate", "exam", "--respondents", "5", "--yes").output


FAULTY = "slug: x y\ntitle: ''\nquestions: []\n"
SEVERAL = """\
slug: Exam
title: Exam
epsilon: 4
closes: tomorrow
questions:
  - {id: a, type: choice, text: A?, options: [x]}
  - {id: c, type: number, text: C?, min: 9, max: 1}
"""


@pytest.mark.parametrize("command", [("survey", "build"), ("survey", "add"), ("plan",)], ids=" ".join)
def test_the_terminal_names_every_fault_of_a_file(run: Any, tmp_path: Path, command: tuple[str, ...]) -> None:
    file = tmp_path / "survey.yaml"
    file.write_text(SEVERAL)
    done = run(*command, str(file))
    assert done.exit_code == 1
    lines = done.output.splitlines()
    assert lines[0] == f"Error: {file}: 4 errors"
    assert {line.strip().partition(": ")[0] for line in lines[1:]} == {
        "line 1, slug", "line 4, closes", "line 6, questions[0].options", "line 7, questions[1].max",
    }  # fmt: skip


def test_a_file_without_questions_is_told_its_other_faults_too(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "survey.yaml"
    file.write_text(FAULTY)
    said = run("survey", "build", str(file)).output
    assert "3 errors" in said
    assert "slug: must be" in said and "title: is empty" in said and "no question yet" in said


def test_a_json_file_is_told_its_faults_as_json(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "survey.json"
    file.write_text(
        '{"slug": "x y", "title": "", "epsilon": 2, "questions": [{"id": "a", "type": "yes_no", "text": "A"}]}'
    )
    assert "2 errors" in run("survey", "build", str(file)).output


def test_one_fault_is_one_line(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "survey.yaml"
    file.write_text("slug: a\ntitle: b\nepsilon: 100\nquestions:\n- {id: a, type: yes_no, text: A}\n")
    (line,) = run("survey", "build", str(file)).output.splitlines()
    assert "above 40 nothing is protected" in line
