"""A file of the version before is brought up to date; any other is refused, and left as it is."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
import sqlite_utils

from survey_app.accounts import hash_secret
from survey_app.store import EventCode, EventData, Role, State, StoreError, Submission, now
from survey_app.store.postgres import schema as postgres_schema
from survey_app.store.records import Hold
from survey_app.store.sql.dialect import Connection
from survey_app.store.sqlite import SqliteStore
from survey_app.store.sqlite.schema import MIGRATIONS, VERSION
from survey_app.store.sqlite.tickets import TicketFile
from tests.definitions import simple, survey
from tests.fixtures import TOKEN, add, add_worked_example, check_store, make, submission
from tests.golden_files import Golden
from tests.module_graph import ROOT
from tests.postgres import Postgres
from tests.store.conftest import PostgresPlace
from tests.store.earlier_files import SCHEMAS, SENTENCES, WITHOUT_ROWID, write_earlier_file
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
    with pytest.raises(StoreError, match="--db"):
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
    with pytest.raises(StoreError, match="--db"):
        SqliteStore(copy).migrate()
    assert {file.name: file.read_bytes() for file in copy.parent.iterdir()} == before


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "candor.db"
    store, published = make(path)
    store.migrate()
    assert store.newest_version(published.survey.slug) == published
    store.close()


def test_a_file_of_a_later_version_is_refused_with_a_sentence(tmp_path: Path, golden: Golden) -> None:
    path = tmp_path / "candor.db"
    make(path)[0].close()
    store, before = aged(path, 99), path.read_bytes()
    with pytest.raises(StoreError) as caught:
        store.migrate()
    assert path.read_bytes() == before
    golden(caught.value)


EARLIER = sorted(SCHEMAS)


def earlier_file(path: Path, version: int) -> dict[str, set[str]]:
    """Write a file with what a server of that version had put into it: accounts, a survey, reports, a draft, a log.

    Return the schema of a new file.
    """
    store, published = make(path.with_name("now.db"))
    store.write(lambda: [submission(published) for _ in range(50)])
    store.save_draft(published.owner, b"slug: later\n")
    store.add_token(store.users()[0], hash_secret(TOKEN))
    store.tidy(now=True)
    tables = schema(store.path)
    store.close()
    write_earlier_file(path, version, store.path)
    return tables


def content(path: Path, version: int) -> dict[str, list[tuple[object, ...]]]:
    """Return every row of the tables and columns that a version had, but the sentences of the log."""
    with closing(sqlite3.connect(path)) as connection, closing(sqlite3.connect(":memory:")) as old:
        old.executescript(SCHEMAS[version])
        names = {
            table: ", ".join(row[1] for row in old.execute(f"pragma table_info({table})") if row[1] != "what")
            for (table,) in old.execute("select name from sqlite_schema where type = 'table'").fetchall()
        }
        return {
            table: connection.execute(f"select {columns} from {table}").fetchall()  # noqa: S608 - names of ours
            for table, columns in names.items()
        }


def tables_without_rowid(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("select name, wr from pragma_table_list where schema = 'main' and type = 'table'")
        return {name for name, without_rowid in rows if without_rowid}


@pytest.mark.parametrize("version", EARLIER)
def test_a_file_of_an_earlier_version_is_brought_up_to_date_and_stays_whole(tmp_path: Path, version: int) -> None:
    path = tmp_path / "old.db"
    tables = earlier_file(path, version)
    before = content(path, version)
    assert len(before["reports"]) == 50 and before["audit"] and before["drafts"]

    store = SqliteStore(path)
    store.migrate()
    assert content(path, version) == before
    assert schema(path) == tables
    assert tables_without_rowid(path) == WITHOUT_ROWID
    published = store.newest_version("exam")
    assert published is not None
    assert check_store(store, published) == 50
    assert store.user_of_token(hash_secret(TOKEN)) == store.users()[0]
    events = store.events(published.owner)
    assert [(event.code, event.data) for event in reversed(events)] == [(code, data) for _, code, data in SENTENCES]
    assert events[0].by == ("ada" if version > 4 else "")
    friend = store.add_user("eve", "x")
    store.share(published, friend, Role.EDITOR)
    store.set_state(published, State.PAUSED, by=friend.key)
    assert [(event.code, event.data, event.by) for event in store.events(published.owner)[:2]] == [
        (EventCode.PAUSED, EventData(), "eve"),
        (EventCode.SHARED, EventData(account="eve", role="editor"), ""),
    ]
    store.migrate()  # once more, as every start does
    assert [share.name for share in store.shares("exam")] == ["eve"]
    store.close()


def test_tables_with_data_of_respondents_have_no_row_numbers_in_a_new_file(tmp_path: Path) -> None:
    store, _ = make(tmp_path / "new.db")
    store.close()
    assert tables_without_rowid(store.path) == WITHOUT_ROWID
    file = TicketFile(tmp_path / "new.db-tickets")
    file.migrate()
    assert tables_without_rowid(file.path) == {"codes", "taken"}


@pytest.mark.parametrize("filled", [True, False])
def test_transform_of_such_a_table_would_be_noticed(tmp_path: Path, filled: bool) -> None:
    """It fails on a filled table; on an empty one it makes a table that keeps the order of arrival."""
    path = tmp_path / "new.db"
    store, published = make(path)
    if filled:
        store.write(lambda: [submission(published)])
    store.close()
    with closing(sqlite_utils.Database(str(path))) as database:
        if filled:
            with pytest.raises(sqlite3.IntegrityError):
                database.table("reports").transform(rename={"bits": "noise"})
        else:
            database.table("reports").transform(rename={"bits": "noise"})
    assert tables_without_rowid(path) == WITHOUT_ROWID - (set() if filled else {"reports"})


@pytest.mark.parametrize("version", EARLIER)
def test_a_migration_that_fails_halfway_leaves_the_file_as_it_was(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.db"
    tables = earlier_file(path, version)
    before, old_tables = content(path, version), schema(path)

    def fail(database: sqlite_utils.Database) -> None:
        MIGRATIONS[VERSION](database)
        database.execute("create table users (again text)")

    monkeypatch.setattr("survey_app.store.sqlite.schema.MIGRATIONS", {**MIGRATIONS, VERSION: fail})
    with pytest.raises(StoreError):
        SqliteStore(path).migrate()
    assert (content(path, version), schema(path)) == (before, old_tables)
    monkeypatch.undo()
    SqliteStore(path).migrate()
    assert schema(path) == tables


def test_a_server_that_is_killed_during_a_migration_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    tables = earlier_file(path, 6)
    before, old_tables = content(path, 6), schema(path)
    code = f"""
import os, signal
from pathlib import Path
from survey_app.store.sqlite import SqliteStore, schema
def die(database):
    last(database)
    os.kill(os.getpid(), signal.SIGKILL)
last = schema.MIGRATIONS[schema.VERSION]
schema.MIGRATIONS[schema.VERSION] = die
SqliteStore(Path({str(path)!r})).migrate()
"""
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == -signal.SIGKILL
    assert (content(path, 6), schema(path)) == (before, old_tables)
    SqliteStore(path).migrate()
    assert schema(path) == tables


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
        dropped += ["alter table audit drop column code", "alter table audit rename column data to what"]
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


def age_postgres_log(connection: "psycopg.Connection[tuple[object, ...]]") -> None:
    """Give the log its earlier form, with every sentence."""
    connection.execute("alter table audit drop column code, drop column data, add column what text")
    connection.execute("delete from audit")
    rows = [(sentence,) for sentence, _, _ in SENTENCES]
    query = "insert into audit (owner, slug, moment, what) values (1, 'exam', '2026-01-01T00:00:00+00:00', %s)"
    connection.cursor().executemany(query, rows)
    connection.execute("alter table audit alter column what set not null")


def postgres_columns(place: PostgresPlace) -> list[tuple[object, ...]]:
    """Return all columns of all tables, except their order."""
    query = (
        "select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns"
        " where table_schema = current_schema() order by table_name, column_name"
    )
    with place.server.connect(place.url) as connection:
        return connection.execute(query).fetchall()


def test_the_log_of_an_earlier_postgresql_database_gets_codes(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = PostgresPlace(postgres)
    store = place.open()
    add_worked_example(store)
    store.close()
    columns = postgres_columns(place)
    with place.server.connect(place.url) as old:
        age_postgres_log(old)
        old.execute("update settings set value = '2' where name = 'version'")
    earlier = postgres_columns(place)

    def fail(connection: Connection) -> None:
        postgres_schema.MIGRATIONS[3](connection)
        connection.execute("create table users (again text)")

    with monkeypatch.context() as patch:
        patch.setattr("survey_app.store.postgres.database.MIGRATIONS", {**postgres_schema.MIGRATIONS, 3: fail})
        with pytest.raises(StoreError):
            place.open().migrate()
    assert postgres_columns(place) == earlier
    store = place.open()
    store.migrate()
    assert postgres_columns(place) == columns
    found = [(event.code, event.data) for event in reversed(store.events(1))]
    assert found == [(code, data) for _, code, data in SENTENCES]
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
        age_postgres_log(old)
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
