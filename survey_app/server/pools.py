"""Which threads answer which request, so that no reader of results keeps a respondent waiting.

Each worker has five pools. A reading (results, cross-tabs, regressions, downloads, codebooks) takes up to seconds of
processor or reads every report, and most of them need no account: few run at once, a bounded number waits, and the next
is refused. The pages of a draft parse the author's file and plan the survey, which takes as long, for accounts only.
The pages that explain a survey are made again for each reader, and take long where it has a thousand questions. What a
device needs to answer is quick, and waits for nothing but itself. Reports and tickets need no thread.
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

BUSY = "Too many such pages are being made here at once."
TRY_AGAIN = 5  # seconds
PATIENCE = 10.0  # seconds that a request waits for a thread; what waited longer is refused when its turn comes


class Kind(StrEnum):
    """What a request is, to the threads."""

    RESPONDENT = "respondent"
    EXPLANATION = "explanation"
    PAGE = "page"
    READING = "reading"
    DRAFT = "draft"


class Size(NamedTuple):
    """How many threads a pool has, and how many requests may wait for them."""

    threads: int
    waiting: float


SIZES = {
    Kind.RESPONDENT: Size(8, math.inf),
    Kind.EXPLANATION: Size(2, 200),
    Kind.PAGE: Size(8, 1_000),
    Kind.READING: Size(2, 200),
    Kind.DRAFT: Size(2, 50),
}
KINDS = {  # by blueprint or by endpoint; what is not named here is a page
    Kind.RESPONDENT: ("assets", "form", "api.definition", "api.health", "api.preflight"),
    Kind.EXPLANATION: ("explain",),
    Kind.READING: (
        *("archive", "downloads", "results.page", "demo.administrator"),
        *("api.survey_results", "api.survey_crosstab", "api.survey_regression"),
    ),
    Kind.DRAFT: ("editor", "languages", "launch", "console.start", "surveys.add"),
}  # fmt: skip


def kind_of(endpoint: str) -> Kind:
    """Return what a request to an endpoint is; an empty one, of a path that leads nowhere, is a page."""
    names = (endpoint, endpoint.partition(".")[0])
    return next((kind for kind, named in KINDS.items() if any(name in named for name in names)), Kind.PAGE)


def never() -> bool:
    """Nobody has gone."""
    return False


class Pool:
    """Threads with a bounded queue; only the worker's event loop asks."""

    def __init__(self, kind: Kind) -> None:
        size = SIZES[kind]
        self._most, self._asked = size.threads + size.waiting, 0
        self._patience = PATIENCE if math.isfinite(size.waiting) else math.inf
        self._threads = ThreadPoolExecutor(size.threads, kind)

    async def run(self, call: Callable[..., Result], *arguments: Any, is_gone: Callable[[], bool] = never) -> Result:
        """Call on a thread, and return what comes of it; a Problem if too many wait, or this one has for too long, or
        nobody waits for it any more."""
        if self._asked >= self._most:
            raise Problem("unavailable", BUSY, wait=TRY_AGAIN)
        self._asked += 1
        try:
            run = asyncio.get_running_loop().run_in_executor
            return await run(self._threads, self._call, time.monotonic(), is_gone, call, *arguments)
        finally:
            self._asked -= 1

    def _call(self, begun: float, is_gone: Callable[[], bool], call: Callable[..., Result], *arguments: Any) -> Result:
        if time.monotonic() - begun > self._patience or is_gone():
            raise Problem("unavailable", BUSY, wait=TRY_AGAIN)
        return call(*arguments)

    def close(self) -> None:
        """End the threads, once nobody sends any more."""
        self._threads.shutdown()
