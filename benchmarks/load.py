"""A small load generator for this machine: raw HTTP/1.1 over persistent connections, bounded in count and time."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Load:
    """The result of a run: requests a second, median and 99th percentile of seconds, and counts of statuses."""

    rate: float
    p50: float
    p99: float
    statuses: dict[int, int]


def request(path: str, body: bytes) -> bytes:
    """Return a POST request as bytes."""
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def run(port: int, requests: Sequence[bytes], concurrency: int) -> Load:
    """Send all requests over `concurrency` connections, each waiting for its answer, and return the measurements."""
    return asyncio.run(_run(port, requests, concurrency))


async def _run(port: int, requests: Sequence[bytes], concurrency: int) -> Load:
    times: list[float] = []
    statuses: dict[int, int] = {}
    queue = iter(requests)

    async def connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for message in queue:
            start = time.perf_counter()
            writer.write(message)
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
            )
            await reader.readexactly(length)
            times.append(time.perf_counter() - start)
            status = int(head[9:12])
            statuses[status] = statuses.get(status, 0) + 1
        writer.close()

    start = time.perf_counter()
    await asyncio.gather(*(connection() for _ in range(concurrency)))
    elapsed = time.perf_counter() - start
    times.sort()
    return Load(len(times) / elapsed, times[len(times) // 2], times[int(len(times) * 0.99)], statuses)
