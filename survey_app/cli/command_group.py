"""The group behind `candor`: it lists commands by purpose, imports each when it is called, and handles its errors.

A command pays for its own imports only. So do the list of commands and shell completion.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from survey_app.cli.exit_codes import OutputClosed, UserInterrupt, format_os_error, run_to_exit_code


class CommandEntry(NamedTuple):
    """A command: its module in this package, its name there, and a summary in a few words."""

    module: str
    name: str
    summary: str


class CandorGroup(click.Group):
    """The group of all commands in sections; it turns expected errors into messages and exit codes."""

    sections: Mapping[str, Mapping[str, CommandEntry]] = {}

    @property
    def entries(self) -> dict[str, CommandEntry]:
        """All commands by name, in the order of the list."""
        return {name: entry for section in self.sections.values() for name, entry in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.entries]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.entries.get(cmd_name)
        return entry and getattr(import_module(f"survey_app.cli.{entry.module}"), entry.name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.entries and not args[0].startswith("-"):
            matches = difflib.get_close_matches(args[0], self.entries, 1)
            raise click.UsageError(
                f"There is no command {args[0]!r}.{f' Did you mean {matches[0]}?' if matches else ''}", ctx
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.entries))
        for heading, section in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), entry.summary) for name, entry in section.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        matches = [(name, entry.summary) for name, entry in self.entries.items() if name.startswith(incomplete)]
        commands = [CompletionItem(name, help=summary) for name, summary in matches]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise OutputClosed from None
        except OSError as error:
            raise click.ClickException(format_os_error(error)) from None
        except KeyboardInterrupt:
            raise UserInterrupt from None
        except Exception as error:
            if refusal := _format_refusal(error):
                raise click.ClickException(refusal) from None
            raise

    def main(self, args: Sequence[str] | None = None, *more: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command and exit with its code; unless `standalone_mode`, return its value or raise its errors."""
        run: Callable[[], Any] = partial(super().main, args, *more, standalone_mode=False, **extra)
        if not standalone_mode:
            return run()
        raise SystemExit(run_to_exit_code(run))


def _format_refusal(error: Exception) -> str | None:
    """Return the message for an error of a store or of an author's file; None for any other error.

    Their classes are imported here, so that the list of commands does not wait for them.
    """
    from survey_app.authoring.yaml_source import AuthoringError
    from survey_app.store import StoreError, Unavailable

    if isinstance(error, StoreError | AuthoringError):
        return str(error)
    if isinstance(error, Unavailable):
        return f"the database cannot be used now: {error}; for details, run candor doctor"
    return None
