"""The `candor` command: every subcommand a few lines around a module that does the work."""

import sys
from typing import Any

import click

from client.__main__ import main as client_main
from survey_app.authoring.source import AuthoringError
from survey_app.cli import (
    accounts,
    archive,
    drafts,
    export,
    invitations,
    issuer,
    plan,
    results,
    serve,
    simulate,
    survey,
)
from survey_app.store import DEFAULT_DB, StoreError, Unavailable

PASS_ON = {"ignore_unknown_options": True, "help_option_names": []}


class _Friendly(click.Group):
    """Refusals of the store and of an author's file are one clear line."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (StoreError, AuthoringError) as error:
            raise click.ClickException(str(error)) from None
        except Unavailable as error:
            raise click.ClickException(f"the database cannot be written now: {error}") from None


@click.group(cls=_Friendly)
@click.option("--db", envvar="CANDOR_DB", default=None, help=f"The store: sqlite:///path (default {DEFAULT_DB}).")
@click.pass_context
def main(ctx: click.Context, db: str | None) -> None:
    """Surveys whose server cannot know your answer."""
    ctx.obj = db


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


for command in (invitations.invite_command, invitations.invited_command):
    survey.survey.add_command(command)
for command in (
    serve.serve_command,
    serve.demo_command,
    survey.survey,
    issuer.issuer,
    results.results_command,
    results.crosstab_command,
    results.regress_command,
    simulate.simulate_command,
    plan.plan_command,
    export.export_command,
    archive.codebook_command,
    archive.dossier_command,
    drafts.import_command,
    accounts.user,
    accounts.token,
):
    main.add_command(command)
