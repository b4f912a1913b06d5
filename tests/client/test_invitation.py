"""From an invitation to a report that cannot be linked to it, against a server that issues and collects."""

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import candor_client
from candor_client import Clock, Ledger, Receipt, Ticket
from candor_client.address import Address
from candor_client.errors import (
    BadAddress,
    BadTicket,
    LimitExceeded,
    OtherServer,
    ServerRefusal,
    TicketNeeded,
    TooEarly,
    TooLate,
    Unreachable,
)
from tests.blind_signature_reference import KEYS
from tests.clock import SimulatedClock, make_fast_clock
from tests.definitions import survey, worked_example
from tests.golden_files import Golden
from tests.javascript import Node, Refusal
from tests.make_vectors import add_tickets
from tests.reference_issuer import Issuer, problem, to_text
from tests.scripted_server import Reply, Server

SAID: dict[str, Any] = {"cheated": True, "help": None, "hours": 12}
BEGINS = datetime(2026, 12, 10, tzinfo=UTC)
PHASES = add_tickets(KEYS[0], worked_example(), **{"from": "2026-12-10T00:00Z"})


@pytest.fixture
def issuer(server: Server) -> Issuer:
    return Issuer(server)


def respond(url: str, answers: dict[str, Any] | None = None, **more: Any) -> Receipt:
    return candor_client.respond(url, answers or SAID, **{"clock": make_fast_clock(), **more})


def take(url: str, **more: Any) -> Ticket:
    return candor_client.take_ticket(url, **{"clock": make_fast_clock(), **more})


def the_entry(issuer: Issuer) -> Any:
    return Ledger().read().entries[issuer.digest]


def test_an_invitation_becomes_a_report_and_never_travels_with_it(issuer: Issuer) -> None:
    receipt = respond(issuer.invite("secret-code"))
    assert (receipt.status, receipt.repeated) == ("stored", False)
    assert [to_text(bits) for bits in issuer.reports.values()] == [to_text(receipt.bits or b"")]
    (_, _, get), (_, taken, ticket), (_, sent, report) = issuer.server.requests
    assert (taken, sent) == ("/api/surveys/exam/tickets", "/api/surveys/exam/reports")
    assert ticket["Candor-Invitation"] == "secret-code"
    for headers in (get, report):
        assert "Candor-Invitation" not in headers
    assert "secret-code" not in str(issuer.server.bodies)
    assert list(json.loads(issuer.server.bodies[0])) == ["survey", "id", "bits", "ticket"]


def test_the_issuer_sees_nothing_of_the_ticket_that_is_spent(issuer: Issuer) -> None:
    respond(issuer.invite("code"))
    (_, asked), (report,) = issuer.requests[0], issuer.server.bodies
    ticket = json.loads(report)["ticket"]
    assert list(json.loads(asked)) == ["survey", "blinded"]
    assert ticket["prefix"] not in asked.decode()
    assert ticket["signature"] not in asked.decode()


def test_without_an_invitation_there_is_nothing_to_answer_with(issuer: Issuer) -> None:
    with pytest.raises(TicketNeeded, match="by invitation"):
        respond(issuer.link)
    with pytest.raises(TicketNeeded):
        take(issuer.link)
    assert not issuer.requests and not issuer.server.bodies


def test_a_ticket_is_taken_once_and_waits(issuer: Issuer) -> None:
    link = issuer.invite("code")
    ticket = take(link)
    assert take(link) == take(issuer.link) == ticket
    assert len(issuer.requests) == 1
    assert the_entry(issuer).state == "ticket"
    assert Ledger().read().total() == 0
    respond(issuer.link)  # without the code, on the device that holds the ticket
    assert len(issuer.requests) == 1
    assert list(issuer.reports) == [candor_client.ticket.ticket_id(ticket.prefix)]


def test_a_survey_without_tickets_gives_none(server: Server) -> None:
    plain = Issuer(server, worked_example())
    with pytest.raises(TicketNeeded):
        take(plain.invite("code"))


@pytest.mark.parametrize("code", ["not_invited", "already_issued"])
def test_a_refused_invitation_is_the_server_s_word(issuer: Issuer, code: str) -> None:
    issuer.server.tickets = lambda *_: problem(403, code)
    for _ in range(2):
        with pytest.raises(ServerRefusal) as refusal:
            respond(issuer.invite("code"))
        assert refusal.value.code == code
    assert Ledger().read().total() == 0


def test_the_limits_are_asked_before_a_ticket_is_taken(issuer: Issuer) -> None:
    limits: Any
    for limits in ({"limit": 3}, {"server_limit": 3}):
        with pytest.raises(LimitExceeded):
            take(issuer.invite("code"), **limits)
        with pytest.raises(LimitExceeded):
            respond(issuer.invite("code"), **limits)
    assert not issuer.requests
    assert not Ledger().path.exists()


# lost replies, killed programs


def test_the_same_request_is_repeated_until_it_is_signed(issuer: Issuer) -> None:
    """Whatever goes wrong, the issuer sees one z for one code; so the vote is neither lost nor doubled."""
    link = issuer.invite("code")
    good = issuer.sign
    reply: Reply
    for reply in (
        (500, {}, b""), (429, {}, b""), (200, {}, b""), (200, {}, b"{}"), (200, {}, b'{"signature":"?"}'),
        (200, {}, b'{"signature":7}'), (200, {}, b"[" * 100_000),
    ):  # fmt: skip
        issuer.server.tickets = lambda code, body, reply=reply: (good(code, body), reply)[1]  # type: ignore[misc]
        with pytest.raises(Unreachable):
            respond(link)
    assert the_entry(issuer).state == "taking"
    issuer.server.tickets = good
    respond(link)
    assert len({body for _, body in issuer.requests}) == 1
    assert len(issuer.reports) == 1


@pytest.mark.parametrize("spoilt", [bytes(384), b"\xff" * 384, b"x", b""])
def test_a_bad_signature_is_not_kept_and_the_same_request_is_made_again(issuer: Issuer, spoilt: bytes) -> None:
    good = issuer.sign

    def bad(code: str, body: bytes) -> Reply:
        good(code, body)
        return 200, {}, json.dumps({"signature": to_text(spoilt)}).encode()

    issuer.server.tickets = bad
    with pytest.raises(BadTicket, match="nothing is lost"):
        respond(issuer.invite("code"))
    assert the_entry(issuer).state == "taking"
    issuer.server.tickets = good
    assert respond(issuer.link).status == "stored"
    assert len({body for _, body in issuer.requests}) == 1


class Killed(BaseException):
    """The program ends here."""


class Danger:
    """Counts what a program does to disk and network, and kills it before or after one of these deeds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = self.fatal = 0
        self._wrap(monkeypatch, Ledger, "_write")
        self._wrap(monkeypatch, os, "replace")
        self._wrap(monkeypatch, candor_client.transport, "_exchange")

    def _wrap(self, monkeypatch: pytest.MonkeyPatch, place: Any, name: str) -> None:
        deed: Callable[..., Any] = getattr(place, name)

        def dangerous(*arguments: Any) -> Any:
            self._step()
            result = deed(*arguments)
            self._step()
            return result

        monkeypatch.setattr(place, name, dangerous)

    def _step(self) -> None:
        self.count += 1
        if self.count == self.fatal:
            raise Killed

    def arm(self, fatal: int) -> None:
        self.count, self.fatal = 0, fatal


def test_killed_at_any_point_nobody_loses_the_vote_and_nobody_gets_two(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Before and after every write, every exchange, every change of files; then the person opens the link again, or the bare address."""
    danger = Danger(monkeypatch)
    respond(issuer.invite("whole"), ledger=Ledger(tmp_path / "whole.json"))
    points = danger.count
    assert points == 2 * (3 + 4 + 4)  # definition, ticket, report; taking, ticket, made, stored, and each put in place
    for fatal in range(1, points + 1):
        for again in ("link", "address"):
            code = f"code-{fatal}-{again}"
            ledger, link = Ledger(tmp_path / f"{code}.json"), issuer.invite(code)
            before = dict(issuer.reports)
            danger.arm(fatal)
            with pytest.raises(Killed):
                respond(link, ledger=ledger)
            danger.arm(0)
            known = ledger.read().entries.get(issuer.digest)
            receipt = respond(issuer.link if again == "address" and known else link, SAID, ledger=ledger)
            assert receipt.status in ("stored", "already_stored")
            assert len(issuer.reports) == len(before) + 1, fatal
            assert ledger.read().entries[issuer.digest].state == "stored"
            assert ledger.read().total() == receipt.epsilon
            respond(link, ledger=ledger)
            assert len(issuer.reports) == len(before) + 1, fatal
    assert len(issuer.message_hashes) == len(issuer.reports) == 1 + 2 * points


def test_that_test_would_notice_a_client_that_forgets_what_it_asked_for(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without the note before the request, a client that is killed while the reply is on its way has lost the vote."""
    ledger = Ledger(tmp_path / "ledger.json")
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "_write", lambda *_: None)
        danger = Danger(patch)
        danger.arm(6)  # the definition is 1 and 2, the note 3 and 4, the exchange with the issuer 5 and 6
        with pytest.raises(Killed):
            respond(issuer.invite("code"), ledger=ledger)
    assert issuer.message_hashes
    with pytest.raises(ServerRefusal) as refusal:
        respond(issuer.invite("code"), ledger=ledger)
    assert refusal.value.code == "already_issued"


def test_two_programs_that_take_it_at_once_get_one_ticket(issuer: Issuer) -> None:
    """The second one asks while the first one waits for its reply."""
    link, others = issuer.invite("code"), list[Ticket]()
    good = issuer.sign

    def meanwhile(code: str, body: bytes) -> Reply | None:
        issuer.server.tickets = good
        others.append(take(link))
        return good(code, body)

    issuer.server.tickets = meanwhile
    ticket = take(link)
    assert others == [ticket]
    assert len({body for _, body in issuer.requests}) == 1


# other codes, other devices


@pytest.mark.parametrize("code", ["not_invited", "already_issued"])
def test_another_invitation_takes_the_place_of_one_that_was_refused(issuer: Issuer, code: str) -> None:
    """A mistyped code, or one that was used elsewhere, must not keep a person from using the right one."""
    issuer.server.tickets = lambda *_: problem(403 if code == "not_invited" else 409, code)
    with pytest.raises(ServerRefusal):
        respond(f"{issuer.link}#code=mistyped")
    issuer.server.tickets = issuer.sign
    issuer.message_hashes["mistyped"] = "by somebody else"
    if code == "already_issued":
        issuer.codes.add("mistyped")
    assert respond(issuer.invite("right")).status == "stored"
    assert [asked for asked, _ in issuer.requests] == ["mistyped", "right"]


def test_a_pending_invitation_comes_first(issuer: Issuer) -> None:
    """It may have been signed already: dropping it for another one would waste a vote."""
    one, two = issuer.invite("one"), issuer.invite("two")
    issuer.server.tickets = lambda code, body: (issuer.sign(code, body), (503, {}, b""))[1]
    with pytest.raises(Unreachable):
        take(one)
    with pytest.raises(Unreachable):
        take(two)
    issuer.server.tickets = issuer.sign
    take(two)
    assert set(issuer.message_hashes) == {"one"}


def test_a_ticket_travels_to_another_device_as_a_link(issuer: Issuer, tmp_path: Path) -> None:
    link = issuer.invite("code") + f"&sha256={issuer.digest}"
    here, there = Ledger(tmp_path / "here"), Ledger(tmp_path / "there")
    ticket = take(link, ledger=here)
    carried = Address.parse(link).ticket_link(ticket)
    assert "code" not in carried
    assert (Address.parse(carried).ticket, Address.parse(carried).pin) == (ticket, issuer.digest)
    assert respond(carried, ledger=there).status == "stored"
    assert len(issuer.requests) == 1
    with pytest.raises(ServerRefusal) as refusal:
        for _ in range(40):  # until the noise differs; equal bits are the same report, each time with chance below 0.3
            respond(link, ledger=here)
            here.forget()
            here = Ledger(tmp_path / "here")
            take(carried, ledger=here)
    assert refusal.value.code == "id_taken"
    ended = here.read().entries[issuer.digest]
    assert (ended.state, ended.id, ended.bits, ended.ticket) == ("stored", b"", b"", None)
    assert ended.epsilon > 0  # a made report is never refunded
    assert len(issuer.reports) == 1


@pytest.mark.parametrize(
    "fragment",
    ["ticket=", "ticket=a.b", "ticket=abc", f"ticket={'A' * 43}.{'A' * 511}", f"ticket={'A' * 43}.{'A' * 512}.x"],
)
def test_a_damaged_ticket_link_is_refused_before_anything_is_asked(issuer: Issuer, fragment: str) -> None:
    with pytest.raises(BadTicket, match="damaged"):
        respond(f"{issuer.link}#{fragment}")
    assert not issuer.server.requests


def test_a_ticket_for_another_survey_is_not_kept(issuer: Issuer, golden: Golden) -> None:
    with pytest.raises(BadTicket) as caught:
        respond(f"{issuer.link}#ticket={'A' * 43}.{'A' * 512}")
    assert issuer.server.requests, "it is well formed, so that only its survey tells"
    assert not Ledger().path.exists()
    golden(caught.value)


def test_without_a_ledger_it_goes_well_or_not_at_all(issuer: Issuer) -> None:
    assert respond(issuer.invite("code"), ledger=None).status == "stored"
    ticket = take(issuer.invite("other"), ledger=None)
    assert respond(Address.parse(issuer.link).ticket_link(ticket), ledger=None).status == "stored"
    assert not Ledger().path.exists()


# phases


@pytest.fixture
def phases(server: Server) -> Issuer:
    return Issuer(server, PHASES)


def at(moment: datetime) -> Clock:
    return SimulatedClock(moment).clock


def test_in_the_first_phase_the_ticket_is_taken_and_nobody_answers(phases: Issuer) -> None:
    before, after = at(BEGINS - timedelta(seconds=1)), at(BEGINS)
    with pytest.raises(TooEarly, match="from 2026-12-10 00:00 UTC on") as early:
        respond(phases.invite("code"), clock=before)
    assert early.value.moment == BEGINS
    assert (len(phases.requests), len(phases.server.bodies)) == (1, 0)
    assert the_entry(phases).state == "ticket"
    assert respond(phases.link, clock=after).status == "stored"
    assert len(phases.requests) == 1


def test_in_the_second_phase_no_ticket_is_taken(phases: Issuer) -> None:
    """Also none that is pending: who took it, and whose report follows at once, would be no secret."""
    link, after = phases.invite("code"), at(BEGINS)
    for _ in range(2):
        with pytest.raises(TooLate, match="until 2026-12-10 00:00 UTC") as late:
            respond(link, clock=after)
        assert late.value.moment == BEGINS
        assert not phases.requests
        with pytest.raises(TooLate):
            take(link, clock=after)
    phases.server.tickets = lambda *_: (503, {}, b"")
    with pytest.raises(Unreachable):
        take(link, clock=at(BEGINS - timedelta(days=1)))
    phases.server.tickets = phases.sign
    with pytest.raises(TooLate):
        take(link, clock=after)
    assert not phases.requests


def test_a_ticket_that_could_not_be_kept_is_not_taken_too_early(phases: Issuer) -> None:
    with pytest.raises(TooEarly):
        respond(phases.invite("code"), ledger=None, clock=at(BEGINS - timedelta(days=1)))
    assert not phases.requests


# a second party


@pytest.fixture
def office(server: Server) -> Iterator[tuple[Issuer, Issuer]]:
    """The collector, and somewhere else the one who signs."""
    other = Server()
    definition = add_tickets(KEYS[0], worked_example(), issuer=other.origin)
    collector, signer = Issuer(server, definition), Issuer(other, definition)
    yield collector, signer
    other.close()


def test_with_a_second_issuer_the_collector_never_sees_an_invitation(office: tuple[Issuer, Issuer]) -> None:
    collector, signer = office
    signer.invite("secret-code")
    assert respond(f"{collector.link}#code=secret-code").status == "stored"
    assert len(signer.requests) == 1 and not collector.requests
    assert "secret-code" not in f"{collector.server.requests}{collector.server.bodies}"
    assert [path for _, path, _ in signer.server.requests] == ["/api/surveys/exam/tickets"]
    assert not signer.reports


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_an_invitation_never_follows_a_redirect(office: tuple[Issuer, Issuer], status: int) -> None:
    collector, signer = office
    signer.server.tickets = lambda *_: (
        status,
        {"Location": f"{collector.server.origin}/api/surveys/exam/tickets"},
        b"",
    )
    with pytest.raises(BadAddress, match="redirects elsewhere"):
        respond(f"{collector.link}#code=secret-code")
    assert not collector.requests


@pytest.mark.parametrize(
    ("link", "issuer", "place"),
    [
        ("https://a.example/base/s/exam", "", "https://a.example/base/api/surveys/exam/tickets"),
        ("https://a.example/s/exam", "https://b.example:8443", "https://b.example:8443/api/surveys/exam/tickets"),
        ("http://localhost:5000/s/exam", "http://127.0.0.1:6000", "http://127.0.0.1:6000/api/surveys/exam/tickets"),
        ("http://localhost:5000/s/exam", "https://b.example", "https://b.example/api/surveys/exam/tickets"),
        ("https://a.example/s/exam", "http://localhost", None),
        ("https://a.example/s/exam", "http://b.example", None),
        ("http://localhost:5000/s/exam", "http://b.example", None),
    ],
)
def test_where_tickets_are_taken(link: str, issuer: str, place: str | None, node: Node) -> None:
    definition = add_tickets(KEYS[0], worked_example(), **({"issuer": issuer} if issuer else {}))
    if place:
        assert Address.parse(link).issuer(survey(definition)) == place
        assert node.ask("issuer", url=link, issuer=issuer) == place
    else:
        with pytest.raises(BadAddress, match="not encrypted"):
            Address.parse(link).issuer(survey(definition))
        with pytest.raises(Refusal) as refusal:
            node.ask("issuer", url=link, issuer=issuer)
        assert refusal.value.code == "bad_address"


def test_a_mirror_gets_neither_the_code_nor_the_ticket(issuer: Issuer) -> None:
    issuer.server.tickets = lambda *_: (503, {}, b"")
    with pytest.raises(Unreachable):
        take(issuer.invite("code"))
    with pytest.raises(OtherServer):
        take(issuer.invite("code").replace("127.0.0.1", "localhost"))
