"""Output on a terminal: examples in help texts, colours, progress, and questions."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


def format_examples(*lines: str) -> str:
    """Return the examples at the end of a command's help, which click does not wrap."""
    return "\n".join(("\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)))


def choose_colour() -> bool | None:
    """Return False if the environment forbids colours (no-color.org), else None: click then decides."""
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None


def colour_word(text: str, word: str, colour_name: str) -> str:
    """Return the text with a word in colour."""
    return text.replace(word, click.style(word, fg=colour_name, bold=True))


@contextmanager
def show_progress(label: str, length: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that advances a progress bar on standard error; it does nothing without a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as progress:
        yield progress.update


@contextmanager
def show_status(label: str) -> Iterator[None]:
    """Show a label on standard error during work of unknown length, and erase it afterwards."""
    if not sys.stderr.isatty():
        yield
        return
    click.echo(f"{label} …", nl=False, err=True)
    try:
        yield
    finally:
        click.echo("\r\033[K", nl=False, err=True, color=True)


def confirm_on_terminal(question: str, command: str) -> None:
    """Ask before a step that is final. Raise click.Abort for a no, and UsageError without a terminal."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise click.UsageError(f"{question} There is no terminal to confirm on. To confirm, run: {command}")
    click.confirm(question, abort=True, err=True)
