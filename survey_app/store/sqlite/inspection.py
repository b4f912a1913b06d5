"""A look at a SQLite file that changes nothing: not the file, not what lies beside it, and it never makes one.

SQLite opens even for reading what is in WAL mode by making -wal and -shm beside it. So where neither is there, the file
is opened as one that nobody writes (`immutable`); where both are, a server has them open or was killed, and reading
goes through them (`mode=ro`). A WAL without its -shm is left alone: whoever starts a server next folds it in.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from survey_app.store.records import StoreError
from survey_app.store.sql.contents import MARK
from survey_app.store.sql.survey_rows import RUNNING
from survey_app.store.sqlite.database import EARLIEST, VERSION, version_at_rest

LEAST_SQLITE = (3, 15, 0)  # row values
FEATURES = {
    "tables without rowid, and row values": "create temp table t (a, b, primary key (a, b)) without rowid; "
    "select 1 from t where (a, b) > (1, 2);",
    "secure_delete": "pragma secure_delete=on;",
}


@dataclass(frozen=True)
class Inspection:
    """What a file holds; damage as quick_check tells it, "" where it found none."""

    version: int
    damage: str
    unfinished: bool  # a copy that was not
    untidy: bool
    untidy_since: str  # a day, or ""
    running: tuple[bytes, ...] = ()  # the definitions of surveys that are not closed


def is_sqlite(path: Path) -> bool:
    """Whether a file begins as SQLite's do; an empty one will do, since it is made into one."""
    with path.open("rb") as file:
        head = file.read(16)
    return head in (b"", b"SQLite format 3\0")


def is_readable(version: int) -> bool:
    """Whether this Candor can use, or bring up to date, a file of this version."""
    return EARLIEST <= version <= VERSION


@contextmanager
def looking(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that only looks; StoreError where even that would change something."""
    wal, shm = Path(f"{path}-wal"), Path(f"{path}-shm")
    if wal.exists() and wal.stat().st_size and not shm.exists():
        raise StoreError(f"a server was killed and its last transactions wait in {wal}; the next start takes them in")
    mode = "mode=ro" if wal.exists() and shm.exists() else "mode=ro&immutable=1"
    with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True, timeout=1.0)) as connection:
        yield connection


def inspect(path: Path) -> Inspection:
    """Look at a database; StoreError if it cannot be looked at."""
    version = version_at_rest(path)
    try:
        with looking(path) as connection:
            version = connection.execute("pragma user_version").fetchone()[0]
            damage = [row[0] for row in connection.execute("pragma quick_check(3)")]
            kept = dict(connection.execute("select name, value from settings")) if is_readable(version) else {}
            running = tuple(row[0] for row in connection.execute(RUNNING)) if is_readable(version) else ()
    except sqlite3.DatabaseError as error:
        return Inspection(version, str(error), False, False, "")
    since = str(kept.get("untidy_since", ""))[:10]
    told = "" if damage == ["ok"] else damage[0].replace("\n", " ")
    return Inspection(version, told, MARK in kept, "untidy" in kept, since, running)


def slugs(path: Path) -> list[str]:
    """The names of all surveys and studies, in order; none where they cannot be read without changing anything."""
    query = "select slug from surveys union select study from surveys where study <> '' order by 1"
    try:
        if not path.is_file() or not is_sqlite(path):
            return []
        with looking(path) as connection:
            return [slug for (slug,) in connection.execute(query)]
    except (sqlite3.DatabaseError, StoreError, OSError):
        return []


def lacking() -> list[str]:
    """What of SQLite is missing here, of all that a store needs."""
    with closing(sqlite3.connect(":memory:")) as connection:
        missing = [] if sqlite3.sqlite_version_info >= LEAST_SQLITE else [f"version {'.'.join(map(str, LEAST_SQLITE))}"]
        for name, script in FEATURES.items():
            try:
                connection.executescript(script)
            except sqlite3.DatabaseError:
                missing.append(name)
    return missing


def sqlite_version() -> str:
    """Which SQLite Python brings."""
    return sqlite3.sqlite_version
