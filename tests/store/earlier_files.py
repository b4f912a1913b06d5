"""Databases as earlier versions made them, with every sentence that their logs can have."""

import sqlite3
from contextlib import closing
from pathlib import Path

from survey_app.store import EventCode, EventData
from survey_app.store.audit_events import TermChange

VERSION_4 = """
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
"""  # of 0.4 and 0.5
SCHEMAS = {
    4: VERSION_4,
    5: VERSION_4  # of 0.6 to 0.8
    + """
create table actors (event integer primary key, user integer not null references users);
create table shares (slug text not null, user integer not null references users, role text not null,
    primary key (slug, user)) without rowid;
create table links (hash blob primary key, slug text not null, label text not null, made text not null) without rowid;
""",
}
SCHEMAS[6] = (  # of 0.9 before its log had codes
    SCHEMAS[5]
    + """
alter table surveys add column hold integer not null default 0;
alter table tallies add column batched blob not null default x'';
"""
)
WITHOUT_ROWID = {"settings", "tokens", "reports", "shares", "links"}

SENTENCES: list[tuple[str, EventCode, EventData]] = [
    ("added 0123456789ab", EventCode.ADDED, EventData(digest="0123456789ab")),
    ("published 0123456789ab", EventCode.PUBLISHED, EventData(digest="0123456789ab")),
    ("opened", EventCode.OPENED, EventData()),
    ("paused", EventCode.PAUSED, EventData()),
    ("closed", EventCode.CLOSED, EventData()),
    ("closed by its date", EventCode.CLOSED_BY_DATE, EventData()),
    ("deleted, with all versions and reports", EventCode.DELETED, EventData()),
    ("deleted by its date, with all reports", EventCode.DELETED_BY_DATE, EventData()),
    ("terms: results public", EventCode.TERMS_CHANGED, EventData(terms={"results": TermChange("public")})),
    (
        "terms: results private, opens none, closes 2099-12-01T00:00Z, max_reports 500, deletes none, size 25",
        EventCode.TERMS_CHANGED,
        EventData(
            terms={
                "results": TermChange("private"),
                "opens": TermChange(None),
                "closes": TermChange("2099-12-01T00:00Z"),
                "max_reports": TermChange(500),
                "deletes": TermChange(None),
                "size": TermChange(25),
            }
        ),
    ),
    (
        "terms: max_reports none, size none",
        EventCode.TERMS_CHANGED,
        EventData(terms={"max_reports": TermChange(None), "size": TermChange(None)}),
    ),
    ("shared with eve as editor", EventCode.SHARED, EventData(account="eve", role="editor")),
    ("shared with bob as reader as reader", EventCode.SHARED, EventData(account="bob as reader", role="reader")),
    ("no longer shared with eve", EventCode.UNSHARED, EventData(account="eve")),
    ("made a link to the results, for the council", EventCode.LINK_MADE, EventData(label="the council")),
    ("withdrew the link to the results, for the council", EventCode.LINK_WITHDRAWN, EventData(label="the council")),
    ("made invitations", EventCode.INVITATIONS_MADE, EventData()),
    ("made 20 invitations", EventCode.INVITATIONS_MADE, EventData(count=20)),
    ("made 10,000 invitations", EventCode.INVITATIONS_MADE, EventData(count=10_000)),
    ("exported noisy bits as csv", EventCode.EXPORTED, EventData(format="csv")),  # of 0.5
    ("exported raw data as parquet", EventCode.EXPORTED, EventData(format="parquet")),
    # what no version wrote stays as it is
    ("opened the door", EventCode.NOTE, EventData(text="opened the door")),
    ("published 0123", EventCode.NOTE, EventData(text="published 0123")),
    ("terms: closes soon", EventCode.NOTE, EventData(text="terms: closes soon")),
    ("", EventCode.NOTE, EventData(text="")),
]


def write_earlier_file(path: Path, version: int, store: Path) -> None:
    """Write a file of this version with the rows of a store, and a log of its owner that has every sentence."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"pragma journal_mode=wal; begin; {SCHEMAS[version]} pragma user_version={version};")
        connection.execute("commit")
        connection.execute("attach ? as store", (str(store),))
        tables = [name for (name,) in connection.execute("select name from main.sqlite_schema where type = 'table'")]
        for table in tables:
            if table not in ("audit", "actors") and not table.startswith("sqlite_"):
                names = ", ".join(row[1] for row in connection.execute(f"pragma main.table_info({table})"))
                connection.execute(f"insert into main.{table} select {names} from store.{table}")  # noqa: S608 - ours
        rows = [(f"2026-01-01T00:00:{second:02}+00:00", SENTENCES[second][0]) for second in range(len(SENTENCES))]
        connection.executemany("insert into main.audit (owner, slug, moment, what) values (1, 'exam', ?, ?)", rows)
        if "actors" in tables:
            connection.execute("insert into main.actors select max(key), 1 from main.audit")
        connection.commit()
