"""The group that `candor` is: commands listed by what they are for, each imported when it is called, ended in one way.

A command costs its own imports, not those of all; so does the list of them, and their completion.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from survey_app.cli.exit_codes import Closed, Stopped, ended, sentence


class Place(NamedTuple):
    """Where a command stands: a module of this room, its name there; and what it does, in a few words."""

    module: str
    name: str
    told: str


class Candor(click.Group):
    """See above."""

    sections: Mapping[str, Mapping[str, Place]] = {}

    @property
    def places(self) -> dict[str, Place]:
        """All commands, in the order in which they are listed."""
        return {name: place for section in self.sections.values() for name, place in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.places]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = self.places.get(cmd_name)
        return place and getattr(import_module(f"survey_app.cli.{place.module}"), place.name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.places and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], self.places, 1)
            raise click.UsageError(
                f"There is no command {args[0]!r}.{f' Did you mean {near[0]}?' if near else ''}", ctx
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        wide = max(map(len, self.places))
        for heading, section in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(wide), place.told) for name, place in section.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        found = [(name, place.told) for name, place in self.places.items() if name.startswith(incomplete)]
        commands = [CompletionItem(name, help=told) for name, told in found]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise Closed from None
        except OSError as error:
            raise click.ClickException(sentence(error)) from None
        except KeyboardInterrupt:
            raise Stopped from None
        except Exception as error:
            if refusal := _refusal(error):
                raise click.ClickException(refusal) from None
            raise

    def main(self, args: Sequence[str] | None = None, *more: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command and end with its exit code, or hand on whatever it raises."""
        run: Callable[[], Any] = partial(super().main, args, *more, standalone_mode=False, **extra)
        if not standalone_mode:
            return run()
        raise SystemExit(ended(run))


def _refusal(error: Exception) -> str | None:
    """Return what to say of an error that a store or an author's file gave; None for any other.

    Their classes are imported here, since the list of commands must not wait for them.
    """
    from survey_app.authoring.yaml_source import AuthoringError
    from survey_app.store import StoreError, Unavailable

    if isinstance(error, StoreError | AuthoringError):
        return str(error)
    if isinstance(error, Unavailable):
        return f"the database cannot be used now: {error}; candor doctor says more"
    return None
