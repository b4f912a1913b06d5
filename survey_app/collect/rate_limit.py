"""How many requests one address, account or invitation may make, over all workers of a machine, without keeping whose.

The counts stand in memory that the workers inherit from the process that starts them: no file, no name, gone with the
server. They are a count-min sketch (Cormode and Muthukrishnan, J. Algorithms 55, 2005) with conservative update: each
name is hashed to one cell in each of four rows, and the least of the four is its count. So no name is kept, not even as
a hash; what many names share can only be counted too high, and with 65,536 cells a row that takes as many addresses.
Each window begins with empty cells and a new salt. A worker that is killed in the middle leaves the lock, which the
kernel takes back, and one count that is at most one too low.
"""

import fcntl
import hashlib
import ipaddress
import math
import mmap
import os
import re
import secrets
import struct
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from survey_app.problems import Problem

DEFAULT_RATE_LIMIT = "3000/minute"  # a lecture hall shares one address
DEFAULT_LOGIN_LIMIT = "10/minute"
VISIT_LIMIT = "12000/minute"  # what those who send as many reports load: page, style, script and definition
READING_LIMIT = "600/minute"  # of results, cross-tabs, downloads and the like: each may take seconds
AUTHOR_LIMIT = "60/minute"  # changes by one account's scripts: to read a large file takes seconds
LIMIT = re.compile(r"([1-9][0-9]{0,8})/(second|minute|hour)")
SECONDS = {"second": 1, "minute": 60, "hour": 3600}
PLACES = ("senders", "signing-in", "passwords", "authors", "invitations", "visits", "readings")  # what is counted apart
ROWS, CELLS = 4, 2**16
HEAD = struct.Struct("=d16s")  # when the window began, and its salt
PLACE = HEAD.size + 4 * ROWS * CELLS
NETWORK = 64  # bits of an IPv6 address: whoever has one has all that begin so


class TooMany(Problem):
    """Somebody has had enough for now; `wait` tells for how long."""


class Counts:
    """Memory for all counts of a server; whoever forks after it was made shares it."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, len(PLACES) * PLACE)
        self._file, path = tempfile.mkstemp()  # only to be locked: it is empty, and has no name from here on
        Path(path).unlink()
        weakref.finalize(self, os.close, self._file)
        self._threads = threading.Lock()

    @contextmanager
    def place(self, name: str) -> Iterator[memoryview]:
        """The bytes of one place, for this thread of this process alone."""
        index = PLACES.index(name)
        with self._threads:  # a lock on a file is the whole process's
            fcntl.lockf(self._file, fcntl.LOCK_EX, 1, index)
            try:
                with memoryview(self._memory)[index * PLACE : (index + 1) * PLACE] as found:
                    yield found
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, index)


class Limiter:
    """So many requests a minute of one address, or whoever else is counted in this place; `off` for no limit."""

    def __init__(self, limit: str, place: str = "senders", counts: Counts | None = None) -> None:
        parsed = LIMIT.fullmatch(limit)
        if parsed is None and limit != "off":
            raise ValueError(f"{limit!r} is no limit; write {DEFAULT_RATE_LIMIT}, with second, minute or hour, or off")
        self._most, self._seconds = (int(parsed[1]), SECONDS[parsed[2]]) if parsed else (0, 1)
        self._place, self._counts = place, (counts or Counts()) if parsed else None

    def check(self, who: str) -> None:
        """Count one more; TooMany if they have had enough."""
        if self._counts is None:
            return
        now = time.monotonic()
        with self._counts.place(self._place) as memory:
            cells = memory[HEAD.size :].cast("I")
            began, salt = _window(memory, now, self._seconds)
            found = _cells_of(_named(who), salt)
            count = min(cells[cell] for cell in found)
            if count < self._most:
                for cell in found:
                    cells[cell] = max(cells[cell], count + 1)
            cells.release()
        if count >= self._most:
            raise TooMany("too_many_requests", wait=math.ceil(began + self._seconds - now))


def _window(memory: memoryview, now: float, seconds: int) -> tuple[float, bytes]:
    """When this window began, and its salt; the first request after its end begins the next, and all is forgotten."""
    began, salt = HEAD.unpack_from(memory)
    if not any(salt) or not began <= now < began + seconds:
        began, salt = now, secrets.token_bytes(16)
        memory[HEAD.size :] = bytes(PLACE - HEAD.size)
        HEAD.pack_into(memory, 0, began, salt)  # last: whoever is killed before it leaves the old window
    return began, salt


def _cells_of(who: str, salt: bytes) -> list[int]:
    drawn = hashlib.blake2b(who.encode(), key=salt, digest_size=4 * ROWS).digest()
    return [row * CELLS + value % CELLS for row, value in enumerate(struct.unpack(f"={ROWS}I", drawn))]


def _named(who: str) -> str:
    """Whoever has an IPv6 address has billions of them: its network counts."""
    if ":" not in who:
        return who
    try:
        address = ipaddress.IPv6Address(who.strip("[]").partition("%")[0])
    except ValueError:
        return who
    if address.ipv4_mapped:  # of a server that listens on both
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(address), NETWORK), strict=False))
