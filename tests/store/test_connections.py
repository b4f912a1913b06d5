"""Nothing is learned: the server keeps noisy bits, and neither time nor address nor order."""

import contextlib
import re
import sqlite3
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from scipy.stats import spearmanr

import candor_client
from candor_client import Ledger, randomize
from survey_app.store import Outcome, Submission
from tests.clock import make_fast_clock
from tests.definitions import choice as choice_question
from tests.definitions import define, field, number, subset, survey, yes_no
from tests.fixtures import SAID, add_worked_example, make, submission
from tests.fixtures import add as publish
from tests.server_process import PATH, Server
from tests.store.conftest import Place

CANARY = "canary7f3a91"

COLUMNS = {
    "settings": {"name", "value"},
    "users": {"key", "name", "password", "admin", "disabled", "stamp"},
    "tokens": {"hash", "user", "made"},
    "surveys": {
        "key", "slug", "study", "version", "digest", "state", "public", "opens", "closes", "max_reports",
        "deletes", "size", "owner", "definition", "source",
        "hold",  # what is withheld until a date, of a whole survey
    },
    "reports": {"survey", "id", "bits"},
    "tallies": {"survey", "total", "counts", "shown", "shown_counts", "pending", "batched", "final"},
    "drafts": {"key", "owner", "source"},
    "audit": {"key", "owner", "slug", "moment", "code", "data"},  # what researchers did
    "actors": {"event", "user"},  # who did it, if it was not the owner
    "shares": {"slug", "user", "role"},
    "links": {"hash", "slug", "label", "made"},  # when one is used, nobody writes down
    "sqlite_sequence": {"name", "seq"},  # SQLite's own: the last key of surveys, so that none is used twice
}  # fmt: skip


def schema(path: Path) -> dict[str, set[str]]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        tables = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        return {table: {row[1] for row in connection.execute(f"pragma table_info({table})")} for table in tables}


def test_no_table_has_a_column_that_was_not_thought_about(tmp_path: Path) -> None:
    """A developer who adds a column to what respondents touch has to say here that it identifies nobody."""
    make(tmp_path / "candor.db")
    assert schema(tmp_path / "candor.db") == COLUMNS


def test_reports_have_no_rowid_and_lie_in_the_order_of_their_random_ids(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    store.write(lambda: [submission(published) for _ in range(50)])
    with contextlib.closing(sqlite3.connect(tmp_path / "candor.db")) as connection:
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            connection.execute("select rowid from reports")
        ids = [row[0] for row in connection.execute("select id from reports")]
    assert ids == sorted(ids)


def order_left_in(path: Path, ids: list[bytes]) -> float:
    """How well the places of the reports in the file tell the order in which they came, from 0 to 1.

    Within each page, places are compared with arrival; pages themselves are in the order of keys.
    """
    content = path.read_bytes()
    pages: dict[int, list[tuple[int, int]]] = {}
    for arrival, identity in enumerate(ids):
        for match in re.finditer(re.escape(identity), content):
            pages.setdefault(match.start() // 4096, []).append((arrival, match.start()))
    strengths = [
        abs(float(spearmanr([a for a, _ in found], [b for _, b in found]).statistic))
        for found in pages.values()
        if len(found) >= 30
    ]
    return max(strengths)


def test_the_file_does_not_tell_the_order_of_arrival_once_it_is_tidied(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    ids = []
    for _ in range(60):
        one = submission(published)
        store.write([one].copy)
        ids.append(one.id)
    with contextlib.closing(sqlite3.connect(tmp_path / "candor.db")) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
    assert order_left_in(tmp_path / "candor.db", ids) > 0.99  # what an untidied file would tell
    store.tidy()
    assert order_left_in(tmp_path / "candor.db", ids) < 0.75  # chance exceeds .75 with probability below 1e-9
    assert (tmp_path / "candor.db-wal").stat().st_size == 0


def test_a_deleted_survey_is_wiped_from_the_file(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    made = [submission(published) for _ in range(200)]
    store.write(lambda: made)
    store.delete_survey("exam")
    content = (tmp_path / "candor.db").read_bytes() + (tmp_path / "candor.db-wal").read_bytes()
    assert not any(one.id in content for one in made)
    assert b"Did you copy" not in content


def canary_survey() -> candor_client.Survey:
    secret = choice_question("secret", options=2) | {"options": ["plain", CANARY], "text": "Which?"}
    return survey(
        define(
            [secret, number("amount", max=999_999), yes_no("cheated")],
            [field(subset(2, 1), "secret"), field(subset(2, 1), "amount"), field(subset(2, 1), "cheated")],
            slug="canary", epsilon=4,
        )
    )  # fmt: skip


@pytest.mark.slow
def test_answers_leave_no_trace_in_database_logs_or_output(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    parsed = canary_survey()
    publish(store, parsed, owner=published.owner)
    store.close()
    log = (tmp_path / "log.txt").open("wb")
    server = Server(tmp_path / "candor.db", 1, output=log)
    server.start()
    url = f"http://127.0.0.1:{server.port}/s/canary"
    for i in range(3):
        answers = {"secret": CANARY, "amount": 738_291, "cheated": True}
        candor_client.respond(url, answers, ledger=Ledger(tmp_path / f"ledger{i}.json"), clock=make_fast_clock())
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.port}/api/surveys/nobody-here", headers={"User-Agent": "agent-4711"}
    )
    with contextlib.suppress(OSError):
        urllib.request.urlopen(request)  # noqa: S310
    server.stop()
    log.close()
    names = ["candor.db", "candor.db-wal", "candor.db.lock", "log.txt"]
    kept = b"".join((tmp_path / name).read_bytes() for name in names if (tmp_path / name).exists())
    without_definition = kept.replace(parsed.source, b"")
    for trace in (
        CANARY,
        "738291",
        "127.0.0.1:5",
        "agent-4711",
        "candor-client",
        "nobody-here",
        "/s/canary",
        "surveys/canary",
    ):
        assert trace.encode() not in without_definition, trace
    with contextlib.closing(sqlite3.connect(tmp_path / "candor.db")) as connection:
        connection.execute("delete from audit")  # when the survey was published
        connection.commit()
        connection.execute("vacuum")
        connection.execute("pragma wal_checkpoint(truncate)")
    assert not re.search(rb"20\d\d-\d\d-\d\d[T ]\d\d:\d\d", (tmp_path / "candor.db").read_bytes())
    assert store.newest_version("canary") is not None


@pytest.mark.slow
def test_the_log_of_a_failure_names_no_respondent(tmp_path: Path) -> None:
    code = (
        "import sys, logging; from survey_app import create_app; app = create_app({'DB': sys.argv[1]});"
        "app.config['PROPAGATE_EXCEPTIONS'] = False;"
        "c = app.test_client(); store = app.extensions['candor'].store;"
        "type(store).current_key_and_digest = lambda self, slug: 1 / 0;"
        "r = c.get('/api/surveys/secret-slug', headers={'User-Agent': 'agent-4711'}, environ_base={'REMOTE_ADDR': '203.0.113.9'});"
        "print(r.status_code, r.data.decode())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, f"sqlite:///{tmp_path}/x.db"], capture_output=True, text=True, check=True
    )
    assert "500" in done.stdout
    assert "ZeroDivisionError" in done.stderr
    for trace in ("secret-slug", "agent-4711", "203.0.113.9"):
        assert trace not in done.stdout + done.stderr


def test_the_lock_file_is_empty_and_the_database_is_for_its_owner_alone(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    report = randomize(published.survey, SAID)
    store.write(lambda: [Submission(published.key, report.id, report.bits)])
    assert (tmp_path / "candor.db.lock").stat().st_size == 0
    for one in tmp_path.glob("candor.db*"):
        assert one.stat().st_mode & 0o077 == 0, one.name


def places_of(path: Path, ids: list[bytes]) -> int:
    """How many of these ids a file holds."""
    content = path.read_bytes() if path.exists() else b""
    return sum(one in content for one in ids)


@pytest.mark.slow
def test_stopping_right_after_the_last_report_leaves_no_order_behind(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    store.close()
    server = Server(tmp_path / "candor.db", 1)
    server.start()
    connection = server.connect()
    ids = []
    for _ in range(60):
        report = randomize(published.survey, SAID)
        connection.request("POST", PATH, report.to_json())
        assert connection.getresponse().read() == b'{"status":"stored"}'
        ids.append(report.id)
    connection.close()
    server.stop()
    assert places_of(tmp_path / "candor.db-wal", ids) == 0
    assert order_left_in(tmp_path / "candor.db", ids) < 0.75


@pytest.mark.slow
def test_what_a_crash_has_left_is_tidied_at_the_next_start(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    made = [submission(published) for _ in range(60)]
    for one in made:
        store.write([one].copy)
    ids = [one.id for one in made]
    assert places_of(tmp_path / "candor.db-wal", ids) == 60
    server = Server(tmp_path / "candor.db", 1)
    server.start()
    assert places_of(tmp_path / "candor.db-wal", ids) == 0
    server.kill()
    assert order_left_in(tmp_path / "candor.db", ids) < 0.75


def test_tidying_that_is_disturbed_is_tried_again(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    store.write([submission(published)].copy)
    with contextlib.closing(sqlite3.connect(tmp_path / "candor.db", isolation_level=None)) as reader:
        reader.execute("begin")
        reader.execute("select count(*) from reports").fetchone()
        assert store.tidy() is False
        assert store.needs_rewrite
    store._rest_until = 0
    assert store.tidy() is True
    assert not store.needs_rewrite


def test_the_key_of_a_deleted_survey_is_never_used_again(place: Place) -> None:
    """A report that waits while its survey is deleted must not land in the next one."""
    store = place.open()
    published = add_worked_example(store)
    waiting = submission(published)
    store.delete_survey("exam")
    other = publish(store, canary_survey(), owner=published.owner)
    assert other.key != published.key
    assert store.write([waiting].copy) == [Outcome.CLOSED]
    store.close()
