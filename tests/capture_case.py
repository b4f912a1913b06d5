"""One case of a capture: a server on an empty folder, and a folder of OUT for what it replies and what commands print."""

import contextlib
import json
import os
import random
import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from click.testing import CliRunner
from flask.testing import FlaskClient

from tests import author_files, product
from tests.capture_text import format_body, format_header, list_files, round_numbers

Definition = dict[str, Any]
Format = Callable[[str], str]


def make_random(label: str) -> random.Random:
    """Return a generator that gives the same whenever it has the same label."""
    return random.Random(label)  # noqa: S311 — repeatable on purpose


class Tape:
    """A seeded generator in the place of the system's randomness; every thread has its own, whatever their order."""

    def __init__(self) -> None:
        self._label, self._turn = "", 0
        self._thread = threading.local()
        self._make_generator = np.random.default_rng

    def rewind(self, label: str) -> None:
        """Begin anew, so that a page or command does not depend on what was drawn before it."""
        self._label, self._turn = label, self._turn + 1

    @property
    def _random(self) -> random.Random:
        if getattr(self._thread, "turn", None) != self._turn:
            self._thread.turn, self._thread.random = self._turn, make_random(self._label)
        generator: random.Random = self._thread.random
        return generator

    def draw(self, size: int) -> bytes:
        """Return bytes, as os.urandom does."""
        return self._random.randbytes(size)

    def make_generator(self, seed: Any = None) -> np.random.Generator:
        """Return a generator, as numpy does; without a seed, the tape gives one."""
        return self._make_generator(self._random.getrandbits(64) if seed is None else seed)

    @contextlib.contextmanager
    def play(self) -> Iterator[None]:
        """Answer everything that asks for randomness."""
        with (
            patch.object(os, "urandom", self.draw),
            patch.object(random, "_urandom", self.draw),
            patch.object(np.random, "default_rng", self.make_generator),
        ):
            yield


TAPE = Tape()

CRASH = "crashed:"  # how the capture of a command that raised begins, after its name; a page replies 500
HEADERS = {"date", "set-cookie", "etag", "content-length", "server", "connection"}  # left out
SUFFIXES = (".csv", ".html", ".json", ".md", ".svg", ".txt", ".xml", ".yaml")


@dataclass
class Case:
    """A server on an empty folder, and where captures of it go: `ask` pages, `run` commands, `write` texts."""

    out: Path
    folder: Path
    server: product.Installation
    masks: dict[str, str] = field(default_factory=dict)

    @cached_property
    def owner(self) -> FlaskClient:
        """Return the browser of ada, who has signed in."""
        return product.sign_in(self.server.app)

    @cached_property
    def visitor(self) -> FlaskClient:
        """Return the browser of a respondent."""
        return self.server.app.test_client()

    def write(self, name: str, text: str) -> None:
        """Write a captured text, without what differs from run to run."""
        for differing, mask in {str(self.folder): "<folder>", **self.masks}.items():
            text = text.replace(differing, mask)
        text = re.sub(rf"(?<![\d.]){re.escape(product.VERSION)}(?![\d.]\d)", "<version>", text)
        path = self.out / re.sub(r"[^\w./+-]", "_", name)
        path = path if path.suffix in SUFFIXES else path.with_name(f"{path.name}.txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text.rstrip("\n") + "\n")

    def ask(self, name: str, path: str, method: str = "GET", *, by: FlaskClient | None = None, **request: Any) -> bytes:
        """Request a page, by ada unless another browser is given; write status, headers and body, and return the body."""
        browser = self.owner if by is None else by
        TAPE.rewind(name)
        reply = browser.open(path, method=method, **request)
        headers = sorted(
            format_header(key.lower(), value) for key, value in reply.headers if key.lower() not in HEADERS
        )
        body = format_body(path, reply.content_type or "", reply.data)
        self.write(name, "\n".join((f"{reply.status_code} {method} {path}", *headers, "", body)))
        return bytes(reply.data)

    def post(self, name: str, path: str, **fields: Any) -> bytes:
        """Send a form of the console, and write the reply."""
        page = self.owner.get("/account").text
        token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page)
        form = {"csrf_token": token[1] if token else "", **fields}
        return self.ask(name, path, "POST", data=form, content_type="multipart/form-data")

    def run(self, name: str, *words: str, formatted: Format = round_numbers, typed: str = "") -> str:
        """Run a command in the case's folder; write its exit code and output, and return the output if all is well."""
        TAPE.rewind(name)
        command = ["--db", f"sqlite:///{self.folder}/candor.db", *words]
        environment = {"CANDOR_LEDGER": f"{self.folder}/ledger.json"}
        with contextlib.chdir(self.folder):
            result = CliRunner(env=environment).invoke(product.COMMAND_LINE, command, input=typed, prog_name="candor")
        crash = result.exception is not None and not isinstance(result.exception, SystemExit)
        top = f"candor {' '.join(words)}\n{CRASH} {result.exception!r}" if crash else f"candor {' '.join(words)}"
        succeeded = result.exit_code == 0
        output = formatted(result.stdout) if succeeded and result.stdout else result.stdout
        self.write(name, f"{top}\nexit {result.exit_code}\n\n{output}\n{round_numbers(result.stderr)}")
        return result.stdout if succeeded else ""

    def write_file(self, name: str, formatted: Callable[[Path], str]) -> None:
        """Write a file that a command made."""
        path = self.folder / name
        self.write(f"made/{name}.txt", formatted(path) if path.exists() else "no file")

    def definition(self, slug: str) -> Definition:
        """Return what is published."""
        parsed: Definition = json.loads(self.visitor.get(f"/api/surveys/{slug}").data)
        return parsed


@contextlib.contextmanager
def start_case(out: Path, **config: Any) -> Iterator[Case]:
    """Give a case with a server of its own, at the moment when surveys are published."""
    TAPE.rewind(out.name)
    with product.predictable(), tempfile.TemporaryDirectory() as name:
        set_clock(author_files.PUBLISHED)
        server = product.start_server(Path(name), **config)
        try:
            yield Case(out, Path(name), server)
        finally:
            server.close()


def set_clock(moment: datetime) -> None:
    """Let the product read this moment from now on."""
    product.Clock.moment = moment


def list_crashes(out: Path) -> list[str]:
    """Return the captures of pages that replied 500, and of commands that raised."""
    tops = {name: (out / name).read_text(encoding="utf-8").split("\n", 2)[:2] for name in sorted(list_files(out))}
    return [name for name, lines in tops.items() if lines[0].startswith("500 ") or lines[-1].startswith(CRASH)]
