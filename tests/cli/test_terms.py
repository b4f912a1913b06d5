"""The terms of a survey by command: set, pause, open, close, and what show tells; for a study too."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from candor_client import randomize
from survey_app.authoring.terms import Terms
from survey_app.cli import main
from survey_app.cli.exit_codes import CALLED_WRONGLY, NOT_DONE
from survey_app.store import Member, State, Submission
from survey_app.store.sqlite import SqliteStore
from tests.definitions import simple, survey
from tests.fixtures import make, submission
from tests.golden_files import Golden


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return make(tmp_path / "candor.db")[0]


@pytest.fixture
def run(store: SqliteStore) -> Any:
    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, ["--db", f"sqlite:///{store.path}", *arguments])

    return invoke


def refused(result: Result, sentence: str) -> None:
    assert result.exit_code != 0
    assert sentence in result.output
    assert "Traceback" not in result.output


def fill(store: SqliteStore, count: int) -> None:
    published = store.newest_version("exam")
    assert published is not None
    store.write(lambda: [submission(published) for _ in range(count)])


def test_show_tells_every_term(run: Any) -> None:
    told = run("survey", "show", "exam").output.splitlines()
    assert told[0].startswith("exam  open  ")
    assert told[-5:] == [
        "results  public", "opens    when it is opened", "closes   never", "reports  no limit", "deletes  never",
    ]  # fmt: skip


def test_terms_are_set_while_it_runs_and_unset_again(run: Any, store: SqliteStore) -> None:
    told = run("survey", "set", "exam", "--closes", "2099-12-01T01:00+01:00", "--results", "private", "--max-reports", "500",
        "--deletes", "2100-01-01T00:00Z",
    )  # fmt: skip
    assert told.exit_code == 0, told.output
    assert told.output.splitlines()[-5:] == [
        "results  private", "opens    when it is opened", "closes   2099-12-01T00:00Z", "reports  at most 500",
        "deletes  2100-01-01T00:00Z",
    ]  # fmt: skip
    assert run("survey", "show", "exam").output == told.output
    told = run("survey", "set", "exam", "--closes", "never", "--max-reports", "none", "--deletes", "never")
    assert told.output.splitlines()[-5:] == [
        "results  private", "opens    when it is opened", "closes   never", "reports  no limit", "deletes  never",
    ]  # fmt: skip
    unset, changed = (event.data.terms for event in store.events(store.users()[0].key, "exam")[:2])
    assert {name: change.new for name, change in unset.items()} == {
        "closes": None, "max_reports": None, "deletes": None,
    }  # fmt: skip
    assert {name: change.new for name, change in changed.items()} == {
        "results": "private", "closes": "2099-12-01T00:00Z", "max_reports": 500, "deletes": "2100-01-01T00:00Z",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "exit_code", "named"),
    [
        ("", CALLED_WRONGLY, "--closes"),
        ("--closes tomorrow", CALLED_WRONGLY, "--closes"),
        ("--closes 2099-12-01T00:00", CALLED_WRONGLY, "--closes"),
        ("--max-reports 0", CALLED_WRONGLY, "'0'"),
        ("--max-reports many", CALLED_WRONGLY, "'many'"),
        ("--deletes 2001-01-01T00:00Z", NOT_DONE, "deletes"),
        ("--closes 2100-01-01T00:00Z --deletes 2099-01-01T00:00Z", NOT_DONE, "deletes"),
    ],
    ids=["nothing", "no-date", "no-zone", "zero", "no-number", "past", "deleted-before-closed"],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    run: Any, store: SqliteStore, arguments: str, exit_code: int, named: str, golden: Golden
) -> None:
    done = run("survey", "set", "exam", *arguments.split())
    assert done.exit_code == exit_code and named in done.output and "Traceback" not in done.output
    golden(done.output)
    found = store.newest_version("exam")
    assert found is not None
    assert found.terms == Terms(public=True)


def test_results_are_public_or_private_and_nothing_else(run: Any, store: SqliteStore) -> None:
    done = run("survey", "set", "exam", "--results", "secret")
    assert done.exit_code == CALLED_WRONGLY and "'secret'" in done.output
    found = store.newest_version("exam")
    assert found is not None and found.terms == Terms(public=True)


@pytest.mark.parametrize(
    "arguments", [["--closes", "2001-01-01T00:00Z"], ["--max-reports", "45", "--yes"]], ids=["date", "number"]
)
def test_a_past_date_or_a_reached_number_closes_at_once_and_for_good(
    run: Any, store: SqliteStore, arguments: list[str], golden: Golden
) -> None:
    fill(store, 45)
    told = run("survey", "set", "exam", *arguments)
    assert told.exit_code == 0
    golden(told.output.splitlines()[-1])
    refused(run("survey", "set", "exam", "--max-reports", "900"), "exam is closed")
    assert run("survey", "set", "exam", "--results", "private").exit_code == 0
    refused(run("survey", "open", "exam"), "stays closed")
    refused(run("survey", "pause", "exam"), "stays closed")


def test_a_number_that_may_be_reached_is_asked_about(run: Any, store: SqliteStore) -> None:
    fill(store, 45)  # 25 are shown
    for most in ("5", "45", "84"):
        told = run("survey", "set", "exam", "--max-reports", most)
        assert told.exit_code == NOT_DONE
        assert told.output.startswith("exam ") and f" {most} " in told.output and "[y/N]" in told.output
    assert run("survey", "set", "exam", "--max-reports", "85").exit_code == 0
    assert run("survey", "set", "exam", "--max-reports", "80", "--yes").exit_code == 0
    assert run("survey", "set", "exam", "--max-reports", "82").exit_code == 0  # more than before
    found = store.newest_version("exam")
    assert found is not None
    assert (found.state, found.terms.max_reports) == (State.OPEN, 82)


def test_a_pause_and_going_on(run: Any, store: SqliteStore, golden: Golden) -> None:
    fill(store, 45)
    paused = run("survey", "pause", "exam").output
    assert "candor survey open exam" in paused
    golden(paused)
    assert "exam  paused" in run("survey", "show", "exam").output
    assert run("survey", "list").output.split()[1:3] == ["paused", "25"]
    assert "exam is open" in run("survey", "open", "exam").output
    assert run("survey", "list").output.split()[1:3] == ["open", "25"]


def test_what_was_never_opened_is_not_paused(run: Any, store: SqliteStore) -> None:
    ready = Member(survey(simple() | {"slug": "later"}), Terms())
    store.add_surveys([ready], owner=store.users()[0].key, state=State.READY)
    refused(run("survey", "pause", "later"), "never opened")
    assert "later is open" in run("survey", "open", "later").output


@pytest.fixture
def study(store: SqliteStore) -> None:
    names = {"north": 12_000, "south": None}
    made = [
        Member(
            survey(simple() | {"slug": f"poll-{name}", "study": "poll", "group": name.title()}), Terms(True, size=size)
        )
        for name, size in names.items()
    ]
    store.add_surveys(made, owner=store.users()[0].key, state=State.READY)


@pytest.mark.parametrize("name", ["poll", "poll-south"])
def test_a_study_is_managed_by_its_name_or_by_any_group(run: Any, store: SqliteStore, study: None, name: str) -> None:
    def states() -> list[State]:
        return [one.state for one in store.study("poll")]

    for command, state in (("open", State.OPEN), ("pause", State.PAUSED), ("open", State.OPEN)):
        assert run("survey", command, name).exit_code == 0
        assert states() == [state, state]
    assert run("survey", "set", name, "--max-reports", "90", "--yes").exit_code == 0
    assert [one.terms.max_reports for one in store.study("poll")] == [90, 90]
    shown = run("survey", "show", "poll").output
    assert "\nNorth, 12,000 people\n" in shown
    assert "\nSouth\n" in shown
    north = store.study("poll")[0]
    report = randomize(north.survey, {"cheated": True})
    store.write(lambda: [Submission(north.key, report.id, report.bits)])
    assert f"{name} is closed" in run("survey", "close", name, "--yes").output
    assert states() == [State.CLOSED, State.CLOSED]
    deleted = CliRunner().invoke(main, ["--db", f"sqlite:///{store.path}", "survey", "delete", name], input="y\n")
    assert "Delete the study poll with all its groups" in deleted.output
    assert store.study("poll") == []


AGAIN = "slug: again\ntitle: Again\nepsilon: 2\nquestions:\n  - {id: a, type: yes_no, text: A?}\n"


def test_a_file_with_other_terms_is_told_the_very_command_that_changes_them(
    run: Any, store: SqliteStore, tmp_path: Path, golden: Golden
) -> None:
    file = tmp_path / "again.yaml"
    file.write_text(AGAIN)
    assert run("survey", "add", str(file)).exit_code == 0
    known = store.newest_version("again")
    assert known
    same = run("survey", "add", str(file))
    assert same.exit_code == NOT_DONE and known.survey.digest in same.output and "candor survey set" not in same.output
    golden(same.output, "same terms")
    file.write_text(AGAIN + "results: public\ncloses: 2099-03-31T00:00Z\nmax_reports: 900\n")
    told = run("survey", "add", str(file))
    assert told.exit_code == NOT_DONE
    golden(told.output)
    command = told.output.strip().rpartition("\n")[2].strip()
    assert command == "candor survey set again --results public --closes 2099-03-31T00:00Z --max-reports 900"
    assert run(*command.split()[1:], "--yes").exit_code == 0
    assert run("survey", "add", str(file)).output == same.output


def test_adding_warns_of_figures_that_so_few_cannot_give(run: Any, tmp_path: Path, golden: Golden) -> None:
    file = tmp_path / "again.yaml"
    file.write_text(AGAIN.replace("epsilon: 2", "epsilon: 0.5"))
    told = run("survey", "add", str(file), "--respondents", "100")
    assert told.exit_code == 0, "it is a warning, not a lock"
    warning = told.output.rpartition("precision:")[2]
    assert all(part in warning for part in (" a, ", "20%", " 100 ", "±"))
    golden(warning)
    file.write_text(AGAIN)
    assert "precision:" not in run("survey", "add", str(file), "--respondents", "100000").output
