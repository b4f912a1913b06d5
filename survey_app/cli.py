"""The `candor` command: every subcommand a few lines around a module that does the work."""

import sys
from pathlib import Path

import click

from client.__main__ import main as client_main
from survey_app.authoring import build_file
from survey_app.authoring.source import AuthoringError

PASS_ON = {"ignore_unknown_options": True, "help_option_names": []}


@click.group()
def main() -> None:
    """Surveys whose server cannot know your answer."""


@main.group()
def survey() -> None:
    """Author and run surveys."""


@survey.command("build")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def build_command(file: Path) -> None:
    """Write the definition of FILE to standard output; nothing is stored."""
    try:
        draft = build_file(file)
    except AuthoringError as error:
        raise click.ClickException(f"{file}: {error}") from None
    for line in draft.advice:
        click.echo(f"advice: {line}", err=True)
    click.echo(draft.survey.source, nl=False)


@main.command("respond", context_settings=PASS_ON)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def respond_command(arguments: tuple[str, ...]) -> None:
    """Answer a survey at URL; every answer is randomized on this device first."""
    sys.exit(client_main(arguments))


@main.command("ledger", context_settings=PASS_ON)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def ledger_command(arguments: tuple[str, ...]) -> None:
    """Show or forget what this device has answered and spent."""
    sys.exit(client_main(["ledger", *arguments]))
