"""The tables of the SQLite file, and how a file of an older version is migrated.

A new file goes through all migrations too, so it cannot differ from a migrated one. Tables with data of respondents are
WITHOUT ROWID and are made by SQL. `transform` of sqlite-utils is for the other tables only: on an empty table WITHOUT
ROWID it makes a table with row numbers, which keeps the order of arrival, and on a filled one it fails.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from survey_app.store.records import Hold
from survey_app.store.sql.event_sentences import migrate_sentence
from survey_app.store.sql.survey_rows import HOLD_INVITED, TICKETS

if TYPE_CHECKING:
    import sqlite_utils

VERSION = 7
EARLIEST_VERSION = 4  # the oldest version that can be migrated

EARLIEST_SCHEMA = """
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
"""
ACCESS_GRANTS = """
create table actors (event integer primary key, user integer not null references users);
create table shares (slug text not null, user integer not null references users, role text not null,
    primary key (slug, user)) without rowid;
create table links (hash blob primary key, slug text not null, label text not null, made text not null) without rowid;
"""
HOLDS = f"""
alter table surveys add column hold integer not null default {Hold.NONE:d};
alter table tallies add column batched blob not null default x'';
{HOLD_INVITED.format(" or ".join(f"instr(definition, cast('{mark}' as blob))" for mark in TICKETS))}
"""


def _migrate_events(database: "sqlite_utils.Database") -> None:
    """Replace the sentences of the log by codes with data."""
    audit = database.table("audit")
    sentences = [(row["key"], row["what"]) for row in audit.rows]
    audit.add_column("code", str, not_null_default="")
    audit.transform(
        rename={"what": "data"}, defaults={"code": None}, column_order=["key", "owner", "slug", "moment", "code"]
    )
    for key, sentence in sentences:
        code, data = migrate_sentence(sentence)
        audit.update(key, {"code": code, "data": data})


MIGRATIONS: dict[int, Callable[["sqlite_utils.Database"], object]] = {  # by version: what it does to the version before
    EARLIEST_VERSION: lambda database: database.executescript(EARLIEST_SCHEMA),
    5: lambda database: database.executescript(ACCESS_GRANTS),
    6: lambda database: database.executescript(HOLDS),
    7: _migrate_events,
}


def migrate_tables(database: "sqlite_utils.Database", version: int) -> None:
    """Bring a database of this version, 0 for an empty one, to VERSION. Call it in a transaction.

    Do nothing if it has VERSION already.
    """
    if version >= VERSION:
        return
    for number, migrate in MIGRATIONS.items():
        if number > version:
            migrate(database)
    database.execute(f"pragma user_version={VERSION}")
