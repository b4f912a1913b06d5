"""`simulate` names the condition that is not met before it asks, and the terminal names every fault of a file."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from survey_app.store import State
from tests.definitions import simple
from tests.fixtures import HOUR, Installation, build
from tests.golden_files import Golden

TICKETS = {"key": "_" * 511 + "9"}  # as long and as odd as a key has to be; nobody signs with it


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """An installation whose database is where `run` looks for it."""
    built = build(tmp_path)
    yield built
    built.close()


LATER = datetime(2099, 12, 1, tzinfo=UTC)
CONDITIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ready": ({}, {"state": State.READY}),
    "opens later": ({}, {"opens": LATER}),
    "closed": ({}, {"closes": datetime.now(UTC) - HOUR}),
    "tickets": ({"tickets": TICKETS}, {}),
    "paused": ({}, {"state": State.PAUSED}),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_simulate_says_which_condition_is_not_met_and_asks_nothing(
    run: Any, installation: Installation, name: str, golden: Golden
) -> None:
    definition, options = CONDITIONS[name]
    installation.publish(simple() | definition, **options)
    done = run("simulate", "exam", "--respondents", "10", text="y\n")
    assert (done.exit_code, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1, "nothing was asked"
    golden(done.stderr)


def test_simulate_says_that_a_survey_is_full_and_before_that_how_many_it_took(
    run: Any, installation: Installation, golden: Golden
) -> None:
    published = installation.publish(simple(), max_reports=30)
    done = run("simulate", "exam", "--respondents", "50", "--yes")
    assert done.exit_code == 1 and installation.store.snapshot(published).reports == 30
    golden(done.output)
    full = run("simulate", "exam", "--respondents", "1")
    assert (full.exit_code, full.stdout) == (1, "")
    golden(full.stderr, "full")


def test_simulate_goes_on_where_every_condition_is_met(run: Any, installation: Installation) -> None:
    published = installation.publish(simple(), closes=datetime.now(UTC) + timedelta(days=1))
    assert run("simulate", "exam", "--respondents", "45", "--yes").exit_code == 0
    assert installation.store.recount(published, lambda count: None)[1].reports == 45


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
    head, *lines = done.output.splitlines()
    assert str(file) in head and f" {len(lines)} " in head
    assert {line.strip().partition(": ")[0] for line in lines} == {
        "line 1, slug", "line 4, closes", "line 6, questions[0].options", "line 7, questions[1].max",
    }  # fmt: skip


FAULTY = b"slug: x y\ntitle: ''\nquestions: []\n"
FAULTY_JSON = b'{"slug": "x y", "title": "", "epsilon": 2, "questions": [{"id": "a", "type": "yes_no", "text": "A"}]}'
UNPROTECTED = b"slug: a\ntitle: b\nepsilon: 100\nquestions:\n- {id: a, type: yes_no, text: A}\n"


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [("faulty.yaml", FAULTY, 4), ("faulty.json", FAULTY_JSON, 3), ("unprotected.yaml", UNPROTECTED, 1)],
)
def test_one_fault_is_one_line_and_several_are_listed(
    run: Any, tmp_path: Path, name: str, content: bytes, lines: int, golden: Golden
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    done = run("survey", "build", str(file))
    assert (done.exit_code, len(done.output.splitlines())) == (1, lines)
    golden(done.output, name)
