"""Rate limits by address, account or invitation, over all workers of a machine, without storing any of them.

The counts are in memory that the workers inherit from their parent process. There is no file and no name, and the
counts end with the server. They form a count-min sketch (Cormode and Muthukrishnan, J. Algorithms 55, 2005) with
conservative update. Each name is hashed to one cell in each of four rows, and the smallest of the four is its count. So
no name is stored, not even as a hash. A collision can only make a count too high; with 65,536 cells per row, it takes
as many addresses. Each window begins with empty cells and a new salt. If a worker is killed during an update, the
kernel releases its lock, and one count is at most one too low.
"""

import hashlib
import ipaddress
import math
import mmap
import re
import secrets
import struct
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from survey_app.problems import Problem
from survey_app.store.file_system import lock_byte, unlock_byte

DEFAULT_RATE_LIMIT = "3000/minute"  # a lecture hall shares one address
DEFAULT_LOGIN_LIMIT = "10/minute"
VISIT_LIMIT = "12000/minute"  # four requests per report: page, style, script and definition
READING_LIMIT = "600/minute"  # results, cross-tabs, downloads: each may take seconds
AUTHOR_LIMIT = "60/minute"  # changes by one account's scripts: reading a large file takes seconds
LIMIT = re.compile(r"([1-9][0-9]{0,8})/(second|minute|hour)")
SECONDS = {"second": 1, "minute": 60, "hour": 3600}
COUNTERS = ("senders", "signing-in", "passwords", "authors", "invitations", "visits", "readings")  # counted separately
ROWS, CELLS = 4, 2**16
HEAD = struct.Struct("=d16s")  # start of the window, and its salt
COUNTER_BYTES = HEAD.size + 4 * ROWS * CELLS
NETWORK = 64  # bits of an IPv6 address that identify its network


class TooMany(Problem):
    """Rate limit exceeded; `wait` is the number of seconds until a retry."""


class Counts:
    """Memory for all counts of a server, shared with processes that are forked later."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, len(COUNTERS) * COUNTER_BYTES)
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  only for its lock: it stays empty, and has no name
        weakref.finalize(self, self._file.close)
        self._threads = threading.Lock()

    @contextmanager
    def open_counter(self, name: str) -> Iterator[memoryview]:
        """Yield the bytes of one counter, locked for this thread of this process."""
        index = COUNTERS.index(name)
        with self._threads:  # a file lock belongs to the whole process
            lock_byte(self._file.fileno(), index)
            try:
                with memoryview(self._memory)[index * COUNTER_BYTES : (index + 1) * COUNTER_BYTES] as section:
                    yield section
            finally:
                unlock_byte(self._file.fileno(), index)


class Limiter:
    """A limit on the requests of one address, account or invitation, such as `10/minute`; `off` for no limit.

    Raise ValueError if the limit cannot be parsed.
    """

    def __init__(self, limit: str, counter: str = "senders", counts: Counts | None = None) -> None:
        parsed = LIMIT.fullmatch(limit)
        if parsed is None and limit != "off":
            raise ValueError(
                f"{limit!r} is not a limit; write {DEFAULT_RATE_LIMIT}, with second, minute or hour, or off"
            )
        self._most, self._seconds = (int(parsed[1]), SECONDS[parsed[2]]) if parsed else (0, 1)
        self._place, self._counts = counter, (counts or Counts()) if parsed else None

    def check(self, client: str) -> None:
        """Count one more request of a client. Raise TooMany if it exceeds the limit."""
        if self._counts is None:
            return
        now = time.monotonic()
        with self._counts.open_counter(self._place) as memory:
            cells = memory[HEAD.size :].cast("I")
            start, salt = _window(memory, now, self._seconds)
            indexes = _cells_of(_client_name(client), salt)
            count = min(cells[cell] for cell in indexes)
            if count < self._most:
                for cell in indexes:
                    cells[cell] = max(cells[cell], count + 1)
            cells.release()
        if count >= self._most:
            raise TooMany("too_many_requests", wait=math.ceil(start + self._seconds - now))


def _window(memory: memoryview, now: float, seconds: int) -> tuple[float, bytes]:
    """Return the start of the current window and its salt; after its end, clear all counts and start a new one."""
    start, salt = HEAD.unpack_from(memory)
    if not any(salt) or not start <= now < start + seconds:
        start, salt = now, secrets.token_bytes(16)
        memory[HEAD.size :] = bytes(COUNTER_BYTES - HEAD.size)
        HEAD.pack_into(memory, 0, start, salt)  # last: a process killed before this line leaves the old window
    return start, salt


def _cells_of(name: str, salt: bytes) -> list[int]:
    digest = hashlib.blake2b(name.encode(), key=salt, digest_size=4 * ROWS).digest()
    return [row * CELLS + value % CELLS for row, value in enumerate(struct.unpack(f"={ROWS}I", digest))]


def _client_name(client: str) -> str:
    """Return the name to count: the /64 network of an IPv6 address, since one client has billions of addresses."""
    if ":" not in client:
        return client
    try:
        address = ipaddress.IPv6Address(client.strip("[]").partition("%")[0])
    except ValueError:
        return client
    if address.ipv4_mapped:  # from a server that listens on both IPv4 and IPv6
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(address), NETWORK), strict=False))
