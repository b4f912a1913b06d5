"""The `candor` command: every subcommand a few lines around a module that does the work, imported when it is called."""

import sys
from importlib import import_module
from typing import Any

import click

from client.__main__ import main as client_main
from survey_app.authoring.source import AuthoringError
from survey_app.cli.called import called, helped, program
from survey_app.store import DEFAULT_DB, StoreError, Unavailable

PASS_ON = {"ignore_unknown_options": True, "help_option_names": []}
COMMANDS = {  # what is called so, and where it stands: a module of this room, and its name there
    "serve": ("serve", "serve_command"),
    "demo": ("serve", "demo_command"),
    "survey": ("survey", "survey"),
    "issuer": ("issuer", "issuer"),
    "results": ("results", "results_command"),
    "crosstab": ("results", "crosstab_command"),
    "regress": ("results", "regress_command"),
    "simulate": ("simulate", "simulate_command"),
    "plan": ("plan", "plan_command"),
    "export": ("export", "export_command"),
    "tally": ("tally", "tally_command"),
    "form": ("form", "form_command"),
    "copy": ("copy", "copy_command"),
    "backup": ("copy", "backup_command"),
    "restore": ("copy", "restore_command"),
    "codebook": ("archive", "codebook_command"),
    "dossier": ("archive", "dossier_command"),
    "import": ("drafts", "import_command"),
    "audit": ("audit", "audit_command"),
    "shuffle": ("shuffle", "shuffle_command"),
    "user": ("accounts", "user"),
    "token": ("accounts", "token"),
}


class _Friendly(click.Group):
    """Refusals of the store and of an author's file are one clear line; a command costs its own imports, not all."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted((*self.commands, *COMMANDS))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, name = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f"survey_app.cli.{module}"), name)
        return helped(command)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (StoreError, AuthoringError) as error:
            raise click.ClickException(called(str(error))) from None
        except click.ClickException as error:
            error.message = called(error.message)  # type: ignore[misc]  # whatever class it is, with its exit code
            raise
        except Unavailable as error:
            raise click.ClickException(f"the database cannot be written now: {error}") from None


@click.group(cls=_Friendly)
@click.option(
    "--db", envvar="CANDOR_DB", default=None, help=f"The store: sqlite:///path (default {DEFAULT_DB}) or postgresql://…"
)
@click.pass_context
def main(ctx: click.Context, db: str | None) -> None:
    """Surveys whose server cannot know your answer."""
    ctx.obj = db


@main.command("respond", context_settings=PASS_ON)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def respond_command(arguments: tuple[str, ...]) -> None:
    """Answer a survey at URL; every answer is randomized on this device first."""
    sys.exit(client_main(arguments, program=program()))


@main.command("ledger", context_settings=PASS_ON)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def ledger_command(arguments: tuple[str, ...]) -> None:
    """Show or forget what this device has answered and spent."""
    sys.exit(client_main(["ledger", *arguments], program=program()))
