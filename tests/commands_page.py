"""Write docs/commands.md, the reference of the command line, from the help of the commands.

python -m tests.commands_page
"""

import argparse
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

from survey_app.assure.doctor.environment_checks import VARIABLES
from survey_app.cli import COMMANDS, main
from survey_app.cli.device import PassThroughCommand
from survey_app.cli.exit_codes import CODES

PIPE = r"\|"  # in a table
PAGE = Path(__file__).parent.parent / "docs" / "commands.md"
TOP = """# The command line

Every command, as its `--help` describes it; `python -m tests.commands_page` writes this page from the help texts. With uvx, `candor` is also called `candor-survey`.

`--db URL` before the command, or `CANDOR_DB`, names the database; the default is `./candor.db`. Results go to standard output, and all other messages to standard error, so that results can be piped while messages stay visible.

Something does not work? `candor doctor` checks for common problems, and says how to fix them.

## Exit codes

| code | |
|---|---|
{codes}

## Environment

| variable | |
|---|---|
{variables}

Two other variables also work: `NO_COLOR` turns colours off, and `SQLITE_TMPDIR` sets where SQLite writes temporary files.

## Colours and bars

There are few colours, and only on a terminal: none in a pipe or a file, with `NO_COLOR` set, or with `TERM=dumb`. Long operations show a progress bar on standard error, but only on a terminal.

## Completion

`candor completion bash`, and the same for `zsh` and `fish`, prints a script that lets the shell complete commands, options, files and slugs. Slugs are read from the SQLite file that the command would use. In bash, to load the script in every new shell:

```sh
candor completion bash >> ~/.bash_completion
```
"""


def list_commands(
    command: click.Command = main, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command with its name, in the order of the help."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from list_commands(found, (*path, name))


def examples(command: click.Command) -> list[str]:
    """Return the examples below a command's help."""
    text = command.parser().epilog if isinstance(command, PassThroughCommand) else command.epilog
    return re.findall(r"^  (.+)$", text or "", re.MULTILINE)


def page() -> str:
    """Return the whole page."""
    codes = "\n".join(f"| {code} | {told.replace('|', PIPE)} |" for code, told in CODES.items())
    variables = "\n".join(f"| `{name}` | {told} |" for name, told in VARIABLES.items())
    parts = [TOP.format(codes=codes, variables=variables)]
    for heading, section in COMMANDS.items():
        parts.append(f"## {heading}\n")
        for path, command in list_commands():
            if path and path[0] in section:
                parts.append("\n\n".join(_entry(path, command)) + "\n")
    return "\n".join(parts)


def _entry(path: tuple[str, ...], command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=" ".join(("candor", *path)))
    parser = command.parser() if isinstance(command, PassThroughCommand) else None
    pieces = (
        _pieces(parser)
        if parser
        else [piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]"]
    )
    if isinstance(command, click.Group):
        pieces = []
    yield f"{'#' * (len(path) + 2)} `{' '.join(('candor', *path, *pieces))}`"
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b"):
            yield "\n".join(("```text", *(line.strip() for line in paragraph.splitlines()[1:]), "```"))
        else:
            yield " ".join(paragraph.split())
    if options := [*(_arguments(parser) if parser else _options(command, context))]:
        yield "\n".join(options)
    yield "\n".join(("```sh", *examples(command), "```"))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record and "--help" not in parameter.opts:
            name = record[0].replace("INTEGER RANGE", "N").replace("FLOAT RANGE", "X")
            yield f"- `{name}`: {' '.join(record[1].split())}"


def _pieces(parser: argparse.ArgumentParser) -> list[str]:
    found = [action for action in parser._actions if not action.option_strings]
    return ["|".join(action.choices) if action.choices else action.dest.upper() for action in found]


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if action.dest == "help" or not (action.option_strings or action.help):
            continue
        name = action.option_strings[0] if action.option_strings else action.dest.upper()
        value = f" {action.dest.upper()}" if action.option_strings and action.nargs != 0 else ""
        yield f"- `{name}{value}`: {(action.help or '').replace('%(default)s', str(action.default))}"


if __name__ == "__main__":
    PAGE.write_text(page())
