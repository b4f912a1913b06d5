"""When a survey ends, however it ends, its private key and the hashes of what was signed are in no file any more."""

import hashlib
import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from candor_client.report import from_base64url
from survey_app.authoring import build
from survey_app.authoring.invitation_terms import format_modulus
from survey_app.authoring.publication import publish
from survey_app.authoring.terms import Terms
from survey_app.cli import main
from survey_app.invitations import key_disposal
from survey_app.invitations.key_disposal import destroy_closed_keys
from survey_app.store import PublishedSurvey, State, StoreError, now
from tests.definitions import simple
from tests.fixtures import Installation
from tests.golden_files import Golden
from tests.sign_in import csrf, read_all_files, signed_in
from tests.ticket_surveys import key, request_for

YAML = b"slug: exam\ntitle: Exam\nepsilon: 2\ninvitations: true\nquestions:\n  - {id: cheated, type: yes_no, text: Did you?}\n"


def secrets_of(installation: Installation, number: int = 0) -> list[bytes]:
    """What must not outlive a survey: pieces of its key, and the hash of a message that it signs here."""
    published = installation.invite("one", "two", number=number)
    body = request_for(published.survey)
    assert installation.take("one", body).status_code == 200
    private = key(number).to_bytes()
    pieces = [private[at : at + 16] for at in range(0, len(private), 16)]
    found = [*pieces, hashlib.sha256(from_base64url(json.loads(body)["blinded"])).digest()]
    assert not missing(installation, found), "they are there while it runs"
    return found


def missing(installation: Installation, found: list[bytes]) -> list[bytes]:
    kept = read_all_files(installation.store.path)
    return [one for one in found if one not in kept]


def newest(installation: Installation) -> PublishedSurvey:
    found = installation.store.newest_version("exam")
    assert found is not None
    return found


def by_the_console(installation: Installation) -> None:
    browser = signed_in(installation.app)
    form = {"csrf_token": csrf(browser, "/console/exam/close")}
    assert browser.post("/console/exam/close", data=form).status_code == 302


def by_deletion_in_the_console(installation: Installation) -> None:
    browser = signed_in(installation.app)
    form = {"csrf_token": csrf(browser, "/console/exam/delete"), "typed": "exam"}
    assert browser.post("/console/exam/delete", data=form).status_code == 302


def by_command(*command: str) -> Callable[[Installation], None]:
    def run(installation: Installation) -> None:
        done = CliRunner().invoke(main, ["--db", f"sqlite:///{installation.store.path}", "survey", *command])
        assert done.exit_code == 0, done.output

    return run


def by_a_newer_version(installation: Installation) -> None:
    (installation.store.path.parent / "next.yaml").write_bytes(YAML)
    by_command("add", str(installation.store.path.parent / "next.yaml"), "--owner", "ada")(installation)


@pytest.mark.parametrize(
    "end",
    [by_the_console, by_deletion_in_the_console, by_command("close", "exam", "--yes"), by_command("delete", "exam", "--yes"), by_a_newer_version],
)  # fmt: skip
def test_the_key_and_the_hashes_are_in_no_byte_once_a_survey_has_ended(
    installation: Installation, end: Callable[[Installation], None]
) -> None:
    found = secrets_of(installation)
    end(installation)
    assert missing(installation, found) == found


def test_what_ended_by_its_date_is_destroyed_at_the_next_start(installation: Installation) -> None:
    found = secrets_of(installation)
    destroy_closed_keys(installation.tickets, installation.store)
    assert not missing(installation, found), "it still runs"
    installation.store.clock = lambda: now() + timedelta(days=29)
    destroy_closed_keys(installation.tickets, installation.store)
    assert missing(installation, found) == found
    assert installation.tickets.count_invitations(newest(installation).survey.digest) == (2, 1), (
        "who took a ticket is still counted"
    )


def test_others_keep_their_keys(installation: Installation) -> None:
    found = secrets_of(installation)
    installation.invite(number=1, definition=simple() | {"slug": "other"})
    other = installation.store.newest_version("other")
    assert other is not None
    installation.store.set_state(other, State.CLOSED)
    destroy_closed_keys(installation.tickets, installation.store)
    assert not missing(installation, found)
    assert [kept.slug for kept in installation.tickets.active_keys()] == ["exam"]


def test_publishing_keeps_the_key_first_and_takes_it_away_if_it_came_to_nothing(installation: Installation) -> None:
    published = publish(
        installation.store, installation.tickets, build(YAML), owner=installation.owner.key, make_key=key
    )[0]
    assert published.is_by_invitation and published.survey.tickets and published.survey.tickets.key == key().modulus
    assert [kept.digest for kept in installation.tickets.active_keys()] == [published.survey.digest]
    with pytest.raises(StoreError, match="somebody else"):
        publish(
            installation.store,
            installation.tickets,
            build(YAML),
            owner=installation.stranger.key,
            make_key=lambda: key(1),
        )
    assert [kept.digest for kept in installation.tickets.active_keys()] == [published.survey.digest]
    destroy_closed_keys(installation.tickets, installation.store)
    assert [kept.digest for kept in installation.tickets.active_keys()] == [published.survey.digest]


def test_an_issuer_s_key_is_for_one_definition(installation: Installation, golden: Golden) -> None:
    """A ticket for one definition would be one for the other: the issuer does not see what it signs."""
    said = f"invitations: {{issuer: 'https://council.example', key: {format_modulus(key().modulus)}}}".encode()
    file = YAML.replace(b"invitations: true", said)
    publish(installation.store, installation.tickets, build(file), owner=installation.owner.key, make_key=key)
    for again in (file.replace(b"slug: exam", b"slug: other"), file.replace(b"title: Exam", b"title: Again")):
        with pytest.raises(StoreError) as caught:
            publish(installation.store, installation.tickets, build(again), owner=installation.owner.key, make_key=key)
        assert newest(installation).survey.title == build(file).survey.title
    assert installation.store.newest_version("other") is None
    golden(caught.value)


def test_a_phase_that_has_passed_is_refused_and_closing_comes_after_it(
    installation: Installation, golden: Golden
) -> None:
    def opening(after: timedelta) -> bytes:
        return YAML.replace(b"invitations: true", f"invitations: {{from: {now() + after:%Y-%m-%dT%H:%MZ}}}".encode())

    with pytest.raises(StoreError) as caught:
        publish(
            installation.store,
            installation.tickets,
            build(opening(-timedelta(hours=1))),
            owner=installation.owner.key,
            make_key=key,
        )
    assert installation.tickets.slugs() == [] and installation.store.newest_version("exam") is None
    golden(re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "MOMENT", str(caught.value)))
    file = build(opening(timedelta(hours=3)))
    published = publish(installation.store, installation.tickets, file, owner=installation.owner.key, make_key=key)[0]
    with pytest.raises(StoreError, match="closes"):
        installation.store.set_terms(published, Terms(closes=now() + timedelta(hours=2)))
    assert newest(installation).terms == published.terms
    assert published.terms.closes is not None
    installation.store.set_terms(published, Terms(closes=published.terms.closes + timedelta(hours=4)))


def test_a_key_that_was_left_without_a_survey_goes_away(installation: Installation) -> None:
    """A crash between the two files leaves the key, never a survey without one."""
    installation.tickets.add_key("exam", key(), "0" * 64)
    destroy_closed_keys(installation.tickets, installation.store)
    assert installation.tickets.slugs() == [] and not missing(installation, [])


def test_a_survey_that_is_only_ready_has_its_key(installation: Installation) -> None:
    published = publish(
        installation.store,
        installation.tickets,
        build(YAML),
        owner=installation.owner.key,
        state=State.READY,
        make_key=key,
    )[0]
    destroy_closed_keys(installation.tickets, installation.store)
    assert installation.tickets.private_key(published.survey.digest) is not None
    installation.tickets.invite("exam", [b"1" * 32])
    installation.store.set_state(published, State.OPEN)
    assert installation.tickets.count_invitations(published.survey.digest) == (1, 0)


def test_a_file_that_cannot_be_written_is_tried_again_later(
    installation: Installation, caplog: pytest.LogCaptureFixture
) -> None:
    found = secrets_of(installation)
    installation.store.set_state(newest(installation), State.CLOSED)
    Path(f"{installation.tickets.path}.lock").unlink(missing_ok=True)
    Path(f"{installation.tickets.path}.lock").mkdir()
    assert not destroy_closed_keys(installation.tickets, installation.store)
    assert [(record.name, record.levelname) for record in caplog.records] == [(key_disposal.__name__, "WARNING")]
    Path(f"{installation.tickets.path}.lock").rmdir()
    assert not missing(installation, found)
    destroy_closed_keys(installation.tickets, installation.store)
    assert missing(installation, found) == found
