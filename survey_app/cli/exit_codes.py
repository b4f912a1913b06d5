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
    NOT_DONE: "not done; the last line says why: the command was refused, it is not possible in the current state, or "
    "you answered no. Checks also exit with 1 if they find a problem: a refuted claim (`audit`), a wrong tally "
    "(`survey check`), a different file (`form --check`), a failure (`doctor`)",
    CALLED_WRONGLY: "wrong usage: an unknown command, option or value, or options that exclude each other. `audit` "
    "also exits with 2 if it could not be run, so that 1 always means a refutation. `survey close` exits with 2 if it "
    "needs a confirmation and there is neither a terminal nor `--yes`",
    STOPPED: "stopped by Ctrl-C",
    CLOSED: "the reader of the output closed the pipe, as in `candor survey list | head -1`; no message is printed",
}
ADVICE_BY_ERRNO = {
    errno.ENOENT: "check the path",
    errno.EACCES: "run the command as the user who owns the file",
    errno.EPERM: "run the command as the user who owns the file",
    errno.ENOSPC: "free disk space, then repeat the command",
    errno.EDQUOT: "free disk space, then repeat the command",
    errno.EROFS: "choose another location",
    errno.EISDIR: "name a file in it",
    errno.ENOTDIR: "check the path",
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
