"""Reports with tickets: a ticket is good for one report to one definition, and nothing of it is kept but the id."""

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

import candor_client
from candor_client import Report, Ticket
from candor_client.report import to_base64url
from candor_client.ticket import ticket_id
from survey_app.accounts import hash_secret
from survey_app.store import PublishedSurvey, State
from tests.definitions import simple
from tests.fixtures import Installation, check_refused, check_stored, check_tally, make_report, other_bits, wire
from tests.sign_in import read_all_files
from tests.ticket_surveys import draw, invent_ticket, invitation_survey, modulus


@pytest.fixture
def published(installation: Installation) -> PublishedSurvey:
    return installation.invite("one")


def spelled(ticket: Ticket) -> dict[str, str]:
    return {"prefix": to_base64url(ticket.prefix), "signature": to_base64url(ticket.signature)}


def with_ticket(report: Report, ticket: Ticket) -> Report:
    """The same bits under another ticket's id."""
    return replace(report, id=ticket_id(ticket.prefix), ticket=ticket)


def test_a_ticket_that_was_taken_blindly_is_spent(installation: Installation, published: PublishedSurvey) -> None:
    survey = published.survey
    blinding, body = draw(survey)
    reply = installation.take("one", body)
    assert reply.status_code == 200 and list(reply.json or {}) == ["signature"]
    assert reply.headers["Access-Control-Allow-Origin"] == "*" and reply.headers["Cache-Control"] == "no-store"
    ticket = blinding.unblind(
        modulus(survey), survey.digest, candor_client.report.from_base64url(reply.get_json()["signature"])
    )
    report = candor_client.randomize(survey, {"cheated": True}, ticket=ticket)
    check_stored(installation.post(report))
    check_stored(installation.post(report), again=True)
    assert check_tally(installation, published) == 1


def test_a_ticket_is_good_for_one_report(installation: Installation, published: PublishedSurvey) -> None:
    report = make_report(published)
    check_stored(installation.post(report))
    check_refused(installation.post(other_bits(report)), "id_taken")
    check_stored(installation.post(report), again=True)
    assert check_tally(installation, published) == 1


def test_nothing_of_a_ticket_is_kept_but_its_id(installation: Installation, published: PublishedSurvey) -> None:
    report = make_report(published)
    check_stored(installation.post(report))
    kept, ticket = read_all_files(installation.store.path), report.ticket
    assert ticket is not None and report.id in kept
    parts = [ticket.signature[at : at + 16] for at in range(0, 384, 16)]
    assert not [part for part in [*parts, ticket.prefix[:16], ticket.prefix[16:]] if part in kept]


def test_a_report_without_a_good_ticket_is_refused(installation: Installation, published: PublishedSurvey) -> None:
    report = make_report(published)
    ticket = report.ticket
    assert ticket is not None
    flipped = replace(ticket, signature=ticket.signature[:-1] + bytes([ticket.signature[-1] ^ 1]))
    other = invent_ticket(published.survey)
    refused: list[bytes] = [
        replace(report, ticket=None).to_json(),  # none
        replace(report, ticket=flipped).to_json(),
        replace(report, ticket=replace(ticket, signature=bytes(384))).to_json(),
        replace(report, id=bytes(16)).to_json(),  # an id of one's own
        replace(report, ticket=other).to_json(),  # the id of another ticket
        with_ticket(report, replace(other, signature=ticket.signature)).to_json(),
        with_ticket(
            report, invent_ticket(installation.publish(slug_of("other")).survey)
        ).to_json(),  # signed for another definition
    ]
    for body in refused:
        check_refused(installation.post(body), "bad_ticket")
    assert check_tally(installation, published) == 0
    check_stored(installation.post(report))


def slug_of(slug: str) -> candor_client.Survey:
    return invitation_survey(definition=simple() | {"slug": slug})


def test_what_is_no_ticket_is_no_report(installation: Installation, published: PublishedSurvey) -> None:
    report = make_report(published)
    assert report.ticket is not None
    good: dict[str, Any] = spelled(report.ticket)
    broken: tuple[Any, ...] = (
        None, "", [], {}, {"prefix": good["prefix"]}, good | {"more": ""}, good | {"prefix": good["prefix"][:-2]},
        good | {"signature": good["signature"] + "AAAA"}, good | {"signature": good["signature"][:-1] + "="},
        good | {"prefix": 7}, good | {"prefix": good["prefix"] + "\n"},
    )  # fmt: skip
    for ticket in broken:
        check_refused(installation.post(wire(report, ticket=ticket)), "malformed_report")
    text = report.to_json().decode()
    for twice in (
        text.replace('"ticket":', f'"ticket":{json.dumps(good)},"ticket":'),
        text.replace('"prefix":', f'"prefix":"{good["prefix"]}","prefix":'),
        text.replace('"id":', '"id":"","id":'),
    ):
        check_refused(installation.post(twice.encode()), "malformed_report")
    check_stored(installation.post(json.dumps(json.loads(text), indent=2).encode()))


def test_a_survey_that_anybody_may_answer_takes_no_tickets(installation: Installation) -> None:
    published = installation.publish()
    report = make_report(published)
    ticket = spelled(invent_ticket(slug_of("other")))
    check_refused(installation.post(wire(report, ticket=ticket)), "malformed_report")
    check_stored(installation.post(report))


def test_the_checks_have_one_order(installation: Installation, published: PublishedSurvey) -> None:
    """Each body has all faults from one on; what is said is about the first of them."""
    report = make_report(published)
    wrong = {"survey": "0" * 64, "bits": "_w", "id": to_base64url(bytes(16))}
    check_refused(installation.post(wire(report, **wrong, ticket={})), "malformed_report")
    check_refused(installation.post(wire(report, **wrong)), "wrong_survey")
    del wrong["survey"]
    check_refused(installation.post(wire(report, **wrong)), "impossible_bits")
    del wrong["bits"]
    installation.store.set_state(published, State.PAUSED)
    check_refused(installation.post(wire(report, **wrong)), "bad_ticket")
    check_refused(installation.post(report), "survey_paused")


def test_a_stored_report_is_known_after_closing_and_in_the_next_version(
    installation: Installation, published: PublishedSurvey
) -> None:
    report = make_report(published)
    check_stored(installation.post(report))
    newer = installation.invite("two", number=1, definition=json.loads(published.survey.source) | {"title": "Again"})
    check_stored(installation.post(report), again=True)
    check_refused(installation.post(other_bits(report)), "id_taken")
    check_refused(installation.post(make_report(published)), "wrong_survey")
    installation.store.set_state(newer, State.CLOSED)
    check_stored(installation.post(report), again=True)


def test_only_a_survey_of_this_server_is_signed_for_here(installation: Installation) -> None:
    published = installation.invite("one", issuer="https://council.example")
    reply = installation.take("one", draw(published.survey)[1])
    check_refused(reply, "not_found")
    assert "https://council.example" in reply.get_json()["detail"]


@pytest.mark.parametrize("state", [State.PAUSED, State.CLOSED])
def test_tickets_are_given_out_while_the_survey_is_open(
    installation: Installation, published: PublishedSurvey, state: State
) -> None:
    _, body = draw(published.survey)
    installation.store.set_state(published, state)
    check_refused(installation.take("one", body), f"survey_{state}")
    if state is State.PAUSED:
        installation.store.set_state(published, State.OPEN)
        assert installation.take("one", body).status_code == 200


def test_invited_and_taken_are_published_in_steps_that_are_drawn(installation: Installation) -> None:
    codes = [f"code {number}" for number in range(125)]
    published = installation.invite(*codes)
    row = installation.tickets.private_key(published.survey.digest)
    assert row is not None
    seen = []
    for code in codes:
        installation.tickets.mark(row[0], hash_secret(code), b"1" * 32)
        found = installation.results()
        seen.append((found["invited"], found["taken"]))
    assert len({invited for invited, _ in seen}) == 1 and 125 - 60 < seen[0][0] <= 125 - 20
    taken = [0, *(count for _, count in seen)]
    assert all(after - before in (0, *range(20, 40)) for before, after in pairwise(taken))
    assert all(number - count >= 20 for number, count in enumerate(taken) if count)
    assert taken[-1] > 125 - 60, "at most one step and what always waits"
    installation.publish(simple() | {"slug": "other"})
    assert "invited" not in installation.client.get("/api/surveys/other/results").get_json()
    elsewhere = installation.invite(issuer="https://council.example", definition=simple() | {"slug": "elsewhere"})
    assert "taken" not in installation.client.get(f"/api/surveys/{elsewhere.survey.slug}/results").get_json()
