"""A thief of the database reads order out of its heap, its transaction numbers and its dead rows; until it is
tidied up, and then no more.

Places and arrival of sixty reports are compared by rank: by chance the correlation exceeds 0.75 with a probability
below 1e-9, so a false alarm is as rare.
"""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from scipy.stats import spearmanr

from survey_app.store import Outcome, PublishedSurvey, State, Submission
from survey_app.store.postgres import PostgresStore
from tests.fixtures import add_worked_example, check_store, submission
from tests.postgres import Postgres
from tests.store.conftest import PostgresPlace
from tests.store.test_connections import COLUMNS

Filled = tuple[PostgresStore, PublishedSurvey, list[Submission]]


@pytest.fixture
def place(postgres: Postgres) -> PostgresPlace:
    return PostgresPlace(postgres)


@pytest.fixture
def filled(place: PostgresPlace) -> Iterator[Filled]:
    """Sixty reports that came one by one."""
    store = place.open()
    published = add_worked_example(store)
    made = [submission(published) for _ in range(60)]
    for one in made:
        store.write([one].copy)
    yield store, published, made
    store.close()


def order_of(store: PostgresStore, column: str, made: list[Submission]) -> float:
    """How well something that PostgreSQL keeps with each row tells the order in which they came, from 0 to 1."""
    rows: list[Any] = store._fetch_all("select id, ctid::text, xmin::text::bigint as xmin from reports_1")
    kept = {id: (tuple(map(int, ctid.strip("()").split(","))), xmin) for id, ctid, xmin in rows}
    values = [kept[one.id][column == "xmin"] for one in made]
    if len(set(values)) == 1:
        return 0.0
    places = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return abs(float(spearmanr([places[value] for value in values], range(len(values))).statistic))


def order_in(content: bytes, made: list[Submission]) -> float:
    """The same by the places of ids in files."""
    places = [content.find(one.id) for one in made]
    return abs(float(spearmanr(places, range(len(places))).statistic)) if min(places) >= 0 else 0.0


@pytest.mark.parametrize("column", ["ctid", "xmin"])
def test_place_and_transaction_tell_the_order_until_it_is_tidied(filled: Filled, column: str) -> None:
    store, published, made = filled
    assert order_of(store, column, made) > 0.99
    assert store.needs_rewrite and store.tidy(now=True) and not store.needs_rewrite
    assert order_of(store, column, made) < 0.75
    assert store._fetch_one("select count(distinct xmin::text) from reports_1")[0] == 1
    ordered = [row[0] for row in store._fetch_all("select id from reports_1 order by ctid")]
    assert ordered == sorted(one.id for one in made)
    assert check_store(store, published) == 60


@pytest.mark.parametrize("name", ["reports_1", "reports_1_pkey"])
def test_the_files_tell_no_order_either(filled: Filled, place: PostgresPlace, name: str) -> None:
    store, _, made = filled
    assert order_in(place.content(name), made) > 0.99
    store.tidy(now=True)
    assert order_in(place.content(name), made) < 0.75


def test_tallies_of_before_are_gone_whose_difference_was_a_single_report(filled: Filled, place: PostgresPlace) -> None:
    store, published, _ = filled
    kept = []
    for _ in range(5):
        kept.append(store._fetch_one("select counts || pending from tallies")[0])
        store.write([submission(published)].copy)
    counts = [one[: 8 * published.survey.width] for one in kept]
    assert all(one in place.content() for one in counts), "an attacker subtracts one from the next"
    store.tidy(now=True)
    assert not any(one in place.content() for one in counts)
    assert store._fetch_one("select count(distinct xmin::text) from tallies")[0] == 1


def wal(server: Postgres) -> bytes:
    return b"".join(file.read_bytes() for file in sorted((server.data / "pg_wal").glob("0*")))


def test_the_wal_has_the_order_until_it_is_tidied_and_nothing_of_it_afterwards(
    filled: Filled, postgres: Postgres
) -> None:
    """Where old segments are removed (`wal_recycle` off), and nobody keeps them."""
    store, _, made = filled
    assert order_in(wal(postgres), made) > 0.99
    store.tidy(now=True)
    kept = wal(postgres)
    assert not any(one.id in kept for one in made)


def test_what_others_left_is_found_by_the_next_process(filled: Filled, place: PostgresPlace) -> None:
    store, published, made = filled
    other = place.open()
    store.close()
    assert other.needs_rewrite
    other.set_state(published, State.CLOSED)
    assert not other.needs_rewrite and order_of(other, "ctid", made) < 0.75
    other.delete_survey("exam")
    content = place.content()
    assert not any(one.id in content for one in made)
    assert not other.needs_rewrite
    other.close()


def test_a_rewrite_waits_for_writers_and_not_for_readers(filled: Filled, place: PostgresPlace) -> None:
    store, published, made = filled
    other = place.open()
    with other.open_snapshot(published) as (_, rows):
        next(rows)
        assert store.tidy() is False
        assert store.needs_rewrite and store.rewrite_failing_since is not None
        store.write([submission(published)].copy)  # collecting goes on
    store._rest_until = 0
    assert store.tidy() is True
    assert not store.needs_rewrite and store.rewrite_failing_since is None
    assert order_of(store, "xmin", made) == 0
    other.close()


def test_no_report_is_lost_that_comes_while_its_table_is_written_anew(filled: Filled, place: PostgresPlace) -> None:
    store, published, _ = filled
    other, done = place.open(), threading.Event()
    stored = 60

    def load() -> None:
        nonlocal stored
        while not done.is_set():
            stored += other.write([submission(published) for _ in range(3)].copy).count(Outcome.STORED)

    writer = threading.Thread(target=load)
    writer.start()
    tidied = [store.tidy(now=True) for _ in range(20)]
    done.set()
    writer.join()
    assert any(tidied)
    assert check_store(store, published) == stored
    other.close()


def test_no_table_has_a_column_that_was_not_thought_about(filled: Filled) -> None:
    """The columns of SQLite's file (`tests/store/test_connections.py`), and three things more, none of them about anybody."""
    rows = filled[0]._fetch_all(
        "select table_name, column_name from information_schema.columns where table_schema = current_schema()"
    )
    found: dict[str, set[str]] = {}
    for table, column in rows:
        found.setdefault(table, set()).add(column)
    expected = {
        table: set(columns) for table, columns in COLUMNS.items() if table not in ("reports", "sqlite_sequence")
    }
    expected["tallies"].add("shard")  # which of sixteen writers counted
    assert found == expected | {"reports_1": {"id", "bits"}, "tidied": {"survey", "total"}}
