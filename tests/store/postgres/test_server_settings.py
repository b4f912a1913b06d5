"""What an operator is told: what around the database keeps the order, where tickets are, and why a server does not start."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from survey_app.cli import main
from survey_app.cli.exit_codes import NOT_DONE
from survey_app.store import NO_TICKETS, State, StoreError, open_store, open_tickets
from survey_app.store.postgres.server_settings import find_faults
from tests.definitions import simple
from tests.fixtures import Installation, build, check_refused, check_stored, make_report, other_bits
from tests.golden_files import Golden
from tests.postgres import Postgres
from tests.ticket_surveys import invitation_survey

QUIET = {"archive_mode": "off", "wal_level": "replica", "log_statement": "none", "log_min_duration_statement": "-1", "wal_recycle": "off", "track_commit_timestamp": "off", "fsync": "on", "full_page_writes": "on", "shared_preload_libraries": ""}  # fmt: skip


def test_nothing_is_said_where_all_is_off() -> None:
    assert find_faults(QUIET, []) == []
    assert find_faults({}, []) == [], "an account that may see nothing is told nothing"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("archive_mode", "always"), ("wal_level", "logical"), ("wal_recycle", "on"), ("track_commit_timestamp", "on"),
        ("log_statement", "mod"), ("log_statement", "all"), ("log_min_duration_statement", "0"),
        ("auto_explain.log_min_duration", "10"), ("shared_preload_libraries", "x, pg_stat_statements"),
        ("fsync", "off"), ("full_page_writes", "off"),
    ],
)  # fmt: skip
def test_whatever_is_on_is_a_line(name: str, value: str) -> None:
    (line,) = find_faults(QUIET | {name: value}, [])
    assert name.replace("shared_preload_libraries", "pg_stat_statements") in line


def test_a_replication_slot_is_a_line() -> None:
    (line,) = find_faults(QUIET, ["standby"])
    assert "replication slots (standby)" in line


def test_what_a_real_server_says_is_read(postgres: Postgres, golden: Golden) -> None:
    store = open_store(postgres.schema())
    store.migrate()
    (line,) = store.warnings()
    assert "fsync" in line
    golden(line)
    with postgres.connect() as connection:
        connection.execute("alter role candor set log_min_duration_statement = 5")
        try:
            store.close()
            assert any("log_min_duration_statement is 5" in line for line in store.warnings())
        finally:
            connection.execute("alter role candor reset log_min_duration_statement")
    store.close()


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("postgresql://nobody@127.0.0.1:1/none", "none at 127.0.0.1: "),
        ("postgresql://u:secret@/none?host=/nowhere", "none at /nowhere: "),
        ("mysql://x", "'mysql://x'"),
    ],
)
def test_a_store_that_cannot_be_reached_is_one_sentence_without_a_password(url: str, named: str) -> None:
    told = CliRunner().invoke(main, ["--db", url, "survey", "list"])
    assert told.exit_code == NOT_DONE and named in told.output
    assert "secret" not in told.output and "Traceback" not in told.output
    assert len(told.output.strip().splitlines()) == 1


def test_somebody_elses_tables_are_left_alone(postgres: Postgres) -> None:
    url = postgres.schema()
    with postgres.connect(url) as connection:
        connection.execute("create table users (name text)")
    store = open_store(url)
    with pytest.raises(StoreError, match='relation "users" already exists'):
        store.migrate()
    with postgres.connect(url) as connection:
        assert connection.execute(
            "select count(*) from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'"
        ).fetchone() == (1,)


def test_a_database_of_a_later_version_is_refused(postgres: Postgres) -> None:
    store = open_store(postgres.schema())
    store.migrate()
    store.migrate()
    with store._transaction() as connection:  # type: ignore[attr-defined]
        connection.execute("update settings set value = '99' where name = 'version'")
    with pytest.raises(StoreError, match="version 99"):
        store.migrate()
    store.close()


def test_without_the_extra_it_says_what_to_install(golden: Golden) -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from survey_app.cli import main; main(['--db', 'postgresql://x/y', 'survey', 'list'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'candor-survey[postgres]'" in done.stderr and "Traceback" not in done.stderr
    golden(done.stderr.partition(" (")[0])  # and then the reason, in the words of Python


def test_only_an_asked_for_postgresql_costs_its_import() -> None:
    code = "import sys; import survey_app.web.rsgi; print('psycopg' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.fixture
def installation(tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installation]:
    """The app upon PostgreSQL; no tickets."""
    monkeypatch.delenv("CANDOR_TICKETS", raising=False)
    built = build(tmp_path, store=open_store(postgres.schema()))
    yield built
    built.close()


def test_the_whole_way_of_a_report_ends_in_postgresql_too(installation: Installation) -> None:
    published = installation.publish()
    reports = [make_report(published) for _ in range(45)]
    check_stored(installation.post(reports[0]))
    check_stored(installation.post(reports[0]), again=True)
    check_refused(installation.post(other_bits(reports[0])), "id_taken")
    assert installation.count(*reports)["stored"] == 44
    assert installation.results()["reports"] == 24, "the batch alone: single reports wait in a queue of their own"
    installation.store.set_state(published, State.CLOSED)
    assert installation.results()["reports"] == 44
    check_refused(installation.post(make_report(published)), "survey_closed")


def test_a_server_without_tickets_says_so_and_what_to_do(installation: Installation, tmp_path: Path) -> None:
    survey = invitation_survey(0, definition=simple())
    published = installation.publish(survey)
    body = json.dumps({"survey": survey.digest, "blinded": "A" * 511 + "g"}).encode()
    reply = installation.take("code", body)
    check_refused(reply, "unavailable")
    assert NO_TICKETS in json.loads(reply.data)["detail"]
    assert "invited" not in installation.results(), "how many is known elsewhere"
    check_stored(installation.post(make_report(published)))  # tickets from there are taken here
    file = tmp_path / "club.yaml"
    file.write_text(
        "slug: club\ntitle: Club\nepsilon: 1\ninvitations: true\nquestions: [{id: a, type: yes_no, text: A?}]\n"
    )
    told = CliRunner().invoke(main, ["--db", installation.store.url, "survey", "add", str(file), "--owner", "ada"])  # type: ignore[attr-defined]
    assert told.exit_code == 1 and NO_TICKETS in told.output


def test_the_one_server_that_has_a_file_gives_out_tickets(
    tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANDOR_TICKETS", str(tmp_path / "tickets.db"))
    store = open_store(postgres.schema())
    store.migrate()
    file = open_tickets(store)
    file.invite("exam", [b"\1" * 32])
    assert file.slugs() == ["exam"] and (tmp_path / "tickets.db").stat().st_mode & 0o777 == 0o600
    file.close()
    store.close()
