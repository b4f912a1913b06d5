"""A file of the version before is brought up to date; any other is refused, and left as it is."""

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from survey_app.accounts import hash_secret
from survey_app.store import Role, State, StoreError, Submission, now
from survey_app.store.records import Hold
from survey_app.store.sqlite import SqliteStore
from survey_app.store.sqlite.schema import MIGRATIONS
from tests.definitions import simple, survey
from tests.fixtures import TOKEN, add, add_worked_example, check_store, make, submission
from tests.postgres import Postgres
from tests.store.conftest import PostgresPlace
from tests.store.test_connections import schema
from tests.ticket_surveys import invitation_survey


def aged(path: Path, version: int) -> SqliteStore:
    """The same file, as if another version had made it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"pragma user_version={version};")
    return SqliteStore(path)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_file_of_an_earlier_version_is_refused_with_a_sentence_and_left_alone(tmp_path: Path, version: int) -> None:
    path = tmp_path / "candor.db"
    make(path)[0].close()
    older = aged(path, version)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"earlier Candor.*cannot read.*name a new file"):
        older.migrate()
    assert path.read_bytes() == before


def test_what_a_killed_server_left_beside_such_a_file_is_left_alone_too(tmp_path: Path) -> None:
    path, copy = tmp_path / "candor.db", tmp_path / "killed" / "candor.db"
    make(path)[0].close()
    aged(path, 2)
    copy.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("insert into settings values ('more', x'00')")
        connection.commit()
        for end in ("", "-wal"):  # as they are while it runs
            Path(f"{copy}{end}").write_bytes(Path(f"{path}{end}").read_bytes())
    before = {file.name: file.read_bytes() for file in copy.parent.iterdir()}
    assert len(before["candor.db-wal"]) > 0
    with pytest.raises(StoreError, match="It was not changed"):
        SqliteStore(copy).migrate()
    assert {file.name: file.read_bytes() for file in copy.parent.iterdir()} == before


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "candor.db"
    store, published = make(path)
    store.migrate()
    assert store.newest_version(published.survey.slug) == published
    store.close()


def test_a_file_of_a_later_version_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "candor.db"
    make(path)[0].close()
    with pytest.raises(StoreError, match="was made by a newer Candor"):
        aged(path, 99).migrate()


BEFORE = """
create table settings (name text primary key, value blob not null) without rowid;
create table users (
    key integer primary key, name text not null unique, password text not null,
    admin integer not null, disabled integer not null, stamp text not null);
create table tokens (hash blob primary key, user integer not null references users, made text not null) without rowid;
create table surveys (
    key integer primary key autoincrement, slug text not null, study text not null, version integer not null,
    digest text not null, state text not null, public integer not null, opens text, closes text, max_reports integer,
    deletes text, size integer, owner integer not null references users, definition blob not null, source blob,
    unique (slug, version), unique (slug, digest));
create index studies on surveys (study);
create table reports (survey integer not null, id blob not null, bits blob not null,
    primary key (survey, id)) without rowid;
create table tallies (survey integer primary key, total integer not null, counts blob not null,
    shown integer not null, shown_counts blob not null, pending blob not null, final integer not null);
create table drafts (key integer primary key autoincrement, owner integer not null references users,
    source blob not null);
create table audit (key integer primary key, owner integer not null references users, slug text not null,
    moment text not null, what text not null);
"""  # as version 4 made it


def version_4(path: Path, now: Path) -> None:
    """A file of version 4 with what a server of that time had put into it: accounts, a survey, reports, a draft, a log."""
    store, published = make(now)
    store.write(lambda: [submission(published) for _ in range(50)])
    store.save_draft(published.owner, b"slug: later\n")
    store.add_token(store.users()[0], hash_secret(TOKEN))
    store.tidy(now=True)
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"pragma journal_mode=wal; begin; {BEFORE} pragma user_version=4; commit;")
        connection.execute("attach ? as now", (str(now),))
        for table in re.findall(r"create table (\w+)", BEFORE):
            names = ", ".join(row[1] for row in connection.execute(f"pragma main.table_info({table})"))
            connection.execute(f"insert into main.{table} select {names} from now.{table}")  # noqa: S608 — from above
        connection.commit()


def content(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of the tables and columns that version 4 had."""
    with closing(sqlite3.connect(path)) as connection, closing(sqlite3.connect(":memory:")) as old:
        old.executescript(BEFORE)
        names = {
            table: ", ".join(row[1] for row in old.execute(f"pragma table_info({table})"))
            for table in re.findall(r"create table (\w+)", BEFORE)
        }
        return {
            table: connection.execute(f"select {columns} from {table}").fetchall()  # noqa: S608 — the same
            for table, columns in names.items()
        }


def test_a_file_of_version_4_with_reports_is_brought_up_to_date_and_stays_whole(tmp_path: Path) -> None:
    path, now = tmp_path / "old.db", tmp_path / "now.db"
    version_4(path, now)
    before = content(path)
    assert len(before["reports"]) == 50 and before["audit"] and before["drafts"]

    store = SqliteStore(path)
    store.migrate()
    assert content(path) == before
    assert schema(path) == schema(now)
    published = store.newest_version("exam")
    assert published is not None
    assert check_store(store, published) == 50
    assert store.user_of_token(hash_secret(TOKEN)) == store.users()[0]
    friend = store.add_user("eve", "x")
    store.share(published, friend, Role.EDITOR)
    store.set_state(published, State.PAUSED, by=friend.key)
    assert [(event.what, event.by) for event in store.events(published.owner)[:2]] == [
        ("paused", "eve"),
        ("shared with eve as editor", ""),
    ]
    store.migrate()  # once more, as every start does
    assert [one.name for one in store.shares("exam")] == ["eve"]
    store.close()


def test_an_update_that_fails_halfway_leaves_version_4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.db"
    version_4(path, tmp_path / "now.db")
    before, tables = content(path), schema(path)
    broken = {**MIGRATIONS, 6: f"{MIGRATIONS[6]} create table shares (again text);"}
    monkeypatch.setattr("survey_app.store.sqlite.schema.MIGRATIONS", broken)
    with pytest.raises(StoreError, match="cannot open the database"):
        SqliteStore(path).migrate()
    assert (content(path), schema(path)) == (before, tables)
    monkeypatch.undo()
    SqliteStore(path).migrate()
    assert "shares" in schema(path)


@pytest.mark.parametrize("arrived", [0, 30, 50])
@pytest.mark.parametrize("version", [4, 5])
def test_an_open_survey_by_invitation_of_before_keeps_what_it_shows_and_waits_for_a_date(
    tmp_path: Path, version: int, arrived: int
) -> None:
    """Files of 0.5 to 0.8: what was shown stays, nothing more until a date is set and reached."""
    path = tmp_path / "old.db"
    store, _ = make(path)
    invited = add(store, invitation_survey(definition=simple() | {"slug": "club"}), owner=1)
    asked = add(store, survey(simple() | {"slug": "poll"}), owner=1)
    rows = [Submission(asked.key, number.to_bytes(16, "big"), b"\x80") for number in range(arrived)]
    store.write(rows.copy)
    store.close()
    with closing(sqlite3.connect(path)) as old:  # as an earlier version had it: shown in steps, without a date
        columns = "total, counts, shown, shown_counts, pending, final"
        old.execute(
            f"update tallies set ({columns}) = (select {columns} from tallies where survey = ?) where survey = ?",  # noqa: S608
            (asked.key, invited.key),
        )
        old.execute("insert into reports select ?, id, bits from reports where survey = ?", (invited.key, asked.key))
        old.execute("update surveys set closes = null")
        dropped = ["alter table surveys drop column hold", "alter table tallies drop column batched"]
        dropped += [f"drop table {name}" for name in ("actors", "shares", "links") if version == 4]
        for change in dropped:
            old.execute(change)
        old.execute(f"pragma user_version={version}")
        old.commit()

    store = SqliteStore(path)
    store.migrate()
    shown = arrived - 20 if arrived >= 40 else 0
    found = store.newest_version("club")
    assert found is not None and found.terms.closes is None
    assert found.hold is (Hold.REST if shown else Hold.ALL)
    open_to_all = store.newest_version("poll")
    assert open_to_all is not None and open_to_all.hold is Hold.NONE

    def rows_shown() -> int:
        with store.open_snapshot(found) as (tally, rows):
            assert sum(len(part) for part in rows) == tally.reports
        return tally.reports

    more = [Submission(found.key, (1000 + number).to_bytes(16, "big"), b"\x00") for number in range(60)]
    store.write(more.copy)
    assert rows_shown() == shown, "nothing more"
    with pytest.raises(StoreError, match="at least a day"):
        store.set_terms(found, replace(found.terms, closes=now() + timedelta(hours=1)))
    store.set_state(found, State.CLOSED)
    assert rows_shown() == shown
    dated = store.set_terms(found, replace(found.terms, closes=now() + timedelta(days=2)))
    assert dated.release_date is not None
    store.clock = lambda: now() + timedelta(days=3)
    assert store.newest_version("club") is not None
    assert rows_shown() == arrived + 60
    assert check_store(store, found) == arrived + 60
    store.close()


@pytest.mark.parametrize("arrived", [30, 50])
def test_an_open_survey_by_invitation_in_postgresql_waits_for_a_date_too(postgres: Postgres, arrived: int) -> None:
    place = PostgresPlace(postgres)
    store = place.open()
    invited = add(
        store, invitation_survey(definition=simple() | {"slug": "club"}), owner=add_worked_example(store).owner
    )
    asked = add(store, survey(simple() | {"slug": "poll"}), owner=invited.owner)
    store.write([Submission(asked.key, number.to_bytes(16, "big"), b"\x80") for number in range(arrived)].copy)
    store.close()
    with place.server.connect(place.url) as old:
        columns = "shard, total, counts, shown, shown_counts, pending, final"
        old.execute("delete from tallies where survey = %s", (invited.key,))
        old.execute(
            f"insert into tallies (survey, {columns}) select %s, {columns} from tallies where survey = %s",  # noqa: S608
            (invited.key, asked.key),
        )
        old.execute(f"insert into reports_{invited.key} select * from reports_{asked.key}")  # noqa: S608
        old.execute("update surveys set closes = null")
        old.execute("alter table surveys drop column hold")
        old.execute("alter table tallies drop column batched")
        old.execute("update settings set value = '1' where name = 'version'")
    store = place.open()
    store.migrate()
    shown = arrived - 20 if arrived >= 40 else 0
    found, open_to_all = store.newest_version("club"), store.newest_version("poll")
    assert found is not None and open_to_all is not None
    assert (found.hold, open_to_all.hold) == (Hold.REST if shown else Hold.ALL, Hold.NONE)
    store.write([Submission(found.key, (1000 + number).to_bytes(16, "big"), b"\x00") for number in range(60)].copy)
    store.set_state(found, State.CLOSED)
    assert store.snapshot(found).reports == shown, "nothing more"
    store.set_terms(found, replace(found.terms, closes=now() + timedelta(days=2)))
    store.clock = lambda: now() + timedelta(days=3)
    assert store.newest_version("club") is not None
    assert store.snapshot(found).reports == check_store(store, found) == arrived + 60
    store.close()
