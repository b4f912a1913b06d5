"""Large replies, such as exports: only one piece is in memory at a time, however slowly the client reads.

A large reply is written to an unnamed temporary file first. So the thread and the database read end when the file is
complete, not when the client has it. That matters because an open read keeps the order of reports from being erased.
The length is known before the headers are sent. A failure in the middle is an error, not a truncated file.

Then the file is sent as fast as the client reads. Granian's own streams queue everything in memory, without a limit
(seen with 2.8.7); it reads only files at the pace of the client. So granian gets a named pipe as the file, and the
event loop fills it.
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
MOST_TRANSFERS = 32  # files that one worker sends at the same time
STALL_SECONDS = 60.0  # seconds without any progress after which a transfer is abandoned
MIN_BYTES_PER_SECOND = 2**14  # bytes per second: slower transfers are abandoned too

Headers = list[tuple[str, str]]


def gather(chunks: Iterable[bytes]) -> bytes | BinaryIO:
    """Return a whole reply, in memory or, if it is large, in a file. Raise Problem if it cannot be made now."""
    pieces, size, source = list[bytes](), 0, iter(chunks)
    try:
        for chunk in source:
            pieces.append(chunk)
            size += len(chunk)
            if size > MOST_IN_MEMORY:
                return _write_file(pieces, source)
        return b"".join(pieces)
    except (OSError, Unavailable):  # the disk is full, or the database does not respond
        raise Problem("unavailable") from None


def _write_file(pieces: list[bytes], source: Iterable[bytes]) -> BinaryIO:
    file = tempfile.TemporaryFile()  # noqa: SIM115  the sender closes it
    try:
        while pieces:
            file.write(pieces.pop(0))
        for chunk in source:
            file.write(chunk)
        file.flush()
    except BaseException:
        file.close()
        raise
    return file


class Sender:
    """The sender of large replies of one worker. Only its event loop calls it."""

    def __init__(self) -> None:
        self._transfers = 0

    async def send(self, protocol: Any, status: int, headers: Headers, file: BinaryIO) -> None:
        """Send a file as fast as the client reads, and close it.

        Raise Problem, before anything is sent, if too many files are being sent.
        """
        with file:
            if self._transfers >= MOST_TRANSFERS:
                raise Problem(
                    "unavailable", "The server is sending too many files at once. Retry later.", wait=int(STALL_SECONDS)
                )
            self._transfers += 1
            try:
                await _send_file(protocol, status, headers, file)
            finally:
                self._transfers -= 1


def transfer_seconds(size: int) -> float:
    """Return the seconds in which a client has to read a file of `size` bytes."""
    return STALL_SECONDS + size / MIN_BYTES_PER_SECOND


async def _send_file(protocol: Any, status: int, headers: Headers, file: BinaryIO) -> None:
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    with tempfile.TemporaryDirectory(prefix="candor-") as folder:
        pipe = str(Path(folder) / "reply")
        os.mkfifo(pipe, 0o600)
        ends = [os.open(pipe, flag | os.O_NONBLOCK) for flag in (os.O_RDONLY, os.O_WRONLY)]
        try:
            length = [] if any(name == "content-length" for name, _ in headers) else [("content-length", str(size))]
            protocol.response_file(status, [*headers, *length], pipe)
            with suppress(BrokenPipeError, TimeoutError):  # the client has disconnected, has stalled, or is too slow
                async with asyncio.timeout(
                    transfer_seconds(size)
                ):  # wait_for would lose a timeout that coincides with a write
                    await _fill_pipe(ends, file)
        finally:
            for end in ends:
                os.close(end)


async def _fill_pipe(ends: list[int], file: BinaryIO) -> None:
    """Write a file into the last of the ends of a pipe.

    The first end is our own end for reading: without it, nothing could be written before granian opens another. It is
    closed once more bytes were written than a pipe holds, because granian must have read some by then. From then on the
    pipe breaks when granian closes its end.
    """
    while remaining := file.read(CHUNK):
        while remaining:
            try:
                remaining = remaining[os.write(ends[-1], remaining) :]
            except BlockingIOError:
                await _wait_writable(ends[-1])
            if len(ends) > 1 and file.tell() - len(remaining) > CHUNK:
                os.close(ends.pop(0))


async def _wait_writable(end: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_writer(end, ready.set)
    try:
        async with asyncio.timeout(STALL_SECONDS):
            await ready.wait()
    finally:
        loop.remove_writer(end)
