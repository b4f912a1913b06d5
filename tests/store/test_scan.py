"""The bits behind the snapshot: exactly the reports that the results show, and no others."""

import contextlib
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from candor_client.report import ID_BYTES
from survey_app.authoring.terms import Terms
from survey_app.store import STEP, Outcome, PublishedSurvey, State, StoreError, Submission
from survey_app.store.sql import report_queries
from survey_app.store.sqlite import SqliteStore
from survey_app.tally import HELD_BYTES, Bits, rows_at_once
from tests.definitions import choice, define, field, subset, survey, worked_example
from tests.fixtures import add as publish
from tests.fixtures import add_worked_example, submission
from tests.store.conftest import AnyStore, Place


def add(store: AnyStore, published: PublishedSurvey, count: int) -> list[Submission]:
    """Reports that come one by one."""
    made = [submission(published) for _ in range(count)]
    for one in made:
        assert store.write([one].copy) == [Outcome.STORED]
    return made


def again(store: AnyStore, old: PublishedSurvey, **settings: Any) -> PublishedSurvey:
    """The same survey with other settings, from nothing."""
    store.delete_survey("exam")
    return publish(store, survey(worked_example()), Terms(public=True, **settings), owner=old.owner)


def scanned(store: AnyStore, published: PublishedSurvey) -> list[bytes]:
    """The rows of a scan, after seeing that they are those behind the snapshot."""
    tally = store.snapshot(published)
    rows = joined(published, scan(store, published))
    assert len(rows) == tally.reports
    assert sums(published, rows) == tally.counts.tolist()
    return [row.tobytes() for row in rows]


def scan(store: AnyStore, published: PublishedSurvey) -> Iterator[Bits]:
    with store.open_snapshot(published) as (_, rows):
        yield from rows


def joined(published: PublishedSurvey, chunks: Iterable[Bits]) -> Bits:
    return np.concatenate([np.zeros((0, published.survey.length), dtype=np.uint8), *chunks])


def sums(published: PublishedSurvey, rows: Bits) -> list[int]:
    """Ones in each stored bit, counted the plain way."""
    ones = np.unpackbits(rows, axis=1, count=published.survey.width)
    return [int(column.sum(dtype=np.int64)) for column in ones.T]


def pending(store: AnyStore, published: PublishedSurvey) -> list[bytes]:
    ((blob,),) = store._fetch_all("select pending from tallies where survey = ?", published.key)
    return [blob[i : i + ID_BYTES] for i in range(0, len(blob), ID_BYTES)]


Made = tuple[AnyStore, PublishedSurvey]


@pytest.fixture
def made(place: Place) -> Iterator[Made]:
    store = place.open()
    yield store, add_worked_example(store)
    store.close()


def steps_of(total: int) -> int:
    """How many of so many reports, which came one by one, are shown."""
    return max(0, total // STEP - 1) * STEP


def test_a_scan_gives_what_the_snapshot_shows_at_every_number_of_reports(made: Made) -> None:
    store, published = made
    arrived: dict[bytes, bytes] = {}
    for count in range(86):
        waiting = pending(store, published)
        assert len(waiting) == count - steps_of(count) < 2 * STEP
        assert set(waiting) <= set(arrived)
        shown = sorted(id for id in arrived if id not in waiting)
        assert scanned(store, published) == [arrived[id] for id in shown]
        arrived |= {one.id: one.bits for one in add(store, published, 1)}


@pytest.mark.parametrize("count", [0, 1, 19, 20, 21, 39, 40, 45, 59, 60])
def test_closing_shows_the_rest_if_it_is_a_step_and_else_never(made: Made, count: int) -> None:
    store, published = made
    add(store, published, count)
    waiting = pending(store, published)
    store.set_state(published, State.CLOSED)
    closed = store.newest_version("exam")
    assert closed is not None
    assert len(scanned(store, closed)) == (count if len(waiting) >= STEP else steps_of(count))
    assert pending(store, closed) == ([] if len(waiting) >= STEP else waiting)
    assert store.is_final(closed)


@pytest.mark.parametrize("count", [0, 19, 25, 45])
def test_a_survey_that_closes_by_time_takes_its_last_step_once(made: Made, count: int) -> None:
    store, old = made
    closes = datetime(2130, 1, 1, tzinfo=UTC)
    published = again(store, old, closes=closes)
    add(store, published, count)
    store.clock = lambda: closes - timedelta(microseconds=1)
    assert store.newest_version("exam") == published
    assert len(scanned(store, published)) == steps_of(count)
    store.clock = lambda: closes
    assert len(scanned(store, published)) == steps_of(count)  # a reader never asks the clock
    closed = store.newest_version("exam")
    assert closed is not None
    assert closed.state is State.CLOSED
    last = len(scanned(store, closed))
    assert last == (count if count - steps_of(count) >= STEP else steps_of(count))
    store.clock = lambda: closes - timedelta(days=1)
    assert store.newest_version("exam") == closed
    assert store.write([submission(published)].copy) == [Outcome.CLOSED]
    assert len(scanned(store, closed)) == last


@pytest.mark.parametrize("notice", ["read", "write", "idle"])
def test_a_clock_that_jumps_past_the_end_and_back_reopens_nothing_in_any_process(
    made: Made, place: Place, notice: str
) -> None:
    """Several servers on one store; only one of their clocks ever passes the date, for a moment."""
    store, old = made
    closes = datetime(2130, 1, 1, tzinfo=UTC)
    published = again(store, old, closes=closes)
    add(store, published, 45)
    jumping = place.open(lambda: closes + timedelta(days=1))
    if notice == "read":
        assert jumping.newest_version("exam") is not None
    elif notice == "write":
        assert jumping.write([submission(published)].copy) == [Outcome.CLOSED]
    else:
        assert jumping.expire()
    jumping.clock = lambda: closes - timedelta(days=1)
    for one in (jumping, store, place.open(jumping.clock)):
        found = one.newest_version("exam")
        assert found is not None
        assert (found.state, one.is_final(found)) == (State.CLOSED, True)
        assert one.write([submission(published)].copy) == [Outcome.CLOSED]
        assert len(scanned(one, found)) == 45
        with pytest.raises(StoreError, match="closed"):
            one.set_terms(found, Terms(public=True, closes=closes + timedelta(days=2)))
        one.close()


@pytest.mark.parametrize("most", [1, 19, 20, 23, 40, 45])
def test_a_full_survey_is_closed_with_its_last_step(made: Made, most: int) -> None:
    store, old = made
    published = again(store, old, max_reports=most)
    for count in range(most):
        assert len(scanned(store, published)) == steps_of(count)
        add(store, published, 1)
    rest = most - (steps_of(most) if most >= 2 * STEP else 0)
    assert len(scanned(store, published)) == (most if rest >= STEP else most - rest)
    full = store.newest_version("exam")
    assert full is not None
    assert (full.state, full.full) == (State.CLOSED, True)
    assert store.write([submission(published)].copy) == [Outcome.FULL]
    assert len(scanned(store, published)) == (most if rest >= STEP else most - rest)


@pytest.mark.parametrize(
    "batches",
    [[39, 1], [19, 19, 19], [5, 30, 4], [5, 30, 5], [100, 3, 18], [7] * 9, [0, 40, 0], [report_queries.CHUNK + 25, 1]],
)
def test_batches_take_steps_as_they_come(made: Made, batches: list[int]) -> None:
    store, published = made
    bits = [submission(published).bits for _ in range(50)]
    total = hidden = 0
    for size in batches:
        batch = [Submission(published.key, (total + i).to_bytes(ID_BYTES, "big"), bits[i % 50]) for i in range(size)]
        assert store.write(batch.copy) == [Outcome.STORED] * size
        total += size
        hidden = STEP if hidden + size >= 2 * STEP else hidden + size
        assert len(pending(store, published)) == hidden
        assert len(scanned(store, published)) == total - hidden


def test_a_batch_with_known_and_taken_ids_counts_only_what_is_new(made: Made) -> None:
    store, published = made
    first = add(store, published, 15)
    taken = first[1]._replace(bits=bytes(byte ^ 0xFF for byte in first[1].bits))
    new = [submission(published) for _ in range(4)]
    outcomes = store.write(lambda: [first[0], taken, *new])
    assert outcomes == [Outcome.ALREADY_STORED, Outcome.ID_TAKEN, *[Outcome.STORED] * 4]
    assert set(pending(store, published)) == {one.id for one in (*first, *new)}
    add(store, published, 21)
    assert len(scanned(store, published)) == 20
    assert len(pending(store, published)) == 20


def test_two_writers_of_a_file_share_the_steps(tmp_path: Path) -> None:
    """As two processes do: two stores on one file."""
    store, other = (SqliteStore(tmp_path / "candor.db") for _ in range(2))
    published = add_worked_example(store)
    for count in range(65):
        reader, writer = (store, other) if count % 3 else (other, store)
        assert len(scanned(reader, published)) == steps_of(count)
        add(writer, published, 1)
    store.close()
    other.close()


WRITER = """
import sys
from survey_app.store import open_store
from tests.fixtures import submission
store = open_store(sys.argv[1])
published = store.newest_version("exam")
for _ in range(100):
    store.write([submission(published)].copy)
store.close()
"""


@pytest.mark.slow
def test_an_export_is_of_one_moment_while_others_write(made: Made, place: Place) -> None:
    store, published = made
    writer = subprocess.Popen([sys.executable, "-c", WRITER, place.url], cwd=Path(__file__).parents[2])
    seen: set[tuple[int, bool]] = set()
    while (running := writer.poll() is None) or not seen:
        with store.open_snapshot(published) as (tally, chunks):
            rows = joined(published, chunks)
        assert len(rows) == tally.reports
        assert sums(published, rows) == tally.counts.tolist()
        seen.add((tally.reports, running))
    assert writer.returncode == 0
    assert all(reports % STEP == 0 for reports, _ in seen)
    assert len(scanned(store, published)) == 80


def test_a_scan_holds_few_bytes_however_long_the_reports_are(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty thousand of the longest would be a gigabyte, and anybody may ask for a cross-tab of public results."""
    store, published = made
    add(store, published, 40)
    monkeypatch.setattr("survey_app.tally.HELD_BYTES", 10 * published.survey.length, raising=False)
    assert max(len(chunk) for chunk in scan(store, published)) <= 10
    assert rows_at_once(survey(worked_example()), 20_000) == 10
    monkeypatch.undo()
    assert rows_at_once(survey(worked_example()), 20_000) == 20_000
    longest = define([choice(options=1000)], [field(subset(1000, 1), "help")])
    assert rows_at_once(survey(longest), 10**9) * survey(longest).length <= HELD_BYTES


def test_a_scan_sees_one_moment(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_queries, "CHUNK", 10)
    store, published = made
    add(store, published, 40)
    rest = scan(store, published)
    rows = len(next(rest))
    assert rows < 20
    add(store, published, 40)
    assert rows + sum(map(len, rest)) == 20
    assert len(scanned(store, published)) == 60


@pytest.mark.parametrize("leave", ["close", "drop", "fail"])
def test_a_scan_that_is_left_early_holds_nothing(made: Made, monkeypatch: pytest.MonkeyPatch, leave: str) -> None:
    monkeypatch.setattr(report_queries, "CHUNK", 10)
    store, published = made
    add(store, published, 40)
    rest = scan(store, published)
    assert len(next(rest)) <= 10
    assert store.tidy(now=False) is False  # it does hold a moment while it is read
    if leave == "close":
        rest.close()  # type: ignore[attr-defined]
    elif leave == "fail":
        with contextlib.suppress(KeyError):
            rest.throw(KeyError)  # type: ignore[attr-defined]
    del rest
    add(store, published, 1)
    assert store.tidy(now=True) is True
    if isinstance(store, SqliteStore):
        assert (store.path.parent / "candor.db-wal").stat().st_size == 0


def test_waiting_ids_go_with_their_survey(made: Made, place: Place) -> None:
    store, published = made
    ids = [one.id for one in add(store, published, 7)]
    store.delete_survey("exam")
    assert store._fetch_one("select count(*) from tallies")[0] == 0
    store.close()
    content = place.content()
    assert not any(one in content for one in ids)


def test_ids_that_took_their_step_are_wiped(made: Made, place: Place) -> None:
    """Each id is left once in the file, in its report (in PostgreSQL also in its index); those that stay, once more."""
    store, published = made
    ids = [one.id for one in add(store, published, 60)]
    assert store.tidy(now=True)
    content, waiting = place.content(), pending(store, published)
    assert len(waiting) == 20
    own = 1 if isinstance(store, SqliteStore) else 2
    assert [content.count(one) for one in ids] == [own + (one in waiting) for one in ids]


def test_a_scan_changes_nothing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "candor.db")
    published = add_worked_example(store)
    add(store, published, 53)
    assert store.tidy(now=True)
    before = store.path.read_bytes()
    scanned(store, published)
    with contextlib.closing(sqlite3.connect(store.path)) as connection:
        assert connection.execute("pragma wal_checkpoint(truncate)").fetchone()[0] == 0
    assert store.path.read_bytes() == before


def test_waiting_ids_tell_no_order(made: Made) -> None:
    """Sorted, as the reports are: no order of arrival is at rest, here neither."""
    store, published = made
    add(store, published, 59)
    assert store.tidy(now=True)
    assert len(pending(store, published)) == 39
    assert pending(store, published) == sorted(pending(store, published))
