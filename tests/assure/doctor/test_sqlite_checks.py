"""The doctor and a database in a file: each thing broken for real, found, and left as it was."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from survey_app.assure.doctor.finding import Finding, State
from survey_app.assure.doctor.sqlite_checks import findings
from survey_app.store.sqlite import SqliteStore
from survey_app.store.sqlite.inspection import missing_features
from survey_app.store.sqlite.schema import VERSION
from tests.disk import small_disk


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """A database with an account, closed and tidy."""
    made = tmp_path / "candor.db"
    store = SqliteStore(made)
    store.migrate()
    store.add_user("ada", "hash")
    store.tidy(now=True)
    store.close()
    yield made


def found(path: Path) -> dict[str, Finding]:
    return {one.check: one for one in findings(path, "--db")}


def change(path: Path, script: str) -> None:
    """Run a script on the file; all of its effects are in the file afterwards, none in a WAL."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


def test_nothing_is_wrong_with_a_new_database(path: Path) -> None:
    said = found(path)
    assert {one.state for one in said.values()} == {State.OK}
    assert said["database"].found == f"{path} (--db), version {VERSION}"
    assert list(said) == ["database", "integrity", "tidiness", "writing", "permissions", "disk"]


def everything(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    return {file.name: (file.read_bytes(), file.stat().st_mode, file.stat().st_mtime_ns) for file in folder.iterdir()}


@pytest.mark.parametrize("running", [False, True])
def test_looking_changes_nothing(path: Path, running: bool) -> None:
    store = SqliteStore(path)
    if running:
        store.add_user("bob", "hash")
        assert Path(f"{path}-wal").stat().st_size
    before = everything(path.parent)
    said = found(path)
    assert {one.state for one in said.values()} == {State.OK}
    assert said["tidiness"].found.startswith("to be tidied" if running else "no order of arrival")
    after = everything(path.parent)
    assert before.keys() == after.keys()
    assert {name: value for name, value in before.items() if not name.endswith("-shm")} == {
        name: value for name, value in after.items() if not name.endswith("-shm")
    }
    store.close()


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    said = found(tmp_path / "candor.db")
    assert (said["database"].state, said["database"].next) == (
        State.WARNING,
        "candor user add NAME begins one; --db names another",
    )
    assert found(tmp_path / "none" / "candor.db")["database"].state is State.FAILURE
    assert found(tmp_path)["database"].found == f"{tmp_path} (--db) is a folder"
    assert not [*tmp_path.iterdir()]


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello " * 100)
    assert "is no SQLite database" in found(tmp_path / "text")["database"].found
    change(tmp_path / "other.db", "create table t (a)")
    assert "is SQLite's, but not Candor's" in found(tmp_path / "other.db")["database"].found


@pytest.mark.parametrize(
    ("version", "state", "told"),
    [
        (99, State.FAILURE, "was made by a newer Candor (version 99)"),
        (4, State.WARNING, "is of version 4"),
        (3, State.FAILURE, "was made by an earlier Candor (version 3)"),
    ],
)
def test_another_version(path: Path, version: int, state: State, told: str) -> None:
    change(path, f"pragma user_version={version}")
    said = found(path)["database"]
    assert said.state is state and told in said.found


def test_a_damaged_page(path: Path) -> None:
    whole = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(2 * 4096)
        file.write(b"\xff" * 4096)
    said = found(path)["integrity"]
    assert said.state is State.FAILURE and "the file is damaged" in said.found and "restore" in said.next
    path.write_bytes(whole[: 3 * 4096])
    assert found(path)["integrity"].state is State.FAILURE


@pytest.mark.parametrize(
    ("script", "check", "state", "told"),
    [
        ("insert into settings values ('copying', x'00')", "integrity", State.FAILURE, "an unfinished copy"),
        ("insert into settings values ('untidy', '')", "tidiness", State.OK, "to be tidied"),
        (
            "insert into settings values ('untidy', ''), ('untidy_since', '2026-12-01T00:00:00+00:00')",
            "tidiness",
            State.FAILURE,
            "untidy since 2026-12-01",
        ),
    ],
)
def test_what_the_file_says_of_itself(path: Path, script: str, check: str, state: State, told: str) -> None:
    change(path, script)
    said = found(path)[check]
    assert said.state is state and told in said.found


def test_what_a_killed_server_left_is_left_alone(path: Path) -> None:
    left = Path(f"{path}-wal")
    left.write_bytes(b"frames")
    said = found(path)
    assert said["database"].state is State.WARNING and "the next start takes them in" in said["database"].found
    assert left.read_bytes() == b"frames" and not Path(f"{path}-shm").exists()


@pytest.mark.parametrize("end", ["", ".lock", "-tickets", "-reserve"])
def test_a_file_that_others_may_open(path: Path, end: str) -> None:
    file = Path(f"{path}{end}")
    file.touch()
    file.chmod(0o640)
    said = found(path)["permissions"]
    assert (said.state, said.next) == (State.FAILURE, f"chmod 600 {file}")


def test_a_lock_of_somebody_else(path: Path) -> None:
    lock = Path(f"{path}.lock")
    with suppress(PermissionError):  # only root can give it away
        os.chown(lock, 12_345, 12_345)
    given = lock.stat().st_uid != path.stat().st_uid
    assert (found(path)["permissions"].state is State.FAILURE) == given


def test_a_folder_into_which_anybody_may_write(path: Path) -> None:
    path.parent.chmod(0o777)
    assert found(path)["permissions"].state is State.WARNING
    path.parent.chmod(0o1777)
    assert found(path)["permissions"].state is State.OK


def test_a_full_disk(path: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        moved = disk.path / "candor.db"
        moved.write_bytes(path.read_bytes())
        moved.chmod(0o600)
        disk.fill(8192)
        said = found(moved)["disk"]
        assert not disk.mounted or (said.state is State.FAILURE and "to write the database anew" in said.found)
        disk.free()
        assert found(moved)["disk"].state is (State.WARNING if disk.mounted else State.OK)


def test_this_sqlite_can_do_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_features() == []
    monkeypatch.setattr("survey_app.store.sqlite.inspection.LEAST_SQLITE", (99, 0, 0))
    monkeypatch.setattr("survey_app.store.sqlite.inspection.FEATURES", {"flying": "create flying table;"})
    assert missing_features() == ["version 99.0.0", "flying"]
