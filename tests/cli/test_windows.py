"""The commands run without the modules and functions that Windows lacks; a server says what to use instead.

`tests/windows.py` imitates Windows for our files: it is not Windows itself.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser import Site
from tests.fixtures import TOKEN
from tests.module_graph import ROOT
from tests.smtp_server import Postbox, run_smtp_server

SURVEY = "exam"


class Windows:
    """A folder with a database, in which commands run as on Windows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        shutil.copy(ROOT / "examples" / "exam.yaml", folder)
        ours = {name: value for name, value in os.environ.items() if not name.startswith("CANDOR_")}
        places = {"PYTHONPATH": f"{ROOT}:{ROOT / 'client'}", "CANDOR_LEDGER": str(folder / "ledger.json")}
        self.environment = ours | places

    def run(self, *words: str, typed: str = "", exit_code: int = 0) -> str:
        """Run a command and return what it prints."""
        done = subprocess.run(
            [sys.executable, "-m", "tests.windows", *words], cwd=self.folder, env=self.environment, input=typed,
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == exit_code, done.stdout
        return done.stdout


@pytest.fixture
def windows(tmp_path: Path) -> Windows:
    return Windows(tmp_path / "windows")


def test_the_imitation_lacks_what_windows_lacks(tmp_path: Path) -> None:
    for statement in ("import fcntl", "import resource", "import os; os.fork", "import signal; signal.SIGKILL"):
        code = f"from tests.windows import imitate; imitate(); {statement}"
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 1 and ("ModuleNotFoundError" in done.stderr or "AttributeError" in done.stderr)


def test_a_study_goes_from_its_plan_to_its_export(windows: Windows) -> None:
    assert "serve" in windows.run("--help")
    assert "300" in windows.run("plan", "exam.yaml", "--respondents", "300")
    assert windows.run("survey", "build", "exam.yaml").startswith('{"')
    password = windows.folder / "password.txt"
    password.write_text("four unrelated plain words", "utf-8")
    windows.run("user", "add", "ada", "--password-file", str(password))
    windows.run("survey", "add", "exam.yaml")
    windows.run("survey", "open", SURVEY)
    windows.run("simulate", SURVEY, "--respondents", "100", "--yes")
    assert "cheated" in windows.run("results", SURVEY)
    windows.run("export", SURVEY, "exam.csv")
    assert len((windows.folder / "exam.csv").read_text("utf-8").splitlines()) > 20
    windows.run("survey", "check", SURVEY)
    findings = json.loads(windows.run("doctor", "--json"))
    assert "permissions" in str(findings)


def test_a_researcher_invites_by_mail(windows: Windows, site: Site) -> None:
    site.invite()
    windows.environment["CANDOR_TOKEN"] = TOKEN
    (windows.folder / "people.csv").write_text("name,email\nAda,ada@example.org\n", "utf-8")
    box = Postbox()
    with run_smtp_server(box) as smtp:
        windows.run("survey", "mail", SURVEY, "people.csv", "--server", site.origin, "--from", "a@example.org",
                    "--smtp", smtp, "--security", "none", "--send")  # fmt: skip
    assert box.addresses == ["ada@example.org"]


def test_a_respondent_answers_once(windows: Windows, site: Site) -> None:
    published = site.add(windows.folder / "exam.yaml")
    answers = "yes\n2\n12\ny\ny\n"  # randomize them, and send the report
    windows.run("respond", site.link(published), typed=answers)
    windows.run("respond", site.link(published), typed=answers)
    assert len(site.stored_reports(published)) == 1
    assert SURVEY in windows.run("ledger", "show")


@pytest.mark.parametrize("command", ["serve", "demo"])
def test_a_server_says_what_to_use_instead(windows: Windows, command: str) -> None:
    said = windows.run(command, exit_code=1)
    assert said.count("\n") == 1 and "WSL" in said and "Docker" in said
