"""A store copied into another, kept in a file, and filled from it: everything, steps included, and nothing of keys."""

import itertools
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from survey_app.accounts import hash_secret, new_token
from survey_app.authoring.terms import Terms
from survey_app.cli import main
from survey_app.store import (
    EventCode,
    EventData,
    Member,
    PublishedSurvey,
    Role,
    State,
    StoreError,
    Submission,
    now,
    open_store,
    transfer,
)
from survey_app.store.records import Hold
from survey_app.store.sql import contents
from survey_app.store.sqlite import SqliteStore
from tests.definitions import simple, survey
from tests.fixtures import add, add_worked_example, check_store, submission
from tests.golden_files import Golden
from tests.postgres import Postgres
from tests.store.conftest import AnyStore, PostgresPlace, SqlitePlace
from tests.store.earlier_files import SENTENCES, write_earlier_file
from tests.ticket_surveys import invitation_survey

Make = Callable[[str], AnyStore]
KINDS = [*itertools.product(("sqlite", "postgres"), repeat=2)]


@pytest.fixture
def make(tmp_path: Path, postgres: Postgres) -> Iterator[Make]:
    """New stores, of either kind."""
    made: list[AnyStore] = []

    def one(kind: str) -> AnyStore:
        folder = tmp_path / str(len(made))
        made.append((PostgresPlace(postgres) if kind == "postgres" else SqlitePlace(folder)).open())
        made[-1].migrate()
        return made[-1]

    yield one
    for store in made:
        store.close()


def url_of(store: AnyStore) -> str:
    return f"sqlite:///{store.path}" if isinstance(store, SqliteStore) else store.url


def fill(store: AnyStore, count: int = 73) -> PublishedSurvey:
    """Something in every table, reports to an open survey and to a closed one."""
    published = add_worked_example(store)
    ada, eve = store.user(published.owner), store.add_user("eve", "x")
    assert ada is not None
    store.add_token(ada, hash_secret(new_token()))
    store.share(published, eve, Role.EDITOR)
    store.add_link(published, "the works council", hash_secret(new_token()))
    store.save_draft(eve.key, "slug: ä\n".encode())
    store.record(ada.key, "exam", EventCode.EXPORTED, EventData(format="csv"), by=eve.key)
    (closed,) = store.add_surveys([Member(survey(simple() | {"slug": "old"}), Terms(size=7))], owner=eve.key)
    store.set_state(closed, State.CLOSED)
    for _ in range(count // 10):
        store.write([submission(published) for _ in range(10)].copy)
    store.write([submission(published) for _ in range(count % 10)].copy)
    return published


def copy(source: AnyStore, target: AnyStore) -> transfer.Digests:
    return transfer.copy_store(source, target, transfer.identity_of(source.secret_key()))


@pytest.mark.parametrize(("kind", "other"), KINDS)
def test_a_copy_has_everything_and_goes_on_from_the_same_step(make: Make, kind: str, other: str) -> None:
    source, target = make(kind), make(other)
    published = fill(source)
    assert copy(source, target) == transfer.compute_digests(source)
    there = target.newest_version("exam")
    assert there == published
    assert check_store(target, there) == 73
    assert target.snapshot(there).reports == source.snapshot(published).reports == 40
    target.write([submission(there) for _ in range(6)].copy)
    assert target.snapshot(there).reports == 40, "39 are pending now"
    target.write([submission(there)].copy)
    assert target.snapshot(there).reports == 60
    assert check_store(target, there) == 80
    assert target.secret_key() != source.secret_key()
    taken = target.add_user("bob", "x").key, target.save_draft(1, b"x"), begin_other(target).key
    assert taken == (3, 2, 3), "keys go on where they were"


@pytest.mark.parametrize(("kind", "other"), KINDS)
def test_what_is_withheld_and_both_queues_are_copied(make: Make, kind: str, other: str) -> None:
    source, target = make(kind), make(other)
    published = add_worked_example(source)
    invited = add(source, invitation_survey(definition=simple() | {"slug": "club"}), owner=published.owner)
    for batch in (True, False):
        source.write([submission(published) for _ in range(39)].copy, batch=batch)
    source.write([row(invited) for _ in range(70)].copy)
    assert copy(source, target) == transfer.compute_digests(source)
    there, held = target.newest_version("exam"), target.newest_version("club")
    assert there is not None and held is not None and (held.hold, held.terms) == (Hold.ALL, invited.terms)
    target.write([row(held)].copy)
    assert (target.snapshot(held).reports, target.snapshot(there).reports) == (0, 0)
    target.write([submission(there)].copy, batch=True)
    assert target.snapshot(there).reports == 20, "the fortieth of the batch queue, and none of the other"
    target.clock = lambda: now() + timedelta(days=29)
    shown = target.newest_version("club")
    assert shown is not None and shown.hold is Hold.NONE and target.snapshot(shown).reports == 71


def row(published: PublishedSurvey) -> Submission:
    return Submission(published.key, secrets.token_bytes(16), b"\x80")


def begin_other(store: AnyStore) -> PublishedSurvey:
    return store.add_surveys([Member(survey(simple() | {"slug": "new"}), Terms())], owner=1)[0]


def test_shards_of_several_servers_become_one_tally(make: Make) -> None:
    source, target = make("postgres"), make("sqlite")
    published = fill(source, 0)
    servers = [open_store(url_of(source)) for _ in range(3)]
    for one in (source, *servers):
        one.write([submission(published) for _ in range(39)].copy)
    copy(source, target)
    there = target.newest_version("exam")
    assert there is not None
    assert (check_store(target, there), target.snapshot(there).reports) == (156, 0)
    target.write([submission(there)].copy)
    assert target.snapshot(there).reports == 137
    for one in servers:
        one.close()


@pytest.mark.parametrize(("kind", "other"), KINDS)
def test_a_copy_that_was_interrupted_is_finished_by_the_next(
    make: Make, kind: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "CHUNK", 10)
    source, target = make(kind), make(other)
    published = fill(source)
    seen: list[int] = []

    def progress(rows: int) -> None:
        seen.append(rows)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        transfer.copy_store(source, target, transfer.identity_of(source.secret_key()), progress)
    with pytest.raises(StoreError, match="unfinished copy"):
        target.check_complete()
    source.write([submission(published) for _ in range(20)].copy)  # it is in use
    source.set_terms(published, Terms(public=False))
    assert copy(source, target) == transfer.compute_digests(source)
    target.check_complete()
    assert check_store(target, published) == 93
    assert copy(source, target) == transfer.compute_digests(source), "once more changes nothing"


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_destination_that_holds_something_else_is_refused(make: Make, kind: str) -> None:
    source, target = make("sqlite"), make(kind)
    fill(source)
    fill(target)
    before = transfer.compute_digests(target)
    with pytest.raises(StoreError):
        copy(source, target)
    assert transfer.compute_digests(target) == before


def test_a_wrong_tally_is_noticed(make: Make) -> None:
    source = make("sqlite")
    fill(source)
    with source._transaction() as connection:
        connection.execute("update tallies set total = total + 1 where total > 0")
    with pytest.raises(StoreError, match=r"tally of exam.*survey check exam"):
        copy(source, make("sqlite"))


KILLED = """
import os, sys
from survey_app.store import open_store, transfer
from survey_app.store.sql import contents
contents.CHUNK = 50
one, other = map(open_store, sys.argv[1:3])
other.migrate()
seen = 0
def progress(rows):
    global seen
    seen += rows
    if seen >= 200:
        os.kill(os.getpid(), 9)
transfer.copy_store(one, other, transfer.identity_of(one.secret_key()), progress)
"""


@pytest.mark.slow
@pytest.mark.parametrize("other", ["sqlite", "postgres"])
def test_a_copy_that_was_killed_is_finished_by_the_command(make: Make, other: str) -> None:
    source, target = make("sqlite"), make(other)
    fill(source, 600)
    urls = url_of(source), url_of(target)
    done = subprocess.run([sys.executable, "-c", KILLED, *urls], cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == -signal.SIGKILL
    refused = CliRunner().invoke(main, ["--db", urls[1], "survey", "list"])
    assert "unfinished copy" in refused.output and refused.exit_code == 1
    told = CliRunner().invoke(main, ["copy", "--from", urls[0], "--to", urls[1]])
    assert told.exit_code == 0, told.output
    assert "600 reports" in told.output
    assert CliRunner().invoke(main, ["copy", "--from", urls[0], "--to", urls[0]]).exit_code == 2
    assert CliRunner().invoke(main, ["copy", "--from", "sqlite:////no/x", "--to", urls[0]]).exit_code == 1


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_backup_under_load_is_restored_with_its_steps(make: Make, kind: str, tmp_path: Path) -> None:
    source, target, file = make(kind), make(kind), tmp_path / "kept.backup"
    published = fill(source, 500)
    busy = open_store(url_of(source))
    done = threading.Event()

    def load() -> None:
        while not done.is_set():
            busy.write([submission(published)].copy)
        busy.close()

    writer = threading.Thread(target=load)
    writer.start()
    try:
        kept = CliRunner().invoke(main, ["--db", url_of(source), "backup", str(file)])
    finally:
        done.set()
        writer.join()
    assert kept.exit_code == 0, kept.output
    assert file.stat().st_mode & 0o777 == 0o600
    assert not [one for one in os.listdir(tmp_path) if one.startswith(file.name) and one != file.name]
    told = CliRunner().invoke(main, ["--db", url_of(target), "restore", str(file)])
    assert told.exit_code == 0, told.output
    there = target.newest_version("exam")
    assert there is not None
    reports, shown = check_store(target, there), target.snapshot(there).reports
    assert 500 <= reports <= check_store(source, published)
    assert reports - shown < 80 and shown >= 460, "two writers have fewer than forty pending each"
    again = CliRunner().invoke(main, ["--db", url_of(source), "backup", str(file)])
    assert again.exit_code == 1 and "--force" in again.output
    assert CliRunner().invoke(main, ["--db", url_of(source), "backup", "--force", str(file)]).exit_code == 0
    before = transfer.compute_digests(target)
    assert CliRunner().invoke(main, ["--db", url_of(target), "restore", str(file)]).exit_code == 1
    assert transfer.compute_digests(target) == before


def test_a_backup_has_no_keys_and_says_what_that_means(make: Make, tmp_path: Path, golden: Golden) -> None:
    source, file = make("sqlite"), tmp_path / "kept.backup"
    published = add_worked_example(source)
    source.add_surveys(
        [Member(invitation_survey(0, definition=simple() | {"slug": "club"}), Terms())], owner=published.owner
    )
    told = CliRunner().invoke(main, ["--db", url_of(source), "backup", str(file)])
    assert told.exit_code == 0, told.output
    note = told.output.splitlines()[-1]
    assert "club" in note
    golden(note)
    assert source.secret_key() not in file.read_bytes()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_log_of_an_earlier_version_is_copied_as_codes(make: Make, tmp_path: Path, kind: str) -> None:
    recent, target = make("sqlite"), make(kind)
    assert isinstance(recent, SqliteStore)
    published = add_worked_example(recent)
    recent.tidy(now=True)
    recent.close()
    write_earlier_file(tmp_path / "old.db", 5, recent.path)
    source = SqliteStore(tmp_path / "old.db")
    source.migrate()
    copy(source, target)
    events = target.events(published.owner)
    assert events == source.events(published.owner)
    assert [(event.code, event.data) for event in reversed(events)] == [(code, data) for _, code, data in SENTENCES]
    source.close()
