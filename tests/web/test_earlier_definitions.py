"""Surveys that 0.8 published and 0.9 would not: they keep running, and the operator reads which they are."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import candor_client
from candor_client import Survey
from candor_client.errors import DefinitionError
from survey_app.assure.doctor.finding import State
from survey_app.assure.doctor.sqlite_checks import findings
from survey_app.cli import main
from survey_app.store import State as Life
from survey_app.store.sqlite import SqliteStore
from tests.definitions import COIN, define, encode, field, multiple, subset, worked_example, yes_no
from tests.fixtures import SAID, Installation, add, build, check_stored, make
from tests.server_process import Server
from tests.sign_in import signed_in
from tests.tree import parse

EXAM = Survey.from_stored(encode(worked_example() | {"title": "Every\u200bbody"}))
MANY = [f"{place:x}" for place in range(1025)]
LARGE = Survey.from_stored(
    encode(
        define(
            [yes_no(), multiple("used") | {"type": "choice", "options": MANY}],
            [field(COIN, "cheated"), field(subset(1025, 1), "used")],
            slug="large",
            epsilon=100,
        )
    )
)


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    built = build(tmp_path)
    yield built
    built.close()


def test_it_is_served_and_its_reports_are_taken(installation: Installation) -> None:
    published = installation.publish(EXAM)
    reply = installation.client.get("/api/surveys/exam")
    assert (reply.status_code, reply.data) == (200, EXAM.source)
    for path in ("/s/exam", "/s/exam/privacy", "/s/exam/form.html", "/results/exam"):
        assert installation.client.get(path).status_code == 200, path
    for _ in range(40):
        check_stored(installation.post(candor_client.randomize(EXAM, SAID)))
    assert installation.results()["reports"] == 20
    assert [one.survey.slug for one in installation.store.surveys()] == ["exam"]
    installation.store.set_state(published, Life.CLOSED)
    assert installation.results()["reports"] == 40


def test_no_client_answers_it(installation: Installation) -> None:
    installation.publish(EXAM)
    source = installation.client.get("/api/surveys/exam").data
    with pytest.raises(DefinitionError) as refusal:
        Survey.from_json(source)
    assert (refusal.value.code, refusal.value.path) == ("bad_value", "title")


def test_its_owner_reads_on_its_page_what_is_refused_until_it_is_closed(installation: Installation) -> None:
    published = installation.publish(EXAM)
    grouped = {"study": "study", "group": "North\u200b", "slug": "study-north"}
    group = installation.publish(Survey.from_stored(encode(worked_example() | grouped)))
    browser = signed_in(installation.app)
    for slug, one, place in (("exam", published, "title"), ("study", group, "group")):
        notice = parse(browser.get(f"/console/{slug}").text).one("section", aria_labelledby="refused").text
        assert f"{place}: " in notice and "U+200B" in notice
        installation.store.set_state(one, Life.CLOSED)
        assert 'id="refused"' not in browser.get(f"/console/{slug}").text


def test_the_doctor_and_the_log_name_it_until_it_is_closed(tmp_path: Path) -> None:
    path, log = tmp_path / "candor.db", tmp_path / "log"
    store, fine = make(path)
    for made in (EXAM, LARGE):
        add(store, made, owner=fine.owner)
    add(store, Survey.from_stored(EXAM.source.replace(b'"exam"', b'"over"')), owner=fine.owner, state=Life.CLOSED)
    store.close()
    with log.open("wb") as output:
        server = Server(path, 1, output=output)
        server.start()
        server.stop()
    written = [line for line in log.read_text().splitlines() if line.startswith("warning: ")]
    found = [one for one in findings(path, "--db") if one.check == "definition"]
    assert [one.state for one in found] == [State.WARNING, State.WARNING]
    for line, one, parts in zip(written, found, [("exam: title:", "U+200B"), ("large: questions[1]",)], strict=True):
        assert all(part in line and part in one.found for part in parts)


def test_it_is_in_a_backup_and_can_be_restored(tmp_path: Path) -> None:
    store, fine = make(tmp_path / "candor.db")
    published = add(store, EXAM, owner=fine.owner)
    store.close()
    for db, command in (("candor.db", "backup"), ("restored.db", "restore")):
        done = CliRunner().invoke(main, ["--db", f"sqlite:///{tmp_path / db}", command, str(tmp_path / "kept.backup")])
        assert done.exit_code == 0, done.output
    restored = SqliteStore(tmp_path / "restored.db")
    assert restored.newest_version("exam") == published
    restored.close()
