"""Several servers on one PostgreSQL: nothing is lost, nothing counted twice, steps and quotas hold over all of them."""

import contextlib
import http.client
import itertools
import json
import secrets
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from candor_client import Report, randomize
from survey_app.authoring.terms import Terms
from survey_app.store import STEP, Outcome, PublishedSurvey, State, Submission, Unavailable, open_store
from survey_app.store.postgres import PostgresStore, database
from tests.definitions import survey, worked_example
from tests.fixtures import SAID, add, add_worked_example, check_store, submission
from tests.postgres import Postgres
from tests.server_process import PATH, PATIENCE, Server
from tests.soak import soak_count
from tests.store.conftest import PostgresPlace

SENDERS = 6


@pytest.fixture
def place(postgres: Postgres) -> PostgresPlace:
    return PostgresPlace(postgres)


def test_each_server_counts_in_a_shard_of_its_own_and_closing_counts_together(place: PostgresPlace) -> None:
    stores = [place.open() for _ in range(3)]
    published = add_worked_example(stores[0])
    for count, store in zip((39, 15, 5), stores, strict=True):
        store.write([submission(published) for _ in range(count)].copy)
    assert stores[0]._fetch_all("select shard, total, shown from tallies order by shard") == [
        (0, 39, 0),
        (1, 15, 0),
        (2, 5, 0),
    ]
    stores[1].write([submission(published) for _ in range(25)].copy)
    assert [store.snapshot(published).reports for store in stores] == [20] * 3
    stores[2].set_state(published, State.CLOSED)
    assert [store.snapshot(published).reports for store in stores] == [84] * 3
    assert stores[0]._fetch_all("select shard, total, shown from tallies") == [(0, 84, 84)]
    assert check_store(stores[0], published) == 84
    for store in stores:
        store.close()


@pytest.mark.parametrize("counts", [(6, 6, 7), (6, 7, 7)])
def test_what_all_have_pending_is_a_step_together_or_never_shown(place: PostgresPlace, counts: tuple[int, ...]) -> None:
    stores = [place.open() for _ in counts]
    published = add_worked_example(stores[0])
    for count, store in zip(counts, stores, strict=True):
        store.write([submission(published) for _ in range(count)].copy)
    stores[1].set_state(published, State.CLOSED)
    assert stores[0].snapshot(published).reports == (20 if sum(counts) == 20 else 0)
    for store in stores:
        store.close()


def test_more_servers_than_shards_share_them(place: PostgresPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "SHARDS", 2)
    stores = [place.open() for _ in range(4)]
    published = add_worked_example(stores[0])
    at_once(lambda store: [store.write([submission(published)].copy) for _ in range(15)], stores)
    assert check_store(stores[0], published) == 60
    assert stores[0]._fetch_one("select count(*) from tallies")[0] <= 2
    for store in stores:
        store.close()


def at_once(act: Callable[[PostgresStore], object], stores: list[PostgresStore]) -> None:
    """Every store in a thread of its own."""
    failed: list[BaseException] = []

    def run(store: PostgresStore) -> None:
        try:
            act(store)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_quota_is_exact_over_servers(place: PostgresPlace) -> None:
    stores = [place.open() for _ in range(3)]
    first = add_worked_example(stores[0])
    published = add(stores[0], survey(worked_example() | {"slug": "few"}), Terms(max_reports=50), owner=first.owner)
    outcomes: list[Outcome] = []

    def send(store: PostgresStore) -> None:
        for _ in range(10):
            outcomes.extend(store.write([submission(published) for _ in range(3)].copy))

    at_once(send, stores)
    assert sorted(set(outcomes)) == [Outcome.STORED, Outcome.FULL] and outcomes.count(Outcome.STORED) == 50
    assert check_store(stores[1], published) == 50
    closed = stores[2].newest_version("few")
    assert closed is not None and (closed.state, closed.full) == (State.CLOSED, True)
    for store in stores:
        store.close()


def test_one_report_that_reaches_two_servers_is_counted_once(place: PostgresPlace) -> None:
    """In every order, alone and in batches, so that they meet in the middle of a transaction."""
    stores = [place.open() for _ in range(2)]
    published = add_worked_example(stores[0])
    made = [submission(published) for _ in range(600)]
    heard: list[list[Outcome]] = []

    def send(store: PostgresStore) -> None:
        for batch in (made[:300], made[300:], *([one] for one in made[:40])):
            secrets.SystemRandom().shuffle(batch)
            heard.append(store.write(batch.copy))

    at_once(send, stores)
    told = [one for outcomes in heard for one in outcomes]
    assert told.count(Outcome.STORED) == 600 and set(told) == {Outcome.STORED, Outcome.ALREADY_STORED}
    assert check_store(stores[0], published) == 600
    for store in stores:
        store.close()


@pytest.fixture
def own() -> Iterator[Postgres]:
    """A PostgreSQL to be killed; it waits for the disk."""
    running = Postgres(fsync="on", recovery_init_sync_method="syncfs")
    yield running
    running.stop()


def test_a_store_comes_back_after_the_database_was_restarted(own: Postgres) -> None:
    store = PostgresPlace(own).open()
    published = add_worked_example(store)
    assert store.write([submission(published)].copy) == [Outcome.STORED]
    own.kill()
    with pytest.raises(Unavailable):
        store.write([submission(published)].copy)
    own.start()
    assert store.write([submission(published)].copy) == [Outcome.STORED]
    assert check_store(store, published) == 2
    own.kill()
    own.start()
    assert store.newest_version("exam") is not None, "reading finds new connections, too"
    assert store.write([submission(published)].copy) == [Outcome.STORED], "nobody notices a restart while all is quiet"
    store.close()


class Load:
    """Senders to several servers, and somebody who polls the results."""

    def __init__(self, servers: list[Server], published: PublishedSurvey) -> None:
        self.servers, self.published = servers, published
        self.acknowledged: list[Report] = []
        self.begun, self.seen = 0, {0}
        self._lock, self._enough = threading.Lock(), threading.Event()

    def run(self, count: int, end: Callable[[], object]) -> None:
        """Until so many are acknowledged; then `end` happens, in the midst of it."""
        self._enough.clear()
        self._left = count
        senders = [threading.Thread(target=self._send, args=(self.servers[i % 2],)) for i in range(SENDERS)]
        senders += [threading.Thread(target=self._poll, args=(server,)) for server in self.servers]
        for thread in senders:
            thread.start()
        assert self._enough.wait(PATIENCE)
        end()
        for thread in senders:
            thread.join()

    def _send(self, server: Server) -> None:
        with (
            contextlib.suppress(OSError, http.client.HTTPException),
            contextlib.closing(server.connect()) as connection,
        ):
            while not self._enough.is_set():
                report = randomize(self.published.survey, SAID)
                with self._lock:
                    self.begun += 1
                connection.request("POST", PATH, report.to_json())
                response = connection.getresponse()
                response.read()
                if response.status != 201:
                    assert response.status == 503
                    return
                with self._lock:
                    self.acknowledged.append(report)
                    self._left -= 1
                    if self._left <= 0:
                        self._enough.set()

    def _poll(self, server: Server) -> None:
        with (
            contextlib.suppress(OSError, http.client.HTTPException),
            contextlib.closing(server.connect()) as connection,
        ):
            while not self._enough.is_set():
                connection.request("GET", "/api/surveys/exam/results")
                response = connection.getresponse()
                said = response.read()
                if response.status == 200:
                    with self._lock:
                        self.seen.add(json.loads(said)["reports"])


def rounds_of_killing(own: Postgres, folder: Path, rounds: int) -> None:
    """Servers, or the database under them, are killed in turns while reports come."""
    url = own.schema()
    store = open_store(url)
    published = add_worked_example(store)
    servers = [Server(folder, 1, db=url) for _ in range(2)]
    for server in servers:
        server.start()
    load = Load(servers, published)

    def kill_all() -> None:
        for server in servers:
            server.kill()

    for number in range(rounds):
        if number % 2:
            load.run(30 + secrets.randbelow(100), own.kill)
            own.start()
            again = submission(published)
            assert store.write([again].copy) == [Outcome.STORED]
            load.acknowledged.append(Report(published.survey.digest, again.id, again.bits))
            load.begun += 1
        else:
            load.run(30 + secrets.randbelow(100), kill_all)
            for server in servers:
                server.start()
        assert len(load.acknowledged) <= check_store(store, published) <= load.begun
        kept = {one.id: store.bits_of(Submission(published.key, one.id, one.bits)) for one in load.acknowledged}
        assert all(kept[one.id] == one.bits for one in load.acknowledged)
        load.seen.add(store.snapshot(published).reports)  # whether or not somebody who polls was in time
    store.set_state(published, State.CLOSED)
    load.seen.add(store.snapshot(published).reports)
    steps = sorted(load.seen)
    assert len(steps) > 2 and all(b - a >= STEP for a, b in itertools.pairwise(steps)), steps
    assert all(server.stop() == 0 for server in servers)
    store.close()


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_when_servers_or_the_database_are_killed(own: Postgres, tmp_path: Path) -> None:
    rounds_of_killing(own, tmp_path, 2)


@pytest.mark.soak
def test_nothing_acknowledged_is_lost_in_a_hundred_rounds_of_killing(own: Postgres, tmp_path: Path) -> None:
    rounds_of_killing(own, tmp_path, soak_count(100))
