"""One program with two names: what it tells people to type is a command that they have."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from client.__main__ import main as client_main
from survey_app.cli import main
from survey_app.cli.called import NAME, PACKAGE

OTHER = {NAME: r"\bcandor-survey\b", PACKAGE: r"\bcandor (?=[a-z])(?!(and|is|does)\b)"}


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command, groups too."""
    yield path
    with click.Context(group) as ctx:
        for name in group.list_commands(ctx):
            found = group.get_command(ctx, name)
            assert found is not None
            if isinstance(found, click.Group):
                yield from commands(found, (*path, name))
            else:
                yield (*path, name)


@pytest.mark.parametrize("name", [NAME, PACKAGE])
def test_help_names_the_program_as_it_was_called(name: str) -> None:
    seen = 0
    for path in commands(main):
        done = CliRunner().invoke(main, [*path, "--help"], prog_name=name)
        assert done.exit_code == 0, done.output
        assert re.match(rf"usage: {' '.join((name, *path))}\b", done.output, re.IGNORECASE), done.output
        assert not re.search(OTHER[name], done.output), done.output
        seen += len(re.findall(rf"\b{name} [a-z]+", done.output))
    assert seen > len(list(commands(main)))  # beyond the lines of usage, examples


@pytest.mark.parametrize("name", [NAME, PACKAGE])
def test_messages_name_the_program_as_it_was_called(name: str, tmp_path: Path) -> None:
    def said(*words: str) -> str:
        return CliRunner().invoke(main, ["--db", f"sqlite:///{tmp_path}/candor.db", *words], prog_name=name).output

    (tmp_path / "password").write_text("a long password")
    assert f"begin one: {name} user add NAME" in said("survey", "list")
    said("user", "add", "ada", "--password-file", str(tmp_path / "password"))
    assert f"{name} survey list shows all" in said("results", "exam")
    assert f"{name} token revoke ada" in said("token", "add", "ada")
    assert f"Try '{name} --help'" in said("reslts")


def test_the_client_alone_names_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for words, usage in ((["--help"], "python -m client ["), (["ledger", "--help"], "python -m client ledger [")):
        with pytest.raises(SystemExit):
            client_main(words)
        assert capsys.readouterr().out.startswith(f"usage: {usage}")
