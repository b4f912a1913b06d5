"""How commands end: exit codes, one line for Ctrl-C, silence for a closed pipe; colours and bars for a terminal alone."""

import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import pytest

from candor_client.__main__ import main as client_main
from survey_app.cli.exit_codes import CALLED_WRONGLY, CODES, DONE, NOT_DONE, format_os_error, run_to_exit_code
from survey_app.store import State
from survey_app.store.sqlite import SqliteStore
from tests.cli.test_cli import SURVEY
from tests.golden_files import Golden
from tests.test_commands import ROOT

# Tests that are started in the background ignore Ctrl-C, and children inherit that.
HEARD = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
RUN = [sys.executable, "-c", f"{HEARD}; from survey_app.cli import main; main(prog_name='candor')"]
COLOUR = re.compile(r"\x1b\[\d+m")


def started(words: Sequence[str], folder: Path, **more: Any) -> "subprocess.Popen[bytes]":
    ours = {name: value for name, value in os.environ.items() if not name.startswith("CANDOR_")}
    environment = {
        **ours,
        "CANDOR_LEDGER": str(folder / "ledger.json"),
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm",
        **more.pop("env", {}),
    }
    return subprocess.Popen([*RUN, *words], cwd=folder, env=environment, **more)


def on_a_terminal(words: Sequence[str], folder: Path, *, typed: str = "", **env: str) -> tuple[int, str]:
    """The exit code, and all that a terminal gets of both streams."""
    ours, theirs = pty.openpty()
    os.write(ours, typed.encode())
    with started(words, folder, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        shown = b""
        while part := _read(ours):
            shown += part
    os.close(ours)
    return process.returncode, shown.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # it was closed on the other side
        return b""


def in_a_pipe(words: Sequence[str], folder: Path, **env: str) -> tuple[int, str]:
    with started(words, folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env) as process:
        out, _ = process.communicate(timeout=60)
    return process.returncode, out.decode()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--version"], 0),
        (["survey", "list"], 1),
        (["results", "exam", "--json", "--csv"], 2),
        (["survey", "lst"], 2),
        (["survey", "set", "exam"], 2),
        (["audit", "exam"], 2),
        (["respond"], 2),
        (["respond", "http://example.org/s/exam"], 1),
        (["doctor", "--url", "nonsense"], 1),
    ],
)
def test_the_exit_code_is_of_the_table(
    run: Any, words: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert done.exit_code == code and code in CODES, done.output
    if code:
        assert not isinstance(done.exception, Exception), done.exception


def test_who_says_no_has_done_nothing(run: Any, tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "survey.yaml").write_text(SURVEY)
    run("user", "add", "ada", text="a long password\na long password\n")
    run("survey", "add", str(tmp_path / "survey.yaml"))
    done = run("survey", "delete", "exam", text="n\n")
    assert done.exit_code == 1
    golden(done.stderr)
    assert run("survey", "show", "exam").exit_code == 0


def test_ctrl_c_ends_with_one_line(capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    """While a question waits for its answer, where click makes another error of it; elsewhere a process gets a signal."""

    def asks() -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise click.Abort from None

    assert run_to_exit_code(asks) == 130
    words = capsys.readouterr().err
    assert words.count("\n") == 1
    golden(words)


def test_a_process_that_gets_a_signal_ends_with_one_line(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    fifo = tmp_path / "exam.yaml"
    os.mkfifo(fifo)
    with started(["survey", "build", "exam.yaml"], tmp_path, stdout=writing, stderr=writing) as process:
        os.close(writing)
        with fifo.open("wb"):  # it reads by now, and waits for the rest
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
    with os.fdopen(reading) as told:
        words = told.read()
    assert words.count("\n") == 1 and "Traceback" not in words


def test_a_respondent_who_presses_ctrl_c_has_sent_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    def stop(*_: Any) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("candor_client.__main__._respond", stop)
    assert client_main(["http://127.0.0.1/s/exam"]) == 130
    golden(capsys.readouterr().err)


@pytest.mark.parametrize("words", [["survey", "build", "campus.yaml"], ["ledger", "show"]], ids=" ".join)
def test_a_closed_pipe_ends_silently(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "campus.yaml").write_text((ROOT / "examples" / "campus.yaml").read_text())
    reading, writing = os.pipe()
    os.close(reading)
    with started(words, tmp_path, stdout=writing, stderr=subprocess.PIPE) as process:
        os.close(writing)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 141
    assert b"Traceback" not in told and b"Broken" not in told and b"Error" not in told


def test_colours_are_for_a_terminal(tmp_path: Path) -> None:
    code, shown = on_a_terminal(["survey", "list"], tmp_path)
    assert code == 1 and COLOUR.match(shown) and "\x1b[31m" in shown and "Error:" in shown
    assert "\x1b[32m" in on_a_terminal(["doctor"], tmp_path)[1]


def test_and_for_nobody_else(tmp_path: Path) -> None:
    code, shown = in_a_pipe(["doctor"], tmp_path)
    assert (code, bool(re.search(r"^ok +SQLite ", shown, re.MULTILINE)), COLOUR.search(shown)) == (0, True, None)
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        code, shown = on_a_terminal(["doctor", "--url", "nonsense"], tmp_path, **{name: value})
        assert (code, "failure" in shown, COLOUR.search(shown)) == (1, True, None), name


def test_bars_are_for_a_terminal(run: Any, tmp_path: Path) -> None:
    (tmp_path / "survey.yaml").write_text(SURVEY)
    run("user", "add", "ada", text="a long password\na long password\n")
    run("survey", "add", str(tmp_path / "survey.yaml"))
    words = ["simulate", "exam", "--respondents", "100", "--yes"]
    _, shown = on_a_terminal(words, tmp_path)
    assert "…" in shown and re.search(r"\w +\[#+\] +100%", shown)
    assert run(*words).stderr == ""
    _, shown = on_a_terminal(["backup", "kept.db"], tmp_path)
    assert re.search(r"\w +\[#+\] +100%", shown)


def test_what_the_system_refuses_is_a_sentence(golden: Golden) -> None:
    golden(format_os_error(PermissionError(13, "Permission denied", "a.yaml")), "permission")
    golden(format_os_error(OSError(28, "No space left on device")), "disk")
    assert format_os_error(OSError("no number")) == "no number"


def test_closing_asks_first_and_refuses_where_it_cannot_ask(run: Any, tmp_path: Path) -> None:
    assert run("user", "add", "ada", text="a long password\n" * 2).exit_code == 0
    (tmp_path / "survey.yaml").write_text(SURVEY)
    assert run("survey", "add", str(tmp_path / "survey.yaml")).exit_code == 0
    for typed in (None, "y\n"):  # a pipe is no terminal, whatever comes through it
        done = run("survey", "close", "exam", text=typed)
        assert done.exit_code == CALLED_WRONGLY and done.stderr.rstrip().endswith("--help") and "--yes" in done.stderr
    store = SqliteStore(tmp_path / "candor.db")
    for typed, code, state in (("n\n", NOT_DONE, State.OPEN), ("y\n", DONE, State.CLOSED)):
        words = ["--db", f"sqlite:///{tmp_path}/candor.db", "survey", "close", "exam"]
        assert on_a_terminal(words, tmp_path, typed=typed)[0] == code
        assert (found := store.newest_version("exam")) and found.state is state
    store.close()
