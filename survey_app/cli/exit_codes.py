"""Exit codes of all commands, and the one line on standard error for a failure."""

import errno
import os
import sys
from collections.abc import Callable
from typing import Any

import click

from survey_app.cli.terminal import choose_colour

DONE, NOT_DONE, CALLED_WRONGLY, STOPPED, CLOSED = 0, 1, 2, 130, 141
CODES = {
    DONE: "done",
    NOT_DONE: "not done, and the last line says why: it was refused, cannot be done as things are, or you said no. "
    "Also that something was looked for and found: a claim refuted (`audit`), a wrong tally (`survey check`), another "
    "file (`form --check`), a failure (`doctor`)",
    CALLED_WRONGLY: "called wrongly: no such command, option or value, or two that exclude each other. Of `audit` also "
    "that it could not be run, so that 1 is a refutation and nothing else; of `survey close` that it had to ask, and "
    "there was neither a terminal nor `--yes`",
    STOPPED: "stopped by Ctrl-C",
    CLOSED: "the reader of the output closed it, as in `candor survey list | head -1`; no message",
}
ADVICE_BY_ERRNO = {
    errno.ENOENT: "look whether its name is right",
    errno.EACCES: "run the command as the user whose file it is",
    errno.EPERM: "run the command as the user whose file it is",
    errno.ENOSPC: "free disk space, then repeat the command",
    errno.EDQUOT: "free disk space, then repeat the command",
    errno.EROFS: "name another place",
    errno.EISDIR: "name a file in it",
    errno.ENOTDIR: "look whether its name is right",
}
HELP_ERRORS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())  # of newer clicks: a group alone prints its help


class OutputClosed(Exception):
    """The reader of standard output has closed the pipe."""


class UserInterrupt(Exception):
    """The user pressed Ctrl-C."""


def format_os_error(error: OSError) -> str:
    """Return a sentence about an operating system error: the file, the reason, and advice."""
    files = " to ".join(str(name) for name in (error.filename, error.filename2) if name)
    reason = (error.strerror or str(error)).lower()
    advice = ADVICE_BY_ERRNO.get(error.errno or 0)
    return f"{f'{files}: ' if files else ''}{reason}{f'; {advice}' if advice else ''}"


def run_to_exit_code(run: Callable[[], Any]) -> int:
    """Run a command and return its exit code; print a line with the reason if the command failed."""
    try:
        code = run()
        sys.stdout.flush()
    except SystemExit as end:
        code = end.code
    except click.ClickException as error:
        _print_error(error)
        code = error.exit_code
    except (UserInterrupt, click.Abort) as stop:
        by_hand = isinstance(stop, UserInterrupt) or isinstance(stop.__context__, KeyboardInterrupt)
        prefix = "\n" if by_hand and sys.stderr.isatty() else ""  # after the ^C
        click.echo(prefix + ("stopped" if by_hand else "nothing was done"), err=True)
        code = STOPPED if by_hand else NOT_DONE
    except (OutputClosed, BrokenPipeError):
        _discard_output()
        code = CLOSED
    return code if isinstance(code, int) else DONE


def _print_error(error: click.ClickException) -> None:
    if isinstance(error, HELP_ERRORS):
        error.show()
        return
    message = error.format_message()
    if isinstance(error, click.UsageError) and error.ctx is not None:
        message += f"{'' if message.endswith(('.', '?', ')')) else '.'} See {error.ctx.command_path} --help"
    click.echo(f"{click.style('Error:', fg='red', bold=True)} {message}", err=True, color=choose_colour())


def _discard_output() -> None:
    """Send remaining output to the null device, so that Python does not complain when it exits."""
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, sys.stdout.fileno())
    os.close(null_device)
