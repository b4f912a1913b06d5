"""Large replies, such as exports: in memory only a piece at a time, however slowly they are taken.

A large reply is written to a temporary file without a name while it is made. So the thread that makes it, and above all
the reading of the database, which keeps order from being erased, end when it is made, not when it is taken; its length
is known before anything is promised; and what fails in the middle is an error, not a file that ends early.

Then it is sent as fast as it is taken. Granian's own streams queue in memory whatever they are given, without end (seen
with 2.8.7); files alone are read as they are taken. So granian is given a named pipe for a file, and the event loop
fills it.
"""

import asyncio
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from survey_app.problems import Problem
from survey_app.store import Unavailable

MOST_IN_MEMORY = 2**20  # bytes of a reply; a larger one goes to a file
CHUNK = 2**16  # bytes: the most that a pipe holds
MOST_SENT = 32  # such files of one worker that are being sent
STALLED = 60.0  # seconds in which nothing of a file is taken, after which it is given up
SLOWEST = 2**14  # bytes a second: a file that is taken more slowly than that is given up too

Headers = list[tuple[str, str]]


def gather(chunks: Iterable[bytes]) -> bytes | BinaryIO:
    """Return a whole reply, in memory or, if it is large, in a file; a Problem if it cannot be made now."""
    held, size, source = list[bytes](), 0, iter(chunks)
    try:
        for chunk in source:
            held.append(chunk)
            size += len(chunk)
            if size > MOST_IN_MEMORY:
                return _written(held, source)
        return b"".join(held)
    except (OSError, Unavailable):  # no room for the file, or the database does not answer
        raise Problem("unavailable") from None


def _written(held: list[bytes], source: Iterable[bytes]) -> BinaryIO:
    file = tempfile.TemporaryFile()  # noqa: SIM115  whoever sends it closes it
    try:
        while held:
            file.write(held.pop(0))
        for chunk in source:
            file.write(chunk)
        file.flush()
    except BaseException:
        file.close()
        raise
    return file


class Sender:
    """Sends large replies of one worker; only its event loop asks."""

    def __init__(self) -> None:
        self._sent = 0

    async def send(self, protocol: Any, status: int, headers: Headers, file: BinaryIO) -> None:
        """Send a file, as fast as it is taken, and close it; a Problem, before anything is sent, if there are many."""
        with file:
            if self._sent >= MOST_SENT:
                raise Problem("unavailable", "Too many files are being sent here at once.", wait=int(STALLED))
            self._sent += 1
            try:
                await _send(protocol, status, headers, file)
            finally:
                self._sent -= 1


def longest(size: int) -> float:
    """Return the seconds in which a file of so many bytes has to be taken."""
    return STALLED + size / SLOWEST


async def _send(protocol: Any, status: int, headers: Headers, file: BinaryIO) -> None:
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    with tempfile.TemporaryDirectory(prefix="candor-") as folder:
        pipe = str(Path(folder) / "reply")
        os.mkfifo(pipe, 0o600)
        ends = [os.open(pipe, way | os.O_NONBLOCK) for way in (os.O_RDONLY, os.O_WRONLY)]
        try:
            length = [] if any(name == "content-length" for name, _ in headers) else [("content-length", str(size))]
            protocol.response_file(status, [*headers, *length], pipe)
            with suppress(BrokenPipeError, TimeoutError):  # the reader has gone, or takes nothing, or too slowly
                async with asyncio.timeout(longest(size)):  # wait_for would lose an end that comes with a byte
                    await _fill(ends, file)
        finally:
            for end in ends:
                os.close(end)


async def _fill(ends: list[int], file: BinaryIO) -> None:
    """Write a file into the last of the ends of a pipe.

    The first is our own end to read from, without which nothing could be written before granian has opened another. It
    is closed once more was written than a pipe holds, of which granian must have read some: from then on the pipe
    breaks when granian leaves.
    """
    while left := file.read(CHUNK):
        while left:
            try:
                left = left[os.write(ends[-1], left) :]
            except BlockingIOError:
                await _writable(ends[-1])
            if len(ends) > 1 and file.tell() - len(left) > CHUNK:
                os.close(ends.pop(0))


async def _writable(end: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_writer(end, ready.set)
    try:
        async with asyncio.timeout(STALLED):
            await ready.wait()
    finally:
        loop.remove_writer(end)
