"""Large replies: spooled, sent as fast as they are taken, and gone with the client that asked for them."""

import os
import tempfile
import threading
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any

import pytest
from flask import Flask, Response

from survey_app.store import Unavailable
from survey_app.web import streaming
from survey_app.web.rsgi import RsgiAdapter
from survey_app.web.streaming import MOST_IN_MEMORY
from tests.fixtures import Installation, build
from tests.rsgi_client import Protocol, ask, scope, serve

PIECE = bytes(range(256)) * 1024
PIECES = 5 * MOST_IN_MEMORY // len(PIECE)


class Made:
    """What an endpoint gives, piece by piece; it knows how many were made and whether it was closed."""

    def __init__(self, pieces: int, error: type[Exception] | None = None) -> None:
        self.pieces, self.error, self.made, self.closed = pieces, error, 0, False

    def __iter__(self) -> Iterator[bytes]:
        for _ in range(self.pieces):
            self.made += 1
            yield PIECE
        if self.error:
            raise self.error("no more")

    def close(self) -> None:
        self.closed = True


class Gone(Protocol):
    """A sender that reads a little of a large reply and goes away, or never begins; or reads a few bytes at a time."""

    def __init__(self, taken: int, at_once: int | None = None) -> None:
        super().__init__()
        self.taken, self.at_once = taken, at_once or taken

    def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None:
        self.status = status

        def read(source: FileIO) -> None:
            with source:
                read = bytearray()
                while len(read) < self.taken and (piece := source.read(min(self.at_once, self.taken - len(read)))):
                    read += piece
                self.body = bytes(read)

        if self.taken:
            self.reader = threading.Thread(target=read, args=(FileIO(file),))
            self.reader.start()


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flask]:
    installation: Installation = build(tmp_path / "installation")
    (tmp_path / "spool").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "spool"))
    yield installation.app
    installation.close()


def offer(app: Flask, made: Made, **headers: str) -> None:
    app.get("/large")(lambda: Response(made, headers=headers))


def leftovers() -> tuple[list[str], int]:
    """Files in the temporary folder, and how many descriptors are open."""
    return os.listdir(tempfile.gettempdir()), len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_large_reply_is_never_whole_in_memory(app: Flask, method: str) -> None:
    made = Made(PIECES)
    offer(app, made)
    ask(app, scope(method, "/large"))  # opens what stays open
    before = leftovers()
    found = ask(app, scope(method, "/large"))
    assert leftovers() == before
    assert found.status == 200
    if method == "HEAD":
        assert (found.body, found.reader) == (b"", None)
    else:
        assert found.reader, "it was sent as a file, which is read as it is taken"
        assert found.headers["content-length"] == str(PIECES * len(PIECE))
        assert found.body == PIECE * PIECES
        assert made.closed


def test_a_small_reply_is_sent_at_once(app: Flask) -> None:
    made = Made(2)
    offer(app, made)
    found = ask(app, scope("GET", "/large"))
    assert (found.reader, found.body, made.closed) == (None, PIECE * 2, True)


def test_a_client_that_left_before_it_was_answered_holds_no_file(app: Flask) -> None:
    class Left(Protocol):
        async def client_disconnect(self) -> None:
            """It has gone at once."""

    offer(app, Made(PIECES))
    before = leftovers()
    found = Left()
    serve(RsgiAdapter(app), scope("GET", "/large"), found)
    assert (found.status, found.reader) in ((0, None), (503, None))
    assert leftovers()[0] == before[0]


@pytest.mark.parametrize("taken", [0, streaming.CHUNK, 3 * streaming.CHUNK])
def test_a_reader_who_goes_away_leaves_nothing_behind(app: Flask, monkeypatch: pytest.MonkeyPatch, taken: int) -> None:
    """The database was read before, so that nobody keeps it from being tidied by taking an export slowly."""
    made = Made(PIECES)
    offer(app, made)
    ask(app, scope("GET", "/large"))
    before = leftovers()
    if not taken:
        monkeypatch.setattr(streaming, "STALL_SECONDS", 0.0)
    gone = Gone(taken)
    serve(RsgiAdapter(app), scope("GET", "/large"), gone)
    assert (gone.status, made.made, made.closed) == (200, 2 * PIECES, True)
    assert leftovers() == before


def test_a_reader_who_takes_a_byte_at_a_time_is_given_up(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """It never stalls, so only the time for the whole file ends it; a slow line has hours for a large export."""
    assert streaming.transfer_seconds(2**20) < 150
    assert 3600 < streaming.transfer_seconds(200_000_000) < 4 * 3600
    offer(app, Made(PIECES))
    before = leftovers()
    monkeypatch.setattr(streaming, "transfer_seconds", lambda size: 0.05)
    dripping = Gone(PIECES * len(PIECE), at_once=1)
    serve(RsgiAdapter(app), scope("GET", "/large"), dripping)
    assert dripping.status == 200 and len(dripping.body) < PIECES * len(PIECE)
    assert leftovers()[0] == before[0]


@pytest.mark.parametrize("pieces", [1, PIECES])
@pytest.mark.parametrize("error", [OSError, Unavailable])
def test_what_fails_in_the_middle_is_an_error_and_no_short_file(
    app: Flask, error: type[Exception], pieces: int
) -> None:
    made = Made(pieces, error)
    offer(app, made)
    found = ask(app, scope("GET", "/large"))
    assert (found.status, found.reader, made.closed) == (503, None, True)


def test_only_so_many_files_are_sent_at_once(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "MOST_TRANSFERS", 0)
    offer(app, Made(PIECES))
    refused: Any = ask(app, scope("GET", "/large"))
    assert (refused.status, "retry-after" in refused.headers) == (503, True)
