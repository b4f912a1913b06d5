"""Inspecting a SQLite file without changing it or the files next to it, and without creating any.

To read a file in WAL mode, SQLite creates -wal and -shm next to it. If neither exists, the file is opened as one that
nobody writes (`immutable`). If both exist, a server has them open or was killed, and they are used for reading
(`mode=ro`). A WAL without its -shm is not touched; the next start of a server moves it into the file.
"""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from survey_app.store.records import StoreError
from survey_app.store.sql.contents import COPY_SETTING
from survey_app.store.sql.survey_rows import SELECT_RUNNING
from survey_app.store.sqlite.database import read_file_version
from survey_app.store.sqlite.schema import EARLIEST_VERSION, VERSION
from survey_app.store.sqlite.sqlite_file import connect_read_only, wrap_connection

LEAST_SQLITE = (3, 15, 0)  # row values
FEATURES = {
    "tables without rowid, and row values": "create temp table t (a, b, primary key (a, b)) without rowid; "
    "select 1 from t where (a, b) > (1, 2);",
    "secure_delete": "pragma secure_delete=on;",
}


@dataclass(frozen=True)
class Inspection:
    """The state of a database file; `damage` is the result of quick_check, or "" if it found none."""

    version: int
    damage: str
    is_unfinished_copy: bool  # an unfinished copy
    needs_rewrite: bool
    rewrite_failing_since: str  # a day, or ""
    running_definitions: tuple[bytes, ...] = ()  # the definitions of surveys that are not closed


def is_sqlite(path: Path) -> bool:
    """Return whether a file begins like a SQLite file, or is empty and so can become one."""
    with path.open("rb") as file:
        head = file.read(16)
    return head in (b"", b"SQLite format 3\0")


def is_readable(version: int) -> bool:
    """Return whether this Candor can use, or migrate, a file of this version."""
    return EARLIEST_VERSION <= version <= VERSION


def connect_unchanging(path: Path) -> sqlite3.Connection:
    """Connect to a file without changing anything. Raise StoreError if even reading would change a file."""
    wal, shm = Path(f"{path}-wal"), Path(f"{path}-shm")
    if wal.exists() and wal.stat().st_size and not shm.exists():
        raise StoreError(
            f"a server was killed, and its last transactions are still in {wal}; the next server start applies them"
        )
    return connect_read_only(path, immutable=not (wal.exists() and shm.exists()))


def inspect(path: Path) -> Inspection:
    """Inspect a database file. Raise StoreError if it cannot be read without changing a file."""
    version = read_file_version(path)
    try:
        with closing(wrap_connection(connect_unchanging(path))) as database:
            version = database.execute("pragma user_version").fetchone()[0]
            damage = [row[0] for row in database.execute("pragma quick_check(3)")]
            settings: dict[str, object] = {}
            running: tuple[bytes, ...] = ()
            if is_readable(version):
                settings = {row["name"]: row["value"] for row in database.table("settings").rows}
                running = tuple(row["definition"] for row in database.query(SELECT_RUNNING))
    except sqlite3.DatabaseError as error:
        return Inspection(version, str(error), False, False, "")
    since = str(settings.get("untidy_since", ""))[:10]
    fault = "" if damage == ["ok"] else damage[0].replace("\n", " ")
    return Inspection(version, fault, COPY_SETTING in settings, "untidy" in settings, since, running)


def list_slugs(path: Path) -> list[str]:
    """Return the slugs of all surveys and studies, sorted; none if they cannot be read without changing a file."""
    query = "select slug from surveys union select study from surveys where study <> '' order by 1"
    try:
        if not path.is_file() or not is_sqlite(path):
            return []
        with closing(connect_unchanging(path)) as connection:  # without sqlite-utils: a shell waits for completions
            return [slug for (slug,) in connection.execute(query)]
    except (sqlite3.DatabaseError, StoreError, OSError):
        return []


def missing_features() -> list[str]:
    """Return the SQLite features that a store needs and that are missing here."""
    with closing(sqlite3.connect(":memory:")) as connection:
        missing = [] if sqlite3.sqlite_version_info >= LEAST_SQLITE else [f"version {'.'.join(map(str, LEAST_SQLITE))}"]
        for name, script in FEATURES.items():
            try:
                connection.executescript(script)
            except sqlite3.DatabaseError:
                missing.append(name)
    return missing


def sqlite_version() -> str:
    """Return the version of SQLite that Python uses."""
    return sqlite3.sqlite_version
