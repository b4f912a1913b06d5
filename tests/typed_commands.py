"""The commands that a page tells a reader to type: run in this process, the server in one of its own."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence

from click.testing import CliRunner

from survey_app.cli import main
from tests.module_graph import ROOT

PROMPTS = ("> ", "[y/N] ")


def candor(*words: str, typed: str = "") -> str:
    """Run a command and return what it prints; it has to succeed."""
    done = CliRunner().invoke(main, words, input=typed)
    assert done.exit_code == 0, f"candor {' '.join(words)}: {done.output}"
    return done.stdout


@contextlib.contextmanager
def run_server(words: Sequence[str]) -> Iterator[int]:
    """Run the server in a process of its own; yield its port."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    server = _start([*words, "--port", str(port)])
    waiting = threading.Event()
    try:
        while server.poll() is None:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            waiting.wait(0.05)
        yield port
    finally:
        server.terminate()
        server.communicate(timeout=60)


def answer_prompts(words: Sequence[str], *, yes: str, scale: str) -> str:
    """Run a command and answer its prompts, with a yes or a place on a scale; return what it prints."""
    process = _start(words)
    assert process.stdin and process.stdout
    printed = ""
    while piece := process.stdout.read(1):
        printed += piece
        if printed.endswith(PROMPTS):
            process.stdin.write(scale if printed.endswith("(a number) > ") else yes)
            process.stdin.flush()
    process.stdin.close()
    assert process.wait(60) == 0, printed
    process.stdout.close()
    return printed


def _start(words: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "from survey_app.cli import main; main()", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
