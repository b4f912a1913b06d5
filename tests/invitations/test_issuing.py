"""The ticket issuer: who gets a blind signature, who does not, and why; nobody gets two, nobody none."""

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from candor_client import Survey
from candor_client.report import to_base64url
from candor_client.ticket import EXPONENT
from survey_app.accounts import hash_secret
from survey_app.collect import rate_limit
from survey_app.collect.rate_limit import Limiter
from survey_app.invitations import issuing
from survey_app.invitations.issuing import TicketIssuer, make_file_finder, ticket_endpoint
from survey_app.invitations.signer import Signer
from survey_app.problems import Problem
from survey_app.store import TicketFile, Unavailable, now
from tests.ticket_surveys import invitation_survey, key, request_for

PATIENCE = 60
HOME = "https://example.org/s/exam"


class Office:
    """A ticket issuer that signs for one definition, and its file."""

    def __init__(self, folder: Path, made: Survey, signer: Signer | None = None) -> None:
        self.survey, self.file = made, TicketFile(folder / "tickets")
        self.file.migrate()
        self.file.add_key("exam", key())
        self.file.bind(self.file.active_keys("exam")[0], made.digest, made.source, HOME)
        self.issuer = TicketIssuer(self.file, make_file_finder(self.file), signer)

    def invite(self, *codes: str) -> None:
        self.file.invite("exam", [hash_secret(code) for code in codes])

    def take(self, code: str | None, body: bytes | None = None, slug: str = "exam") -> bytes:
        return self.issuer.issue(slug, code, request_for(self.survey) if body is None else body).result(PATIENCE)

    def refusal(self, code: str | None, body: bytes | None = None, slug: str = "exam") -> str:
        with pytest.raises(Problem) as problem:
            self.take(code, body, slug)
        return problem.value.code


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    made = Office(tmp_path, invitation_survey(issuer="https://council.example"))
    made.invite("one", "two")
    yield made
    made.issuer.close()
    made.file.close()


def test_an_invitation_buys_a_signature_of_whatever_is_brought(office: Office) -> None:
    signature = office.take("one", request_for(office.survey, 4711))
    assert pow(int.from_bytes(signature, "big"), EXPONENT, key().modulus) == 4711


def test_the_same_message_is_signed_again_and_no_other(office: Office) -> None:
    body = request_for(office.survey)
    first = office.take("one", body)
    assert office.take("one", body) == first
    assert office.refusal("one") == "already_issued"
    assert office.take("one", body) == first
    assert office.file.count_invitations(office.survey.digest) == (2, 1)


def test_a_message_is_not_signed_without_an_invitation(office: Office) -> None:
    for code in ("three", "", None, "ONE", "one "):
        assert office.refusal(code) == "not_invited"
    assert office.file.count_invitations(office.survey.digest) == (2, 0)


@pytest.mark.parametrize("number", [0, 1, -2, -1, 0.5])
def test_numbers_whose_signature_everybody_knows_or_that_are_none_are_refused(office: Office, number: float) -> None:
    """0, 1 and n − 1 sign themselves; n and above are no messages."""
    modulus = key().modulus
    blinded = {-1: modulus - 1, -2: modulus, 0.5: (1 << 3072) - 1}.get(number, int(number))
    assert office.refusal("one", request_for(office.survey, blinded)) == "malformed_request"
    assert office.file.count_invitations(office.survey.digest) == (2, 0), "the invitation is as good as before"


def test_what_is_no_request_is_refused_before_anything_is_looked_up(office: Office) -> None:
    good: dict[str, Any] = json.loads(request_for(office.survey))
    blinded = good["blinded"]
    for body in (
        b"", b"[]", b"null", b"\xff", json.dumps({"survey": good["survey"]}).encode(),
        json.dumps(good | {"more": 1}).encode(), json.dumps(good | {"blinded": 5}).encode(),
        json.dumps(good | {"blinded": blinded[:-4]}).encode(), json.dumps(good | {"blinded": blinded + "AAAA"}).encode(),
        json.dumps(good | {"blinded": blinded[:-1] + "="}).encode(), json.dumps(good | {"blinded": "+" + blinded[1:]}).encode(),
        json.dumps(good).replace('"survey"', '"survey":"x","survey"').encode(),
        json.dumps(good).replace('"survey"', r'"s\u0075rvey"').encode(),
    ):  # fmt: skip
        with pytest.raises(Problem) as problem:
            office.issuer.issue("exam", "one", body)
        assert problem.value.code == "malformed_request", body
    with pytest.raises(Problem) as problem:
        office.issuer.issue("exam", "one", request_for(office.survey) + b" " * 2000)
    assert problem.value.code == "too_large"


def test_one_definition_of_a_slug_is_signed_for(office: Office) -> None:
    assert office.refusal("one", request_for(office.survey, survey="0" * 64)) == "wrong_survey"
    assert office.refusal("one", slug="other") == "not_found"
    newer = invitation_survey(1, issuer="https://council.example")
    office.file.add_key("exam", key(1))
    assert office.take("one"), "a key that waits for its definition changes nothing"
    office.file.bind(office.file.active_keys("exam")[1], newer.digest, newer.source, HOME)
    assert office.refusal("two") == "wrong_survey"
    assert office.take("one", request_for(newer)), "invited people may answer the next version"
    assert office.file.private_key(office.survey.digest) is None, "the earlier key is destroyed"


def test_an_invitation_may_be_brought_ten_times_an_hour(office: Office) -> None:
    body = request_for(office.survey)
    signed = {office.take("one", body) for _ in range(10)}
    assert len(signed) == 1
    assert office.refusal("one", body) == "too_many_requests"
    assert office.take("two"), "that is nobody else's concern"


def test_invented_codes_lock_nobody_out(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one cell a row all codes share a count, as after a million codes: only codes that exist are counted."""
    monkeypatch.setattr(rate_limit, "CELLS", 1)
    assert {office.refusal(f"invented {number}") for number in range(30)} == {"not_invited"}
    assert office.take("one")
    for _ in range(9):
        assert office.take("two", request_for(office.survey, 4711))
    assert office.refusal("two") == "too_many_requests", "ten tries with codes that exist have filled the one cell"


def test_invented_codes_have_no_definition_parsed_again(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large one takes 50 ms, so that one address could keep everybody else from their tickets."""
    assert office.refusal("invented") == "not_invited"
    parsed: list[bytes] = []
    for name in ("from_json", "from_stored"):
        monkeypatch.setattr(Survey, name, classmethod(lambda cls, source: parsed.append(source)), raising=False)
    assert office.refusal("another") == "not_invited"
    assert not parsed


def test_of_fifty_who_bring_one_invitation_one_gets_a_ticket(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issuing, "TRIES", "1000/hour")
    issuer = TicketIssuer(office.file, make_file_finder(office.file))
    start, outcomes, lock = threading.Barrier(50), list[str](), threading.Lock()

    def taker() -> None:
        body = request_for(office.survey)
        start.wait()
        try:
            issuer.issue("exam", "one", body).result(PATIENCE)
            outcome = "signed"
        except Problem as problem:
            outcome = problem.code
        with lock:
            outcomes.append(outcome)

    takers = [threading.Thread(target=taker) for _ in range(50)]
    for one in takers:
        one.start()
    for one in takers:
        one.join()
    issuer.close()
    assert sorted(outcomes) == ["already_issued"] * 49 + ["signed"]


def test_tickets_are_taken_before_the_answers_begin(tmp_path: Path) -> None:
    for hours, outcome in ((1, "signed"), (-1, "too_late")):
        folder = tmp_path / outcome
        begin = f"{now() + timedelta(hours=hours):%Y-%m-%dT%H:%MZ}"
        office = Office(folder, invitation_survey(issuer="https://council.example", from_=begin))
        office.invite("one")
        assert outcome == ("signed" if hours > 0 and office.take("one") else office.refusal("one"))
        office.issuer.close()
        office.file.close()


def test_after_the_end_nothing_is_signed(office: Office) -> None:
    body = request_for(office.survey)
    office.take("one", body)
    office.file.destroy_key(office.survey.digest)
    assert office.refusal("one", body) == "not_found"


def test_a_signing_process_that_fails_costs_nobody_their_ticket(tmp_path: Path) -> None:
    office = Office(tmp_path, invitation_survey(issuer="https://council.example"), Signer(("/nowhere/at/all",)))
    office.invite("one")
    body = request_for(office.survey)
    with pytest.raises(Unavailable):
        office.take("one", body)
    office.issuer.close()
    office.issuer = TicketIssuer(office.file, make_file_finder(office.file))
    assert office.take("one", body)
    office.issuer.close()
    office.file.close()


def test_so_many_wait_and_the_next_is_told(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issuing, "MOST_WAITING", 0)
    assert office.refusal("one") == "unavailable"
    monkeypatch.undo()
    for _ in range(3):
        assert office.take("two", request_for(office.survey, 4711)), "a finished request leaves its place to the next"


def test_replies_are_a_signature_or_a_problem(office: Office) -> None:
    signature = office.take("one")
    endpoint = ticket_endpoint(office.issuer, Limiter("off"))
    assert endpoint.make_reply(signature) == (
        200,
        "application/json",
        json.dumps({"signature": to_base64url(signature)}, separators=(",", ":")).encode(),
        (),
    )
    for error, status in (
        (Problem("already_issued"), 409),
        (Unavailable("x"), 503),
        (TimeoutError(), 503),
        (KeyError(), 500),
    ):
        assert endpoint.refuse(error).status == status
    assert json.loads(endpoint.refuse(Unavailable("x")).body)["detail"] == issuing.LATER
