"""The shell completes what it should, driven by a real bash; looking for slugs changes nothing."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from survey_app.cli import main
from tests.cli.test_cli import SURVEY
from tests.golden_files import Golden
from tests.test_commands import ROOT

DRIVE = """
source <({name} completion bash)
complete -p {name}
offered() {{
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _{function}_completion {name}; echo "${{COMPREPLY[*]}}"
}}
"""
OFFERED = {
    "res": "respond restore results",
    "survey close ex": "exam",
    "user password --keep": "--keep-tokens",
    "results --conf": "--confidence",
    "--db sqlite:///candor.db survey close ex": "exam",
    "--db sqlite:///none.db results e": "",
    "--db postgresql://u:secret@h/x results e": "",
    "survey mail --security st": "starttls",
    "respond --li": "--limit",
    "ledger f": "forget",
    "example camp": "campus",
}


@pytest.fixture
def folder(run: Any, tmp_path: Path) -> Path:
    """A database with a survey, and the command by both its names."""
    (tmp_path / "survey.yaml").write_text(SURVEY)
    run("user", "add", "ada", text="a long password\na long password\n")
    run("survey", "add", str(tmp_path / "survey.yaml"))
    (tmp_path / "bin").mkdir()
    for name in ("candor", "candor-survey"):
        script = tmp_path / "bin" / name
        script.write_text(f"#!{sys.executable}\nfrom survey_app.cli import main\n\nmain()\n")
        script.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(("name", "tries"), [("candor", [*OFFERED][:3]), ("candor-survey", [*OFFERED][:1])])
def test_bash_completes_commands_options_choices_and_slugs(folder: Path, name: str, tries: list[str]) -> None:
    before = {file: file.stat().st_mtime_ns for file in folder.glob("candor.db*")}
    script = DRIVE.format(name=name, function=name.replace("-", "_"))
    script += "".join(f"offered {name} {words}\n" for words in tries)
    path = f"{folder}/bin:{os.environ['PATH']}"
    usual = {name: value for name, value in os.environ.items() if not name.startswith("CANDOR_")}
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env={**usual, "PATH": path, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    registered, *offered = done.stdout.splitlines()
    assert registered.endswith(f"-F _{name.replace('-', '_')}_completion {name}")
    assert [sorted(line.split()) for line in offered] == [OFFERED[words].split() for words in tries]
    assert before == {file: file.stat().st_mtime_ns for file in folder.glob("candor.db*")}


@pytest.mark.parametrize(("words", "offered"), OFFERED.items())
def test_what_is_offered(folder: Path, monkeypatch: pytest.MonkeyPatch, words: str, offered: str) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("CANDOR_DB", raising=False)
    *said, begun = words.split()
    found = BashComplete(main, {}, "candor", "_CANDOR_COMPLETE").get_completions(said, begun)
    assert sorted(one.value for one in found) == offered.split()


def test_where_a_file_will_do_the_shell_looks_for_files_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    found = BashComplete(main, {}, "candor", "_CANDOR_COMPLETE").get_completions(["codebook"], "ex")
    assert ("ex", "file") in [(one.value, one.type) for one in found]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script_of_their_own(shell: str) -> None:
    done = CliRunner().invoke(main, ["completion", shell], prog_name="candor")
    assert done.exit_code == 0 and f"_CANDOR_COMPLETE={shell}_complete" in done.stdout


def test_a_name_that_no_shell_calls_is_refused(golden: Golden) -> None:
    done = CliRunner().invoke(main, ["completion", "bash"], prog_name="python -m survey_app")
    assert (done.exit_code, done.stdout) == (1, "")
    golden(done.stderr)
