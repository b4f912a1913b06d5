"""A file of another version is refused, and left as it is."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from survey_app.store import StoreError
from survey_app.store.sqlite import SqliteStore
from tests.house import make


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
    assert store.newest(published.survey.slug) == published
    store.close()


def test_a_file_of_a_later_version_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "candor.db"
    make(path)[0].close()
    with pytest.raises(StoreError, match="was made by a newer Candor"):
        aged(path, 99).migrate()
