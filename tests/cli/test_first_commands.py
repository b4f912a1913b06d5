"""A command finds its database or begins one: nothing is made by looking for it in the wrong place."""

import socket
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from survey_app.cli import main
from survey_app.web import serve
from tests.cli.test_cli import SURVEY
from tests.golden_files import Golden

READING = [
    ("survey", "list"), ("survey", "show", "exam"), ("survey", "check", "exam"), ("survey", "close", "exam"), ("survey", "open", "exam"),
    ("survey", "delete", "exam", "--yes"), ("results", "exam"), ("crosstab", "exam", "a", "b"), ("regress", "exam", "--outcome", "x"),
    ("simulate", "exam", "--respondents", "1", "--yes"), ("export", "exam", "exam.csv"), ("user", "list"), ("user", "disable", "ada"),
    ("user", "password", "ada"), ("token", "add", "ada"), ("token", "list", "ada"), ("token", "revoke", "ada", "01234567"),
]  # fmt: skip


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_a_command_that_only_reads_makes_no_database(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert done.exit_code == 1
    assert f"{tmp_path}/candor.db" in done.output and "--db" in done.output and "CANDOR_DB" in done.output
    assert not list(tmp_path.iterdir())


def test_the_path_that_is_named_is_the_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CANDOR_DB", raising=False)
    done = CliRunner().invoke(main, ["survey", "list"])
    assert done.exit_code == 1
    golden(done.stderr)


def test_the_first_account_begins_a_database_and_says_where(run: Any, tmp_path: Path, golden: Golden) -> None:
    done = run("user", "add", "ada", text="a long password\na long password\n")
    assert done.exit_code == 0
    assert done.stderr.count(f"{tmp_path}/candor.db\n") == 1
    golden(done.stderr)
    again = run("user", "add", "bob", text="a long password\na long password\n")
    assert again.exit_code == 0 and "candor.db" not in again.output


def test_publishing_begins_a_database_but_not_for_a_file_that_is_wrong(
    run: Any, tmp_path: Path, golden: Golden
) -> None:
    file = tmp_path / "survey.yaml"
    file.write_text("slug: exam\n")
    assert run("survey", "add", str(file)).exit_code == 1
    assert not (tmp_path / "candor.db").exists()
    file.write_text(SURVEY)
    done = run("survey", "add", str(file))
    assert done.exit_code == 1 and (tmp_path / "candor.db").exists()
    golden(done.stderr)


@pytest.mark.parametrize("command", ["serve", "demo"])
def test_the_server_begins_a_database_and_says_where(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(serve, "serve", lambda *_: None)
    monkeypatch.setattr(serve, "check_port", lambda *_: None)
    few = ("--respondents", "3") if command == "demo" else ()
    assert f" {tmp_path}/candor.db\n" in run(command, *few).stderr


@pytest.mark.parametrize(("level", "way"), [(None, " --port "), ("1", ' make demo DEMO="--port ')])
def test_a_taken_port_of_the_demo_says_how_another_is_named(
    run: Any, monkeypatch: pytest.MonkeyPatch, level: str | None, way: str
) -> None:
    if level is None:
        monkeypatch.delenv("MAKELEVEL", raising=False)
    else:
        monkeypatch.setenv("MAKELEVEL", level)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert way in run("demo", "--port", str(taken.getsockname()[1])).output


@pytest.mark.parametrize("named", [(), ("--db", "sqlite:///other.db"), ("--db", "sqlite:///real.db")])
def test_the_demo_never_writes_into_the_database_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: tuple[str, ...]
) -> None:
    """It goes into its own folder, or where --db says; made-up people in a real database cannot be told from others."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CANDOR_DB", "sqlite:///real.db")
    served: list[str] = []
    monkeypatch.setattr(serve, "serve", lambda config, *_: served.append(config.db))
    monkeypatch.setattr(serve, "check_port", lambda *_: None)
    done = CliRunner().invoke(main, [*named, "demo", "--respondents", "3"])
    assert not [*tmp_path.glob("real.db*")]
    if "sqlite:///real.db" in named:
        assert (done.exit_code, served) == (1, [])
    else:
        assert (done.exit_code, served) == (0, [named[-1] if named else "sqlite:///.candor-demo/candor.db"])
