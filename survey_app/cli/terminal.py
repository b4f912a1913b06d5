"""How commands stand in a terminal: an example below the help; colours and bars only where somebody looks."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


def example(*lines: str) -> str:
    """What stands at the end of a command's help: how it is called, for instance. As it is, whatever the width."""
    return "\n".join(("\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)))


def colour() -> bool | None:
    """What click is told of colours: never where somebody said so (no-color.org), else on a terminal alone."""
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None


def marked(text: str, word: str, said: str) -> str:
    """The text with a word in a colour, which is there for the eye alone."""
    return text.replace(word, click.style(word, fg=said, bold=True))


@contextmanager
def bar(label: str, length: int) -> Iterator[Callable[[int], None]]:
    """How far a long work is, on standard error; nothing where it is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as shown:
        yield shown.update


@contextmanager
def waiting(label: str) -> Iterator[None]:
    """The same for work in one piece, of which nobody can tell how far it is: a line that is gone afterwards."""
    if not sys.stderr.isatty():
        yield
        return
    click.echo(f"{label} …", nl=False, err=True)
    try:
        yield
    finally:
        click.echo("\r\033[K", nl=False, err=True, color=True)


def confirm_on_terminal(question: str, command: str) -> None:
    """Ask before a step that is final. Raise click.Abort on a no, and UsageError where nobody can be asked."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise click.UsageError(f"{question} There is no terminal to ask on. To do it, type: {command}")
    click.confirm(question, abort=True, err=True)
