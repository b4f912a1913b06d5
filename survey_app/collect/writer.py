"""Group commit: a request waits until its report is on disk, and reports that arrive meanwhile share the next fsync."""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress

from survey_app.store import Outcome, Store, Submission, Unavailable

MOST_AT_ONCE = 512
QUIET_SECONDS = 1.0  # without a report, after which the store is rewritten if it needs it
CLEANUP_SECONDS = 60.0  # between rewrites while reports arrive without a pause, and between attempts to destroy keys
RETRY_SECONDS = 10.0  # until a failed cleanup is retried


class Writer:
    """One thread that stores the waiting reports, and sets the outcome of each.

    It has the store rewritten once a second without reports has passed, and at the latest after a minute. When no
    report is waiting, it calls `destroy_keys` after a rewrite, and otherwise once a minute. While reports arrive
    without a pause, it calls it at most two minutes after the last call. `destroy_keys` destroys the keys of closed
    surveys, and returns whether it succeeded; a failed call is repeated after ten seconds.
    """

    def __init__(self, store: Store, destroy_keys: Callable[[], bool] = lambda: True) -> None:
        self._store, self._destroy_keys = store, destroy_keys
        self._queue: queue.SimpleQueue[tuple[Submission, Future[Outcome]] | None] = queue.SimpleQueue()
        self._start_lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, submission: Submission) -> Future[Outcome]:
        """Queue a report; return a future of its outcome once it is on disk, or of Unavailable."""
        future: Future[Outcome] = Future()
        self._queue.put((submission, future))
        if self._thread is None or not self._thread.is_alive():
            self.begin()
        return future

    def begin(self) -> None:
        """Start the thread; call this in the serving process, after all forks."""
        with self._start_lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Store the waiting reports, then stop the thread and close its connection; a later report starts anew."""
        with self._start_lock:
            if self._thread is not None and self._thread.is_alive():
                self._queue.put(None)
                self._thread.join()
            self._thread = None

    def _run(self) -> None:
        try:
            self._loop()
        finally:
            self._store.close()  # this thread's connection

    def _loop(self) -> None:
        last_rewrite, has_expired, is_last = time.monotonic(), False, False
        keys_due = last_rewrite + CLEANUP_SECONDS
        while not is_last:
            waiting: list[tuple[Submission, Future[Outcome]]] = []
            try:
                first = self._queue.get(timeout=QUIET_SECONDS)
                if first is None:
                    return
                waiting.append(first)
            except queue.Empty:
                with suppress(Unavailable):  # retried in a second
                    has_expired = self._store.expire()
            if has_expired or (
                (not waiting or time.monotonic() - last_rewrite > CLEANUP_SECONDS) and self._store.needs_rewrite
            ):
                self._store.tidy()
                last_rewrite, has_expired = time.monotonic(), False
                keys_due = min(keys_due, last_rewrite)
            if time.monotonic() >= keys_due + (CLEANUP_SECONDS if waiting else 0):
                keys_due = time.monotonic() + (CLEANUP_SECONDS if self._destroy_keys() else RETRY_SECONDS)
            if not waiting:
                continue

            def collect_waiting(waiting: list[tuple[Submission, Future[Outcome]]] = waiting) -> Sequence[Submission]:
                """Return all reports that wait by now; the store calls it once it has the lock."""
                nonlocal is_last
                while len(waiting) < MOST_AT_ONCE and not is_last:
                    try:
                        item = self._queue.get_nowait()
                    except queue.Empty:
                        break
                    if item is None:
                        is_last = True
                    else:
                        waiting.append(item)
                return [submission for submission, _ in waiting]

            try:
                outcomes = self._store.write(collect_waiting)
            except Exception as error:  # every waiting request gets the error
                for _, future in waiting:
                    with suppress(InvalidStateError):  # the request was cancelled
                        future.set_exception(error)
            else:
                for (_, future), outcome in zip(waiting, outcomes, strict=True):
                    with suppress(InvalidStateError):
                        future.set_result(outcome)
