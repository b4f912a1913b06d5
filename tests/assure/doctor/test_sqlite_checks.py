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
from tests.golden_files import Golden


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
    assert str(path) in said["database"].found and said["database"].found.endswith(f" {VERSION}")
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
    assert said["tidiness"].code == ("pending" if running else "ok")
    after = everything(path.parent)
    assert before.keys() == after.keys()
    assert {name: value for name, value in before.items() if not name.endswith("-shm")} == {
        name: value for name, value in after.items() if not name.endswith("-shm")
    }
    store.close()


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path, golden: Golden) -> None:
    cases = {
        "missing": (tmp_path / "candor.db", State.WARNING),
        "no_folder": (tmp_path / "none" / "candor.db", State.FAILURE),
        "folder": (tmp_path, State.FAILURE),
    }
    for code, (path, state) in cases.items():
        said = found(path)["database"]
        assert (said.code, said.state) == (code, state)
        golden(f"{said.found}\n{said.next}", code)
    assert not [*tmp_path.iterdir()]


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello " * 100)
    assert found(tmp_path / "text")["database"].code == "not_sqlite"
    change(tmp_path / "other.db", "create table t (a)")
    assert found(tmp_path / "other.db")["database"].code == "foreign"


@pytest.mark.parametrize(
    ("version", "state", "code"),
    [(99, State.FAILURE, "newer"), (4, State.WARNING, "older"), (3, State.FAILURE, "too_old")],
)
def test_another_version(path: Path, version: int, state: State, code: str, golden: Golden) -> None:
    change(path, f"pragma user_version={version}")
    said = found(path)["database"]
    assert (said.state, said.code) == (state, code) and f"version {version}" in said.found
    golden(f"{said.found}\n{said.next}".replace(f"version {VERSION}", "version NOW").replace(f"to {VERSION}", "to NOW"))


def test_a_damaged_page(path: Path) -> None:
    whole = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(2 * 4096)
        file.write(b"\xff" * 4096)
    said = found(path)["integrity"]
    assert (said.state, said.code) == (State.FAILURE, "damaged") and "candor --db" in said.next
    path.write_bytes(whole[: 3 * 4096])
    assert found(path)["integrity"].code == "damaged"


@pytest.mark.parametrize(
    ("script", "check", "state", "code"),
    [
        ("insert into settings values ('copying', x'00')", "integrity", State.FAILURE, "unfinished_copy"),
        ("insert into settings values ('untidy', '')", "tidiness", State.OK, "pending"),
        (
            "insert into settings values ('untidy', ''), ('untidy_since', '2026-12-01T00:00:00+00:00')",
            "tidiness",
            State.FAILURE,
            "rewrite_fails",
        ),
    ],
)
def test_what_the_file_says_of_itself(
    path: Path, script: str, check: str, state: State, code: str, golden: Golden
) -> None:
    change(path, script)
    said = found(path)[check]
    assert (said.state, said.code) == (state, code)
    golden(f"{said.found}\n{said.next}", code)


def test_what_a_killed_server_left_is_left_alone(path: Path) -> None:
    left = Path(f"{path}-wal")
    left.write_bytes(b"frames")
    said = found(path)["database"]
    assert (said.state, said.code) == (State.WARNING, "not_inspected")
    assert left.read_bytes() == b"frames" and not Path(f"{path}-shm").exists()


@pytest.mark.parametrize("end", ["", ".lock", "-tickets", "-reserve"])
def test_a_file_that_others_may_open(path: Path, end: str) -> None:
    file = Path(f"{path}{end}")
    file.touch()
    file.chmod(0o640)
    said = found(path)["permissions"]
    assert (said.state, said.code) == (State.FAILURE, "open_to_others") and said.next.endswith(f" 600 {file}")


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
        assert not disk.mounted or (said.state, said.code) == (State.FAILURE, "too_little")
        disk.free()
        assert found(moved)["disk"].state is (State.WARNING if disk.mounted else State.OK)


def test_this_sqlite_can_do_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_features() == []
    monkeypatch.setattr("survey_app.store.sqlite.inspection.LEAST_SQLITE", (99, 0, 0))
    monkeypatch.setattr("survey_app.store.sqlite.inspection.FEATURES", {"flying": "create flying table;"})
    assert missing_features() == ["version 99.0.0", "flying"]
