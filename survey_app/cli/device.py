"""The respondent's commands, passed unchanged to `candor_client`."""

import argparse
import sys
from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

from candor_client.__main__ import ledger_parser, main, respond_parser

PASS_THROUGH = {"ignore_unknown_options": True, "help_option_names": []}


class PassThroughCommand(click.Command):
    """A command whose arguments another parser reads."""

    parser: Callable[[], argparse.ArgumentParser]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        actions = self.parser()._actions
        words = [(word, action.help) for action in actions for word in (action.option_strings or action.choices or ())]
        return [CompletionItem(word, help=description) for word, description in words if word.startswith(incomplete)]


def _complete_arguments(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return ctx.command.shell_complete(ctx, incomplete)


@click.command("respond", cls=PassThroughCommand, context_settings=PASS_THROUGH)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, shell_complete=_complete_arguments)
def respond_command(arguments: tuple[str, ...]) -> None:
    """Answer the survey at URL. Every answer is randomized on this device first."""
    sys.exit(main(arguments))


@click.command("ledger", cls=PassThroughCommand, context_settings=PASS_THROUGH)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, shell_complete=_complete_arguments)
def ledger_command(arguments: tuple[str, ...]) -> None:
    """Show or forget what this device has answered and spent."""
    sys.exit(main(["ledger", *arguments]))


respond_command.parser, ledger_command.parser = respond_parser, ledger_parser
