"""The writer: many requests share a transaction, and a quiet moment is used to tidy."""

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from survey_app.collect.writer import Writer
from survey_app.store import Outcome, Store, Submission
from survey_app.store.sqlite import SqliteStore
from tests.fixtures import check_store, make, submission


def test_many_requests_share_one_transaction_and_each_hears_its_own_outcome(tmp_path: Path) -> None:
    """The first transaction waits until every request has submitted; all that it did not take share the second."""
    store, published = make(tmp_path / "candor.db")
    writes: list[int] = []
    original = store.write
    all_submitted = threading.Event()

    def counting(take, *, batch=False):  # type: ignore[no-untyped-def]
        all_submitted.wait()
        outcomes = original(take, batch=batch)
        writes.append(len(outcomes))
        return outcomes

    store.write = counting  # type: ignore[method-assign]
    first = submission(published)
    taken = Submission(first.survey, first.id, submission(published).bits)
    work = [first, first, taken, *(submission(published) for _ in range(60))]
    submitted = threading.Barrier(len(work), action=all_submitted.set)
    outcomes: list[Outcome] = []
    with contextlib.closing(Writer(store)) as writer:

        def one(what: Submission) -> None:
            outcome = writer.submit(what)
            submitted.wait()
            outcomes.append(outcome.result())

        threads = [threading.Thread(target=one, args=(what,)) for what in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(writes) <= 2 and sum(writes) == len(work)
        assert outcomes.count(Outcome.STORED) == 61
        assert outcomes.count(Outcome.ALREADY_STORED) + outcomes.count(Outcome.ID_TAKEN) == 2
        assert check_store(store, published) == 61


def test_what_could_not_be_ended_is_tried_again_though_nothing_comes_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("QUIET_SECONDS", "RETRY_SECONDS"):
        monkeypatch.setattr(f"survey_app.collect.writer.{name}", 0.01)
    store, published = make(tmp_path / "candor.db")
    tries: list[bool] = []
    third = threading.Event()

    def end() -> bool:
        tries.append(len(tries) == 2)
        if tries[-1]:
            third.set()
        return tries[-1]

    with closing(Writer(store, end)) as writer:
        writer.submit(submission(published)).result()
        assert third.wait(60)
    assert tries == [False, False, True]


class Busy:
    """A store that always needs to be rewritten, and a queue that brings a report a second, without a pause."""

    needs_rewrite = True

    def __init__(self, seconds: int) -> None:
        self.moment, self.end = 0.0, float(seconds)

    def get(self, timeout: float) -> tuple[Submission, Future[Outcome]] | None:
        self.moment += 1.0
        return (Submission(1, b"", b""), Future()) if self.moment < self.end else None

    def get_nowait(self) -> None:
        raise queue.Empty

    def write(self, take: Callable[[], Sequence[Submission]]) -> list[Outcome]:
        return [Outcome.STORED for _ in take()]

    def tidy(self) -> bool:
        return True

    def close(self) -> None:
        pass


def test_keys_are_destroyed_while_reports_arrive_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the latest every two minutes, whatever else is due: as long as rewrites put it off, it was never called."""
    busy = Busy(3600)
    monkeypatch.setattr("survey_app.collect.writer.time", SimpleNamespace(monotonic=lambda: busy.moment))
    calls: list[float] = []

    def destroy_keys() -> bool:
        calls.append(busy.moment)
        return True

    writer = Writer(cast(Store, busy), destroy_keys)
    monkeypatch.setattr(writer, "_queue", busy)
    writer._run()
    gaps = [later - earlier for earlier, later in pairwise([0.0, *calls])]
    assert len(calls) >= 29 and max(gaps) <= 121


def test_the_writer_tidies_when_it_is_quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("survey_app.collect.writer.QUIET_SECONDS", 0.05)
    store, published = make(tmp_path / "candor.db")
    tidied = threading.Event()
    original = SqliteStore.tidy

    def tidy(self: SqliteStore) -> bool:
        stored = self._fetch_one("select count(*) from reports")[0]  # none yet when it tidies at the start
        done = original(self)
        if done and stored:
            tidied.set()
        return done

    monkeypatch.setattr(SqliteStore, "tidy", tidy)
    with closing(Writer(store)) as writer:
        writer.submit(submission(published)).result()
        assert tidied.wait(60)
    assert (tmp_path / "candor.db-wal").stat().st_size == 0


def test_a_writer_that_is_closed_stores_what_waits_and_leaves_neither_thread_nor_open_file(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")

    def held() -> list[str]:
        links = (os.readlink(link) for link in Path("/proc/self/fd").iterdir() if link.exists())
        return [path for path in links if path.startswith(str(tmp_path))]

    writer = Writer(store)
    waiting = [writer.submit(submission(published)) for _ in range(700)]
    assert "writer" in {thread.name for thread in threading.enumerate()}
    writer.close()
    assert {future.result(0) for future in waiting} == {Outcome.STORED}
    assert "writer" not in {thread.name for thread in threading.enumerate()}
    store.close()  # this thread's; SQLite lets go of files once nobody has a lock on them
    assert held() == []
    assert writer.submit(submission(published)).result() is Outcome.STORED, "a later report starts another thread"
    writer.close()
    writer.close()
    assert check_store(store, published) == 701
    store.close()
