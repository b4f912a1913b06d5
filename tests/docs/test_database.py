"""docs/database.md can be followed: its commands are run on a copy of a database, and they count what is stored."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.module_graph import ROOT
from tests.packaging.environment import Environment
from tests.typed_commands import candor

PAGE = (ROOT / "docs" / "database.md").read_text()
PROGRAMS = Path(sys.executable).parent
RESPONDENTS = 400


def commands(program: str) -> list[list[str]]:
    """Return the words of each line of the page that runs a program."""
    return [shlex.split(line) for line in re.findall(rf"^    ({program} .*)$", PAGE, re.MULTILINE)]


def block(language: str) -> str:
    """Return the one block of the page in this language."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(text)


def run(*words: str) -> str:
    """Run a program of this environment; it has to succeed."""
    done = subprocess.run([PROGRAMS / words[0], *words[1:]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with copy.db, made by the page's own command."""
    folder = tmp_path_factory.mktemp("database")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("CANDOR_DB", f"sqlite:///{folder}/candor.db")
        Path("password").write_text("four unrelated plain words", "utf-8")
        candor("user", "add", "ada", "--password-file", "password")
        candor("survey", "add", str(ROOT / "examples" / "exam.yaml"))
        candor("simulate", "exam", "--respondents", str(RESPONDENTS), "--yes")
        candor("survey", "close", "exam", "--yes")
        for _, *words in commands("candor"):
            candor(*words)
    return folder


@pytest.fixture
def sent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[float, float]:
    """Return the share of devices that sent a yes to the first question, and its estimate; go to the folder."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CANDOR_DB", f"sqlite:///{folder}/candor.db")
    line = json.loads(candor("results", "exam", "--json"))["questions"][0]["estimates"][1]
    assert line["option"] == "yes"
    return line["reported"], line["unbiased"]


def test_the_terminal_lists_tables_surveys_and_events(sent: tuple[float, float]) -> None:
    tables, surveys, audit, definition, counts = (run(*words) for words in commands("sqlite-utils"))
    assert re.search(rf"^reports +{RESPONDENTS}$", tables, re.MULTILINE)
    assert re.search(r"^ +1 +exam +1 +closed$", surveys, re.MULTILINE)
    assert re.findall(r" exam +(\w+) ", audit) == ["published", "closed"]
    assert json.loads(definition)["questions"][0]["id"] == "cheated"
    yes = round(sent[0] * RESPONDENTS)
    assert [int(number) for number in re.findall(r"\d+", counts)] == [0, RESPONDENTS - yes, 1, yes]


def test_the_script_estimates_what_the_results_do(folder: Path, sent: tuple[float, float]) -> None:
    (folder / "estimate.py").write_text(block("python"), "utf-8")
    share, margin, n = map(float, re.findall(r"-?\d+(?:\.\d+)?", run("python", "estimate.py", "copy.db", "exam")))
    assert share == round(100 * sent[1], 1) and n == RESPONDENTS
    assert margin == round(196 * (sent[0] * (1 - sent[0]) / n) ** 0.5 / 0.5, 1)  # 3/4 − 1/4


@pytest.mark.slow
def test_datasette_counts_the_same(folder: Path, sent: tuple[float, float], tmp_path: Path) -> None:
    environment = Environment.create(tmp_path / "own", sys.executable, (), "datasette", warnings="ignore")
    shutil.copy(folder / "copy.db", environment.work)
    ((program, *words),) = commands("datasette")
    query = urlencode({"sql": block("sql"), "_shape": "array"})
    rows = json.loads(environment.run(program, *words, "--get", f"/copy.json?{query}"))
    yes = round(sent[0] * RESPONDENTS)
    counted = [(row["slug"], row["version"], row["yes"], row["reports"]) for row in rows]
    assert counted == [("exam", 1, 0, RESPONDENTS - yes), ("exam", 1, 1, yes)]
