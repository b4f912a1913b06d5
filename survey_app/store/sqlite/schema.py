"""The tables of the SQLite file, and how a file of an older version is migrated."""

import sqlite3

from survey_app.store.records import Hold
from survey_app.store.sql.survey_rows import HOLD_INVITED, TICKETS

VERSION = 6
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
MIGRATIONS = {  # by version: what it adds to the version before
    5: """
create table actors (event integer primary key, user integer not null references users);
create table shares (slug text not null, user integer not null references users, role text not null,
    primary key (slug, user)) without rowid;
create table links (hash blob primary key, slug text not null, label text not null, made text not null) without rowid;
""",
    6: f"""
alter table surveys add column hold integer not null default {Hold.NONE:d};
alter table tallies add column batched blob not null default x'';
{HOLD_INVITED.format(" or ".join(f"instr(definition, cast('{mark}' as blob))" for mark in TICKETS))}
""",
}


def create_tables(connection: sqlite3.Connection, more: str) -> None:
    """Create the tables of a new file in one transaction, which also runs the statements of `more`."""
    tables = f"{EARLIEST_SCHEMA} {_statements_after(EARLIEST_VERSION)}"
    connection.executescript(f"begin; {tables} {more} pragma user_version={VERSION}; commit;")


def migrate_tables(connection: sqlite3.Connection, version: int) -> None:
    """Bring the tables of a file of this version to VERSION, in one transaction; do nothing if they have it already."""
    if version < VERSION:
        connection.executescript(f"begin; {_statements_after(version)} pragma user_version={VERSION}; commit;")


def _statements_after(version: int) -> str:
    return "".join(statements for number, statements in MIGRATIONS.items() if number > version)
