"""What is kept of invitations: who has taken a ticket, and nothing of when, in which order, or with which report.

The file's bytes are read as a thief would read them, not through SQLite.
"""

import os
import random
import resource
import secrets
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from survey_app.store import StoreError, Unavailable
from survey_app.store.sqlite.tickets import FREE, SPENT, MarkOutcome, TicketFile
from tests.ticket_surveys import key

DIGEST, NEXT = "d" * 64, "e" * 64
HEADER = 100  # bytes: among them two counters of changes, which tell how many there were


@pytest.fixture
def file(tmp_path: Path) -> Iterator[TicketFile]:
    made = make(tmp_path / "candor.db-tickets")
    yield made
    made.close()


def make(path: Path) -> TicketFile:
    made = TicketFile(path)
    made.migrate()
    made.add_key("exam", key(), DIGEST)
    return made


def invite(file: TicketFile, count: int = 300) -> list[bytes]:
    codes = [secrets.token_bytes(32) for _ in range(count)]
    file.invite("exam", codes)
    return codes


def row(file: TicketFile, digest: str = DIGEST) -> int:
    found = file.private_key(digest)
    assert found is not None
    return found[0]


def around(file: TicketFile) -> dict[str, bytes]:
    """Every byte beside the file."""
    return {path.name: path.read_bytes() for path in file.path.parent.iterdir() if path.is_file()}


def test_a_code_takes_one_ticket_and_the_same_one_again(file: TicketFile) -> None:
    codes = invite(file, 3)
    assert file.mark(row(file), codes[0], b"a" * 32) is MarkOutcome.FIRST_MESSAGE
    assert file.mark(row(file), codes[0], b"a" * 32) is MarkOutcome.SAME_MESSAGE
    assert file.mark(row(file), codes[0], b"b" * 32) is MarkOutcome.OTHER_MESSAGE
    assert file.mark(row(file), b"c" * 32, b"a" * 32) is MarkOutcome.UNKNOWN_CODE
    assert file.count_invitations(DIGEST) == (3, 1)
    assert file.invitations(DIGEST) == {codes[0]: True, codes[1]: False, codes[2]: False}


def test_marking_changes_32_bytes_in_their_place_and_leaves_no_journal(file: TicketFile) -> None:
    codes = invite(file)
    before = around(file)
    for code in random.sample(codes, 40):
        message = secrets.token_bytes(32)
        assert file.mark(row(file), code, message) is MarkOutcome.FIRST_MESSAGE
        after = around(file)
        assert after.keys() - before.keys() <= {f"{file.path.name}-journal"}
        assert not after.get(f"{file.path.name}-journal")
        old, new = before[file.path.name], after[file.path.name]
        assert len(old) == len(new) and new.count(code + message) == 1
        start = new.index(message)
        changed = [at for at in range(HEADER, len(new)) if old[at] != new[at]]
        assert changed and all(start <= at < start + 32 for at in changed)
        before = after


def test_two_orders_of_taking_leave_the_same_bytes(tmp_path: Path) -> None:
    """Not only no order that we thought of: no byte at all depends on it."""
    first = make(tmp_path / "first")
    codes = invite(first, 120)
    first.close()
    (tmp_path / "second").write_bytes((tmp_path / "first").read_bytes())
    second = TicketFile(tmp_path / "second")
    messages = {code: secrets.token_bytes(32) for code in codes[:80]}
    for one, order in ((first, list(messages)), (second, sorted(messages))):
        for code in order:
            one.mark(row(one), code, messages[code])
        one.close()
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_invitations_lie_in_the_order_of_their_hashes_not_of_the_list(file: TicketFile) -> None:
    codes = invite(file)
    kept = around(file)[file.path.name]
    assert all(code in kept for code in codes)
    with closing(sqlite3.connect(file.path)) as connection:
        rows = [hashed for (hashed,) in connection.execute("select hash from taken")]
    assert rows == sorted(codes)


KILLED = """
import os, signal, sys
from pathlib import Path
from survey_app.store import TicketFile
file = TicketFile(Path(sys.argv[1]))
connection = file._connection
with file._transaction():
    connection.execute("update taken set message = ? where hash = ?", (b"a" * 32, bytes.fromhex(sys.argv[2])))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_killed_in_the_middle_of_a_mark_nothing_was_marked(file: TicketFile) -> None:
    codes = invite(file)
    file.mark(row(file), codes[1], b"b" * 32)
    file.close()
    done = subprocess.run([sys.executable, "-c", KILLED, str(file.path), codes[0].hex()], check=False)
    assert done.returncode == -signal.SIGKILL
    left = around(file)
    assert left[f"{file.path.name}-journal"], "it was killed too early or too late"
    assert b"".join(left.values()).count(b"b" * 32) <= 2, (
        "the file's own, and at most one page of the mark that was cut off"
    )
    assert file.mark(row(file), codes[0], b"c" * 32) is MarkOutcome.FIRST_MESSAGE, "nobody lost an invitation"
    assert not around(file)[f"{file.path.name}-journal"]


@contextmanager
def full_disk() -> Iterator[None]:
    """No file can be written beyond its first sector: what a journal needs is not to be had."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)


def test_a_full_disk_marks_nothing_and_recovers(file: TicketFile) -> None:
    codes = invite(file)
    file.mark(row(file), codes[0], b"a" * 32)
    before = around(file)[file.path.name]
    with full_disk(), pytest.raises(Unavailable):
        file.mark(row(file), codes[1], b"b" * 32)
    assert around(file)[file.path.name] == before, "nothing is signed that was not marked"
    assert file.mark(row(file), codes[1], b"c" * 32) is MarkOutcome.FIRST_MESSAGE
    assert file.mark(row(file), codes[0], b"a" * 32) is MarkOutcome.SAME_MESSAGE
    assert not around(file)[f"{file.path.name}-journal"]


def test_a_key_and_what_it_signed_are_in_no_byte_after_the_end(file: TicketFile) -> None:
    codes = invite(file)
    messages = [secrets.token_bytes(32) for _ in codes[:50]]
    for code, message in zip(codes, messages, strict=False):
        file.mark(row(file), code, message)
    secret = key().to_bytes()
    parts = [secret[at : at + 16] for at in range(0, len(secret), 16)]
    assert all(part in b"".join(around(file).values()) for part in [*parts, *messages])
    file.destroy_key(DIGEST)
    left = b"".join(around(file).values())
    assert not [part for part in [*parts, *messages] if part in left]
    assert file.private_key(DIGEST) is None and file.active_keys() == []
    assert file.count_invitations(DIGEST) == (300, 50), "who took a ticket stays known"
    assert SPENT in left and FREE in left


def test_invited_people_may_answer_the_next_version_too(file: TicketFile) -> None:
    codes = invite(file, 3)
    file.mark(row(file), codes[0], b"a" * 32)
    file.add_key("exam", key(1), NEXT)
    assert file.mark(row(file, NEXT), codes[0], b"b" * 32) is MarkOutcome.FIRST_MESSAGE
    assert file.mark(row(file), codes[0], b"a" * 32) is MarkOutcome.SAME_MESSAGE
    more = invite(file, 1)
    assert file.mark(row(file), more[0], b"c" * 32) is MarkOutcome.FIRST_MESSAGE
    assert (file.count_invitations(DIGEST), file.count_invitations(NEXT)) == ((4, 2), (4, 1))


def test_codes_of_another_survey_do_not_count_here(file: TicketFile) -> None:
    file.add_key("other", key(1), NEXT)
    codes = invite(file, 2)
    assert file.mark(row(file, NEXT), codes[0], b"a" * 32) is MarkOutcome.UNKNOWN_CODE
    assert file.count_invitations(NEXT) == (0, 0)


def test_what_is_forgotten_is_in_no_byte(file: TicketFile) -> None:
    codes = invite(file)
    file.mark(row(file), codes[0], b"a" * 32)
    file.delete_slug("exam")
    left = b"".join(around(file).values())
    assert not [code for code in codes if code in left] and b"a" * 32 not in left
    assert key().to_bytes()[:16] not in left and file.slugs() == []


def test_the_file_is_for_its_owner_alone(file: TicketFile) -> None:
    invite(file)
    for path in file.path.parent.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path.name
    os.chmod(file.path, 0o644)
    file.migrate()
    assert file.path.stat().st_mode & 0o077 == 0


def test_it_has_no_column_for_time_order_or_report(file: TicketFile) -> None:
    with closing(sqlite3.connect(file.path)) as connection:
        tables = {
            table: [name for _, name, *_ in connection.execute(f"pragma table_info({table})")]
            for (table,) in connection.execute("select name from sqlite_schema where type = 'table'")
        }
    del tables["sqlite_sequence"]
    assert tables == {
        "codes": ["slug", "hash"],
        "keys": ["key", "slug", "modulus", "private", "digest", "definition", "address"],
        "taken": ["key", "hash", "message"],
    }
    for name in tables:
        assert f"`{name}`" in (Path(__file__).parents[2] / "docs" / "data-model.md").read_text()


def test_no_other_file_passes_for_one_of_tickets(tmp_path: Path) -> None:
    for path in (tmp_path / "other.db", tmp_path / "text"):
        if path.suffix:
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("create table mine (value)")
        else:
            path.write_text("not a database" * 100)
        before = path.read_bytes()
        with pytest.raises(StoreError):
            TicketFile(path).migrate()
        assert path.read_bytes() == before
