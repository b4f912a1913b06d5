"""Every command's help ends with an example that works, and docs/commands.md is what the help says."""

import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from candor_client.version import __version__
from survey_app.assure.doctor.environment_checks import VARIABLES
from survey_app.cli import COMMANDS, main
from survey_app.cli.device import PassThroughCommand
from tests.commands_page import PAGE, examples, list_commands, page
from tests.test_commands import ROOT, resolve

ALL = dict(list_commands())
CALLED = [(path, line) for path, command in ALL.items() for line in examples(command)]
WHOLE_STUDY = [  # commands whose first examples do something, in an order in which each can; a number names another
    "example", "user add", "user list", "token list", "survey build", "survey add", "survey list", "survey show", "results",
    "survey pause", "survey open", "survey check", "crosstab", "survey set", "codebook", "ledger", "form", "form 1", "backup",
    "issuer key", "survey close 1", "user enable", "completion",
]  # fmt: skip


def words_of(line: str) -> list[str]:
    """What a shell hands to candor: without what comes before it, and where its output goes."""
    words = shlex.split(line)
    begin = words.index("candor") + 1
    end = next((i for i, word in enumerate(words) if word.startswith(">")), len(words))
    return words[begin:end]


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_help_ends_with_an_example(path: tuple[str, ...]) -> None:
    done = CliRunner().invoke(main, [*path, "--help"], prog_name="candor")
    assert done.exit_code == 0, done.output
    told = done.stdout.rstrip().splitlines()
    lines = examples(ALL[path])
    assert lines and [line.strip() for line in told[-len(lines) :]] == lines
    assert told[-len(lines) - 1].strip() == ("Examples:" if len(lines) > 1 else "Example:")
    assert "..." not in done.stdout.replace("COMMAND [ARGS]...", ""), "a sentence was cut"


@pytest.mark.parametrize(("path", "line"), CALLED, ids=lambda value: value if isinstance(value, str) else "")
def test_every_example_is_of_its_command_and_is_understood(
    path: tuple[str, ...], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = words_of(line)
    command, found, rest = resolve(words)
    assert found[: len(path)] == list(path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CANDOR_DB", raising=False)
    for word in rest:
        if "." in word and "/" not in word:
            Path(word).touch()
    if isinstance(command, PassThroughCommand):
        command.parser().parse_args(rest)
    else:
        command.make_context(" ".join(found), rest, parent=click.Context(main))


def find_example(name: str) -> str:
    """Return an example of a command; the first one unless the name ends in a number."""
    path, number = name.removesuffix(" 1").split(), int(name.endswith(" 1"))
    return examples(ALL[tuple(path)])[number]


def test_the_examples_do_what_they_say_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = [line for _, line in CALLED]
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CANDOR_DB", raising=False)
    for line in map(find_example, WHOLE_STUDY):
        done = CliRunner().invoke(main, words_of(line), input="a long password\na long password\n", prog_name="candor")
        assert done.exit_code == 0, f"{line}: {done.output}"
        if (redirected := re.search(r" > (\S+)$", line)) is not None:
            Path(redirected[1]).write_text(done.stdout)
    assert "--db sqlite:///" not in " ".join(known)
    assert (tmp_path / "exam.html").stat().st_size > 10_000


def test_commands_are_listed_by_what_they_are_for_and_at_no_cost() -> None:
    done = CliRunner().invoke(main, ["--help"])
    for heading, section in COMMANDS.items():
        assert f"\n{heading}:\n" in done.stdout
        for name, place in section.items():
            assert re.search(rf"^  {name} +{re.escape(place.summary)}$", done.stdout, re.MULTILINE), name


def test_the_version_is_told() -> None:
    done = CliRunner().invoke(main, ["--version"], prog_name="candor-survey")
    assert (done.exit_code, done.stdout) == (0, f"candor {__version__}\n")


def test_the_page_of_commands_is_what_the_help_says() -> None:
    assert PAGE.read_text() == page(), "python -m tests.commands_page writes it anew"


def variables_in(*parts: str) -> set[str]:
    files = [file for part in parts for file in (ROOT / part).rglob("*") if file.suffix in (".py", ".yaml", ".yml", "")]
    texts = [file.read_text() for file in files if file.is_file()]
    return {name for text in texts for name in re.findall(r"(?<![A-Z_])CANDOR_[A-Z_]*[A-Z]", text)}


def test_every_variable_is_documented_and_read() -> None:
    code = variables_in("survey_app", "client", "deploy")
    assert code == VARIABLES.keys()
    read = {str(parameter.envvar) for command in ALL.values() for parameter in command.params if parameter.envvar}
    assert read <= VARIABLES.keys()
