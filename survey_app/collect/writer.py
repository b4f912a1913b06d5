"""Store what is waiting, together: a request waits until its report is on disk, and what arrives meanwhile shares the
next fsync.
"""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress

from survey_app.store import Outcome, Store, Submission, Unavailable

MOST_AT_ONCE = 512
TIDY_SECONDS, TIDY_AT_LEAST = 1.0, 60.0  # when it is quiet, and when it never is
AGAIN_SECONDS = 10.0  # until what could not be ended is tried again


class Writer:
    """One thread that stores whatever is waiting, and tells each waiting request what became of its report.

    `end` is called whenever it has tidied up, and every minute: it ends what closed surveys no longer need, and says
    whether it could.
    """

    def __init__(self, store: Store, end: Callable[[], bool] = lambda: True) -> None:
        self._store, self._end = store, end
        self._queue: queue.SimpleQueue[tuple[Submission, Future[Outcome]] | None] = queue.SimpleQueue()
        self._start = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, submission: Submission) -> Future[Outcome]:
        """What becomes of a report, once it is on disk; or Unavailable."""
        future: Future[Outcome] = Future()
        self._queue.put((submission, future))
        if self._thread is None or not self._thread.is_alive():
            self.begin()
        return future

    def begin(self) -> None:
        """Start the thread in the process that serves, not in one that forks later."""
        with self._start:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Store what is waiting, then end the thread and its connection; a later report starts another one."""
        with self._start:
            if self._thread is not None and self._thread.is_alive():
                self._queue.put(None)
                self._thread.join()
            self._thread = None

    def _run(self) -> None:
        try:
            self._store_what_comes()
        finally:
            self._store.close()  # this thread's connection

    def _store_what_comes(self) -> None:
        tidied, ended, last = time.monotonic(), False, False
        due = tidied + TIDY_AT_LEAST
        while not last:
            waiting: list[tuple[Submission, Future[Outcome]]] = []
            try:
                first = self._queue.get(timeout=TIDY_SECONDS)
                if first is None:
                    return
                waiting.append(first)
            except queue.Empty:
                with suppress(Unavailable):  # it comes back in a second
                    ended = self._store.expire()
            if ended or ((not waiting or time.monotonic() - tidied > TIDY_AT_LEAST) and self._store.untidy):
                self._store.tidy()
                tidied, ended = time.monotonic(), False
                due = tidied
            if time.monotonic() >= due + (TIDY_AT_LEAST if waiting else 0):
                due = time.monotonic() + (TIDY_AT_LEAST if self._end() else AGAIN_SECONDS)
            if not waiting:
                continue

            def drain(waiting: list[tuple[Submission, Future[Outcome]]] = waiting) -> Sequence[Submission]:
                nonlocal last
                while len(waiting) < MOST_AT_ONCE and not last:
                    try:
                        more = self._queue.get_nowait()
                    except queue.Empty:
                        break
                    if more is None:
                        last = True
                    else:
                        waiting.append(more)
                return [submission for submission, _ in waiting]

            try:
                outcomes = self._store.write(drain)
            except Exception as error:  # each waiting request must hear of it
                for _, future in waiting:
                    with suppress(InvalidStateError):  # a request that has given up
                        future.set_exception(error)
            else:
                for (_, future), outcome in zip(waiting, outcomes, strict=True):
                    with suppress(InvalidStateError):
                        future.set_result(outcome)
