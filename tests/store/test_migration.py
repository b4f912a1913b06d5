"""A file of an earlier version is brought up to date when it is opened; one of a later version is left alone."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from survey_app.store import State, StoreError
from survey_app.store.sqlite import SqliteStore
from tests.house import make


def aged(path: Path, version: int, script: str = "") -> SqliteStore:
    """The same file, as if another version had made it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"{script} pragma user_version={version};")
    return SqliteStore(path)


def test_a_file_of_the_first_version_keeps_its_drafts_and_what_waits_to_open(tmp_path: Path) -> None:
    path = tmp_path / "candor.db"
    store, published = make(path)
    key = store.save_draft(published.owner, b"slug: kept")
    store.close()
    older = aged(path, 1, "alter table drafts rename to sketches; update surveys set state = 'draft';")
    older.migrate()
    draft = older.draft(published.owner, key)
    assert draft is not None and draft.source == b"slug: kept"
    newest = older.newest(published.survey.slug)
    assert newest is not None and newest.state is State.READY
    older.migrate()  # safe at every start
    older.close()


def test_a_file_of_a_later_version_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "candor.db"
    make(path)[0].close()
    with pytest.raises(StoreError, match="was made by a newer Candor"):
        aged(path, 99).migrate()
