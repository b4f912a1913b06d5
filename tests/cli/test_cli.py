"""The operator's commands, from an empty directory to a deleted survey."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from candor_client import randomize
from survey_app.cli import main
from survey_app.cli.exit_codes import NOT_DONE
from survey_app.collect.rate_limit import DEFAULT_RATE_LIMIT
from survey_app.results.csv_columns import escape_formula
from survey_app.store import Submission
from survey_app.store.sqlite import SqliteStore
from tests.golden_files import Golden

SURVEY = """slug: exam
title: Exam honesty
results: public
epsilon: 2
questions:
  - {id: cheated, type: yes_no, text: Did you copy?}
  - {id: help, type: choice, text: What helped?, options: ["=1+1", notes]}
"""


@pytest.fixture
def file(tmp_path: Path, run: Any) -> str:
    password = tmp_path / "password"
    password.write_text("a long password\n")
    assert "administrator" in run("user", "add", "ada", "--password-file", str(password)).output
    path = tmp_path / "survey.yaml"
    path.write_text(SURVEY)
    return str(path)


def fill(tmp_path: Path, count: int) -> None:
    store = SqliteStore(tmp_path / "candor.db")
    published = store.newest_version("exam")
    assert published is not None
    for _ in range(count):
        report = randomize(published.survey, {"cheated": True, "help": "notes"})
        store.write([Submission(published.key, report.id, report.bits)].copy)
    store.close()


def test_the_whole_life_of_a_survey(run: Any, file: str, tmp_path: Path) -> None:
    added = run("survey", "add", file, "--later")
    assert added.exit_code == 0, added.output
    assert "ready" in added.output
    assert "exam is open" in run("survey", "open", "exam").output
    fill(tmp_path, 65)
    assert "40" in run("survey", "list").output
    assert json.loads(run("survey", "check", "exam", "--json").stdout) == {"reports": 65, "tally": 65, "ok": True}
    found = json.loads(run("results", "exam", "--json").output)
    assert found["reports"] == 40
    table = run("results", "exam", "--csv").output.splitlines()
    assert table[0] == (
        "slug,digest,list,question,option,kind,n,estimate,low,high,unbiased,raw,reported,coverage,sample_low,"
        "sample_high,sample_coverage,method,p,q"
    )
    assert table[1].startswith(f"exam,{found['survey']},estimates,cheated,no,share,40,")
    assert any("'=1+1" in row for row in table)
    assert "is closed" in run("survey", "close", "exam", "--yes").output
    assert json.loads(run("results", "exam", "--json").output)["reports"] == 65
    again = run("survey", "open", "exam")
    assert again.exit_code == 1
    assert "stays closed" in again.output
    assert run("survey", "delete", "exam", text="n\n").exit_code == 1
    assert run("survey", "delete", "exam", "--yes").exit_code == 0
    assert run("survey", "list").output == ""
    assert run("survey", "show", "exam").exit_code == NOT_DONE


def test_a_wrong_tally_is_found(run: Any, file: str, tmp_path: Path) -> None:
    run("survey", "add", file)
    fill(tmp_path, 3)
    store = SqliteStore(tmp_path / "candor.db")
    with store._transaction() as connection:
        connection.execute("update tallies set total = 4")
    store.close()
    checked = run("survey", "check", "exam", "--json")
    assert checked.exit_code == 1
    assert json.loads(checked.stdout) == {"reports": 3, "tally": 4, "ok": False}


def test_a_new_version_has_its_own_reports_and_the_same_definition_is_refused(
    run: Any, file: str, tmp_path: Path
) -> None:
    first = run("survey", "add", file).output
    assert run("survey", "add", file).exit_code == NOT_DONE
    Path(file).write_text(SURVEY.replace("Exam honesty", "Exam honesty, second wave"))
    second = run("survey", "add", file).output
    assert first.splitlines()[1] != second.splitlines()[1]
    assert json.loads(run("survey", "check", "exam", "--json").stdout)["reports"] == 0


def test_surveys_belong_to_their_owners(run: Any, file: str, tmp_path: Path, golden: Golden) -> None:
    run("user", "add", "bob", text="another password\nanother password\n")
    added = run("survey", "add", file, "--owner", "bob")
    assert added.exit_code == 0 and "owner    bob" in added.output.splitlines()
    before = run("survey", "show", "exam").output
    Path(file).write_text(SURVEY.replace("honesty", "truth"))
    for owner, options in (("another", []), ("unknown", ["--owner", "eve"])):
        refused = run("survey", "add", file, *options)
        assert refused.exit_code == NOT_DONE
        golden(refused.output.splitlines()[-1], owner)
    assert run("survey", "show", "exam").output == before


def test_accounts(run: Any, file: str) -> None:
    assert run("user", "add", "ada", text="a long password\na long password\n").exit_code == NOT_DONE
    assert run("user", "add", "bob", text="short\nshort\n").exit_code == NOT_DONE
    assert run("user", "list").output.splitlines() == ["ada  administrator"]
    assert run("user", "add", "bob", text="a long password\na long password\n").exit_code == 0
    assert run("user", "password", "bob", text="a new password\na new password\n").exit_code == 0
    assert run("user", "disable", "bob").exit_code == 0
    assert run("user", "list").output.splitlines() == ["ada  administrator", "bob  disabled"]
    token = run("token", "add", "ada").output.strip()
    assert len(token) >= 43
    assert run("token", "add", "eve").exit_code == NOT_DONE


def test_without_an_account_there_is_a_hint(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "survey.yaml"
    path.write_text(SURVEY)
    assert "candor user add" in run("survey", "add", str(path)).output


def test_a_store_that_cannot_be_is_a_clear_sentence(tmp_path: Path, golden: Golden) -> None:
    for name, url in (("kind", "mysql://x"), ("place", "sqlite:////proc/candor.db")):
        done = CliRunner().invoke(main, ["--db", url, "user", "add", "ada"], input="a long password\na long password\n")
        assert done.exit_code == NOT_DONE
        golden(done.output.splitlines()[-1], name)
    (tmp_path / "garbage.db").write_bytes(b"not a database, but long enough to look like a file" * 100)
    done = CliRunner().invoke(main, ["--db", f"sqlite:///{tmp_path}/garbage.db", "survey", "list"])
    assert done.exit_code == NOT_DONE
    golden(done.output, "garbage")


def test_a_taken_port_is_a_clear_sentence(run: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("serve", "--port", str(port))
    assert done.exit_code == 1
    assert f"cannot listen on 127.0.0.1:{port}" in done.output


@pytest.mark.parametrize(("text", "cell"), [("=1", "'=1"), ("-x", "'-x"), ("@a", "'@a"), ("+1", "'+1"), ("a=1", "a=1")])
def test_no_cell_becomes_a_formula(text: str, cell: str) -> None:
    assert escape_formula(text) == cell


def test_a_new_version_disturbs_nothing_until_it_opens(run: Any, file: str, tmp_path: Path) -> None:
    first = run("survey", "add", file).stdout.splitlines()[1].split()[1]
    fill(tmp_path, 65)
    Path(file).write_text(SURVEY.replace("Exam honesty", "Second wave"))
    run("survey", "add", file, "--later")
    assert json.loads(run("survey", "check", "exam", "--json").stdout)["reports"] == 65
    assert "40" in run("survey", "list").output
    assert "exam is open" in run("survey", "open", "exam").output
    assert json.loads(run("survey", "check", "exam", "--json").stdout)["reports"] == 0
    assert json.loads(run("survey", "check", "exam", "--json", "--digest", first).stdout)["reports"] == 65
    old = json.loads(run("results", "exam", "--digest", first, "--json").stdout)
    assert old["reports"] == 65  # it ended when the new one opened, so it is all there
    assert "there is no version" in run("results", "exam", "--digest", "0" * 64).output


def test_what_was_never_opened_is_not_closed(run: Any, file: str) -> None:
    run("survey", "add", file, "--later")
    assert "was never opened" in run("survey", "close", "exam", "--yes").output


@pytest.mark.parametrize("arguments", [("--port", "70000"), ("--port", "-1"), ("--trusted-proxies", "-1")])
def test_impossible_options_are_refused(run: Any, arguments: tuple[str, ...]) -> None:
    assert run("serve", *arguments).exit_code == 2


def test_a_rate_limit_that_is_none_is_a_clear_sentence(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANDOR_RATE_LIMIT", "lots")
    done = run("serve")
    assert done.exit_code == NOT_DONE and "CANDOR_RATE_LIMIT" in done.output and DEFAULT_RATE_LIMIT in done.output


def test_a_password_file_that_is_no_text(run: Any, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    done = run("user", "add", "x", "--password-file", str(tmp_path / "binary"))
    assert done.exit_code == NOT_DONE and str(tmp_path / "binary") in done.output


def test_made_up_respondents(run: Any, file: str, tmp_path: Path) -> None:
    run("survey", "add", file)
    truth = tmp_path / "truth.yaml"
    truth.write_text("cheated: 0.9\nhelp: {notes: 1}\n")
    assert run("simulate", "exam", "--respondents", "10", text="n\n").exit_code == 1
    done = run("simulate", "exam", "--respondents", "20000", "--truth", str(truth), "--yes")
    assert "20000 reports were added" in done.output
    found = {q["id"]: q["estimates"] for q in json.loads(run("results", "exam", "--json").output)["questions"]}
    assert found["cheated"][1]["estimate"] == pytest.approx(0.9, abs=0.05)
    assert found["help"][1]["estimate"] == pytest.approx(1, abs=0.05)
    truth.write_text("cheated: lots\n")
    assert "is not a share" in run("simulate", "exam", "--respondents", "10", "--truth", str(truth), "--yes").output
    run("survey", "close", "exam", "--yes")
    assert "exam is closed" in run("simulate", "exam", "--respondents", "10", "--yes").output
