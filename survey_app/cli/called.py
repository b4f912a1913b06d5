"""By which name the program was called: `candor`, or `candor-survey` like the package, for `uvx candor-survey`.

Help and messages are written for `candor`; whoever has the other name is told commands that they have.
"""

import copy
import re

import click

NAME, PACKAGE = "candor", "candor-survey"
COMMAND = re.compile(rf"\b{NAME}(?= [a-z])")


def program(ctx: click.Context | None = None) -> str:
    """The name of the program in this call."""
    ctx = ctx or click.get_current_context(silent=True)
    return PACKAGE if ctx and ctx.find_root().info_name == PACKAGE else NAME


def called(text: str) -> str:
    """A sentence with the commands that this caller has."""
    return COMMAND.sub(program(), text)


def helped(command: click.Command) -> click.Command:
    """The command as it is, or with help for this caller."""
    if program() == NAME:
        return command
    told = copy.copy(command)
    told.help, told.short_help, told.epilog = (
        text and called(text) for text in (told.help, told.short_help, told.epilog)
    )
    told.params = [copy.copy(one) for one in told.params]
    for one in told.params:
        if isinstance(one, click.Option) and one.help:
            one.help = called(one.help)
    if isinstance(told, click.Group):
        told.commands = {name: helped(one) for name, one in told.commands.items()}
    return told
