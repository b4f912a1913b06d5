"""Files for their owner alone, and a lock that nobody waits for for ever."""

import contextlib
import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from survey_app.store import Outcome, StoreError, Unavailable
from survey_app.store.sqlite import SqliteStore
from survey_app.store.sqlite.tickets import TicketFile
from tests.fixtures import make, submission
from tests.golden_files import Golden

NOBODY = 65534


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("survey_app.store.sqlite.database.LOCK_SECONDS", 0.05)


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Somebody else has the lock."""
    with open(f"{path}.lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_a_lock_that_somebody_holds_is_waited_for_some_seconds_and_then_free_again(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    one = submission(published)
    before = threading.active_count()
    with held(store.path):
        for _ in range(3):
            with pytest.raises(Unavailable, match=r"candor\.db\.lock"):
                store.write([one].copy)
        assert threading.active_count() == before + 1  # one waits, however often it is tried
    assert store.write([one].copy) == [Outcome.STORED]
    assert store.write([one].copy) == [Outcome.ALREADY_STORED]
    store.close()


def test_a_turn_that_nobody_wants_any_more_is_passed_on(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    with held(store.path), pytest.raises(Unavailable):
        store.write([submission(published)].copy)
    with held(store.path):  # which waits for it
        pass
    assert store.write([submission(published)].copy) == [Outcome.STORED]
    store.close()


def test_who_waits_gets_the_turn_when_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("survey_app.store.sqlite.database.LOCK_SECONDS", 60)
    store, published = make(tmp_path / "candor.db")
    outcomes: list[Outcome] = []

    def write() -> None:
        outcomes.extend(store.write([submission(published)].copy))
        store.close()

    with held(store.path):
        writer = threading.Thread(target=write)
        writer.start()
        while store._lock._waiter is None:
            pass
        assert not outcomes
    writer.join()
    assert outcomes == [Outcome.STORED]
    store.close()


def test_an_open_lock_is_closed_to_others(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    lock = tmp_path / "candor.db.lock"
    lock.chmod(0o666)
    assert store.write([submission(published)].copy) == [Outcome.STORED]
    assert lock.stat().st_mode & 0o777 == 0o600
    store.close()


def test_a_lock_that_is_a_link_is_refused(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    (tmp_path / "candor.db.lock").unlink()
    (tmp_path / "candor.db.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unavailable, match="symbolic links"):
        store.write([submission(published)].copy)
    assert not (tmp_path / "elsewhere").exists()
    store.close()


def test_the_lock_belongs_to_whom_the_database_belongs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that may give files away, as root may, makes it so; any other refuses: the owner could hold the lock."""
    store, published = make(tmp_path / "candor.db")
    given: list[tuple[int, ...]] = []
    theirs = os.stat_result((*os.stat(tmp_path / "candor.db.lock")[:4], NOBODY, *os.stat(tmp_path)[5:]))
    monkeypatch.setattr(os, "fstat", lambda _: theirs)
    monkeypatch.setattr(os, "fchown", lambda _, *to: given.append(to))
    assert store.write([submission(published)].copy) == [Outcome.STORED]
    assert given == [(store.path.stat().st_uid, store.path.stat().st_gid)]
    monkeypatch.setattr(os, "fchown", _refuse)
    with pytest.raises(Unavailable, match=rf"candor\.db\.lock: .*\b{NOBODY}\b"):
        store.write([submission(published)].copy)
    store.close()


def _refuse(*_: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_files_that_others_could_read_are_closed_to_them_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "candor.db"
    store, published = make(path)
    store.write([submission(published) for _ in range(200)].copy)
    tickets = TicketFile(tmp_path / "candor.db-tickets")
    tickets.migrate()
    names = {"candor.db", "candor.db-wal", "candor.db-shm", "candor.db-reserve", "candor.db.lock", "candor.db-tickets"}
    assert names <= {file.name for file in tmp_path.iterdir()}
    for name in names:
        (tmp_path / name).chmod(0o644)
    SqliteStore(path).migrate()
    TicketFile(tmp_path / "candor.db-tickets").migrate()
    assert {file.name: oct(file.stat().st_mode & 0o777) for file in tmp_path.glob("candor.db*")} == {
        file.name: "0o600" for file in tmp_path.glob("candor.db*")
    }
    store.close()
    tickets.close()


def test_what_cannot_be_closed_to_others_is_refused_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the file is somebody else's."""
    store, _ = make(tmp_path / "candor.db")
    store.close()
    store.path.chmod(0o644)
    monkeypatch.setattr(Path, "chmod", _refuse)
    with pytest.raises(StoreError, match=r"chmod 600 .*candor\.db$"):
        store.migrate()


def test_a_file_that_lost_its_key_gets_another_one_and_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "candor.db"
    store, _ = make(path)
    store.close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("delete from settings where name = 'secret_key'")
        connection.commit()
    store.migrate()
    key = store.secret_key()
    assert len(key) == 32
    store.migrate()
    assert store.secret_key() == key
    store.close()


def test_a_lock_held_while_a_server_starts_is_told_in_a_sentence(tmp_path: Path, golden: Golden) -> None:
    store, _ = make(tmp_path / "candor.db")
    store.close()
    with held(store.path), pytest.raises(StoreError) as caught:
        store.migrate()
    assert isinstance(caught.value.__context__, Unavailable)
    golden(caught.value)
    store.migrate()
    store.close()
