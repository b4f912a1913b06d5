"""The thread pools of a worker, so that readers of results do not delay respondents.

Each worker has five pools. A reading (results, cross-tabs, regressions, downloads, codebooks) takes up to seconds of
processor time or reads every report, and most readings need no account. So few run at once, a bounded number waits, and
the next is refused. The pages of a draft parse the author's file and plan the survey, which takes as long, for accounts
only. The pages that explain a survey are rendered for each reader, which takes long for a thousand questions. The
requests that a device needs to answer a survey are quick, and wait only for each other. Reports and tickets need no
thread.
"""

import asyncio
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from survey_app.problems import Problem

Result = TypeVar("Result")

BUSY = "The server is busy with too many requests of this kind. Retry later."
TRY_AGAIN = 5  # seconds
PATIENCE = 10.0  # seconds that a request may wait for a thread; after a longer wait it is refused on its turn


class RequestKind(StrEnum):
    """The kind of a request, which decides its thread pool."""

    RESPONDENT = "respondent"
    EXPLANATION = "explanation"
    PAGE = "page"
    READING = "reading"
    DRAFT = "draft"


class PoolSize(NamedTuple):
    """The number of threads of a pool, and of requests that may wait for them."""

    threads: int
    queue_size: float


POOL_SIZES = {
    RequestKind.RESPONDENT: PoolSize(8, math.inf),
    RequestKind.EXPLANATION: PoolSize(2, 200),
    RequestKind.PAGE: PoolSize(8, 1_000),
    RequestKind.READING: PoolSize(2, 200),
    RequestKind.DRAFT: PoolSize(2, 50),
}
KINDS = {  # by blueprint or by endpoint; all other endpoints are pages
    RequestKind.RESPONDENT: ("assets", "form", "api.definition", "api.health", "api.preflight"),
    RequestKind.EXPLANATION: ("explain",),
    RequestKind.READING: (
        *("archive", "downloads", "results.page", "demo.administrator"),
        *("api.survey_results", "api.survey_crosstab", "api.survey_regression"),
    ),
    RequestKind.DRAFT: ("editor", "languages", "launch", "console.start", "surveys.add"),
}  # fmt: skip


def kind_of(endpoint: str) -> RequestKind:
    """Return the kind of a request to an endpoint. An empty endpoint, for a path without a route, is a page."""
    names = (endpoint, endpoint.partition(".")[0])
    return next((kind for kind, members in KINDS.items() if any(name in members for name in names)), RequestKind.PAGE)


def never_gone() -> bool:
    """Return False: the client is never considered disconnected."""
    return False


class Pool:
    """Threads with a bounded queue. Only the worker's event loop calls it."""

    def __init__(self, kind: RequestKind) -> None:
        size = POOL_SIZES[kind]
        self._capacity, self._pending = size.threads + size.queue_size, 0
        self._patience = PATIENCE if math.isfinite(size.queue_size) else math.inf
        self._threads = ThreadPoolExecutor(size.threads, kind)

    async def run(
        self, call: Callable[..., Result], *arguments: Any, is_gone: Callable[[], bool] = never_gone
    ) -> Result:
        """Call a function on a thread and return its result.

        Raise Problem if too many requests wait, if this request waited too long, or if its client has disconnected.
        """
        if self._pending >= self._capacity:
            raise Problem("unavailable", BUSY, wait=TRY_AGAIN)
        self._pending += 1
        try:
            run = asyncio.get_running_loop().run_in_executor
            return await run(self._threads, self._call, time.monotonic(), is_gone, call, *arguments)
        finally:
            self._pending -= 1

    def _call(self, start: float, is_gone: Callable[[], bool], call: Callable[..., Result], *arguments: Any) -> Result:
        if time.monotonic() - start > self._patience or is_gone():
            raise Problem("unavailable", BUSY, wait=TRY_AGAIN)
        return call(*arguments)

    def close(self) -> None:
        """End the threads, after the last request."""
        self._threads.shutdown()
