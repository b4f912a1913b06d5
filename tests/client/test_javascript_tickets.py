"""Blind tickets in the browser's client: the RFC's vectors, Python's bytes, and a flow that loses nobody's vote."""

import json
import secrets
from collections.abc import Callable
from typing import Any

import pytest

import candor_client
from tests import blind_signature_reference
from tests.clock import make_fast_clock
from tests.definitions import encode, simple, worked_example
from tests.javascript import JavaScript, Node, Refusal
from tests.make_vectors import add_tickets
from tests.reference_issuer import Issuer, problem, to_text
from tests.replay import RFC9474, TICKETS
from tests.scripted_server import Server

SAID: dict[str, Any] = {"cheated": True, "help": None, "hours": 12}
FROM = "2026-12-10T00:00Z"
BEFORE, AFTER = "2026-12-09T23:59:59Z", "2026-12-10T00:00:00Z"


def code_of(javascript: JavaScript, verb: str, **request: Any) -> str | None:
    with pytest.raises(Refusal) as refusal:
        javascript.ask(verb, **request)
    return refusal.value.code


def octets(text: str) -> str:
    return text.removeprefix("0x")


@pytest.fixture
def name() -> str:
    """Of a ledger that no other test has used."""
    return secrets.token_hex(8)


@pytest.fixture
def issuer(server: Server) -> Issuer:
    return Issuer(server)


# the arithmetic


@pytest.mark.parametrize("vector", RFC9474, ids=lambda vector: vector["name"])
def test_the_vectors_of_the_rfc(node: Node, vector: dict[str, Any]) -> None:
    n = int(vector["n"], 16)
    r = f"{pow(int(vector['inv'], 16), -1, n):x}"
    given = {"n": octets(vector["n"]), "message": octets(vector["input_msg"])}
    assert node.ask("blind", **given, salt=octets(vector["salt"]), r=r) == octets(vector["blinded_msg"])
    length = int(vector["sLen"], 16)
    signature = node.ask("finalize", **given, signed=octets(vector["blind_sig"]), r=r, salt_length=length)
    assert signature == octets(vector["sig"])
    assert node.ask("signed", **given, signature=signature, salt_length=length) is True
    assert node.ask("signed", **given | {"message": "00"}, signature=signature, salt_length=length) is False


def check_tickets(javascript: JavaScript) -> None:
    for vector in TICKETS:
        request = {key: vector[key] for key in ("n", "digest", "tape")}
        made = javascript.ask("ticket", **request, signed=vector["blind_signature"])
        assert made.pop("used") == len(vector["tape"]) // 2
        assert made == {key: vector[key] for key in ("prefix", "salt", "r", "z", "signature", "id")}
        report = vector["report"]
        ticket = {"prefix": vector["prefix"], "signature": vector["signature"]}
        source = vector["source"].encode().hex()
        sent = javascript.ask("randomize", source=source, answers=report["answers"], tape=report["tape"], ticket=ticket)
        assert (sent["id"], sent["bits"], sent["used"]) == (vector["id"], report["bits"], len(report["tape"]) // 2)
        assert json.loads(sent["wire"]) == {
            "survey": vector["digest"],
            "id": to_text(bytes.fromhex(vector["id"])),
            "bits": to_text(bytes.fromhex(report["bits"])),
            "ticket": {key: to_text(bytes.fromhex(text)) for key, text in ticket.items()},
        }


def test_the_same_bytes_give_the_same_ticket_as_in_python(node: Node) -> None:
    check_tickets(node)


def test_in_a_browser_too(chromium: JavaScript) -> None:
    check_tickets(chromium)


def test_what_is_no_signature_is_refused(node: Node) -> None:
    vector = TICKETS[0]
    given = {"n": vector["n"], "message": vector["prefix"] + vector["digest"]}
    good = int(vector["blind_signature"], 16)
    n = int(vector["n"], 16)
    for bad in (f"{good ^ 1:0768x}", f"{good + n:0768x}"[-768:], f"{n:0768x}", "00" * 384, f"{good:0768x}"[2:], ""):
        assert code_of(node, "finalize", **given, signed=bad, r=vector["r"]) == "bad_ticket"
    signature = int(vector["signature"], 16)
    for bad in (f"{signature ^ 1:0768x}", "00" * 384, f"{n:0768x}", f"{signature:0768x}"[2:], ""):
        assert node.ask("signed", **given, signature=bad) is False
    for length in (0, 32, 47, 49):
        assert node.ask("signed", **given, signature=vector["signature"], salt_length=length) is False


def test_a_key_with_a_small_factor_is_refused_before_anything_is_sent(node: Node) -> None:
    """Among messages that share it with the key, the maker of the key would recognise them."""
    message, salt, r = secrets.token_bytes(64), secrets.token_bytes(48), f"{secrets.randbits(3000) | 1:x}"
    encoded = int.from_bytes(blind_signature_reference.emsa_pss_encode(message, salt, 3071), "big")
    while encoded % 3:
        message = secrets.token_bytes(64)
        encoded = int.from_bytes(blind_signature_reference.emsa_pss_encode(message, salt, 3071), "big")
    n = 3 * (1 << 3070 | secrets.randbits(3068) | 1)
    assert code_of(node, "blind", n=f"{n:x}", message=message.hex(), salt=salt.hex(), r=r) == "bad_ticket"


def test_a_ticket_takes_at_most_five_milliseconds(node: Node) -> None:
    """Drawn, blinded, unblinded and verified; the quickest of thirty, since other tests may run beside it."""
    vector = TICKETS[0]
    times = node.ask(
        "ticketTime",
        n=vector["n"], message=vector["prefix"] + vector["digest"], signed=vector["blind_signature"], r=vector["r"], count=30,
    )  # fmt: skip
    assert times[0] <= 5


# the flow


def test_an_invitation_buys_a_ticket_and_never_meets_the_report(node: Node, issuer: Issuer, name: str) -> None:
    link = issuer.invite("abc-DEF_123")
    receipt = node.ask("respond", url=link, answers=SAID, name=name)
    assert receipt["status"] == "stored"
    posts = [(path, headers) for method, path, headers in issuer.server.requests if method == "POST"]
    (taking, given), (sending, bare) = posts
    assert (taking, sending) == ("/api/surveys/exam/tickets", "/api/surveys/exam/reports")
    assert {key.lower(): value for key, value in given.items()}["candor-invitation"] == "abc-DEF_123"
    assert "abc-DEF" not in str(bare)
    assert "abc-DEF" not in str([path for _, path, _ in issuer.server.requests])
    assert len(issuer.reports) == 1
    stored = node.ask("stored", name=name)
    (prefix_and_signature,) = [json.loads(body)["ticket"] for body in issuer.server.bodies]
    assert not any(text in stored for text in (*prefix_and_signature.values(), "abc-DEF"))
    again = node.ask("respond", url=link, answers=SAID, name=name)
    assert (again["status"], again["bits"]) == ("already_stored", None)
    assert len(issuer.requests) == 1


def lost(reply: Callable[..., Any]) -> Callable[..., Any]:
    """The server does its part, and the reply gets lost."""

    def lose(*request: Any) -> Any:
        reply(*request)
        return 502, {}, b""

    return lose


def test_a_lost_reply_costs_nobody_the_ticket(node: Node, issuer: Issuer, name: str) -> None:
    link = issuer.invite("code")
    issuer.server.tickets = lost(issuer.sign)
    for _ in range(2):
        assert code_of(node, "take", url=link, name=name) == "unreachable"
    (entry,) = node.ask("entries", name=name).values()
    assert set(entry) >= {"code", "prefix", "salt", "r"}
    issuer.server.tickets = issuer.sign
    ticket = node.ask("take", url=issuer.link, name=name)  # also without the code in the link
    assert len({body for _, body in issuer.requests}) == 1
    assert {code for code, _ in issuer.requests} == {"code"}
    (entry,) = node.ask("entries", name=name).values()
    assert not {"code", "salt", "r"} & set(entry)
    assert node.ask("take", url=link, name=name) == ticket
    assert node.ask("respond", url=issuer.link, answers=SAID, name=name)["status"] == "stored"


def test_a_lost_acknowledgement_costs_nobody_the_vote(node: Node, issuer: Issuer, name: str) -> None:
    link = issuer.invite("code")
    issuer.server.post = lost(issuer.collect)
    assert code_of(node, "respond", url=link, answers=SAID, name=name) == "unreachable"
    issuer.server.post = issuer.collect
    receipt = node.ask("respond", url=issuer.link, answers=SAID | {"cheated": False}, name=name)
    assert receipt["repeated"]
    assert len(issuer.reports) == len(set(issuer.server.bodies)) == 1


def test_a_bad_signature_is_asked_for_again_with_the_same_bytes(node: Node, issuer: Issuer, name: str) -> None:
    link = issuer.invite("code")
    good = issuer.sign

    def wrong(code: str, body: bytes) -> Any:
        good(code, body)
        return 200, {}, json.dumps({"signature": to_text(bytes(384))}).encode()

    issuer.server.tickets = wrong
    assert code_of(node, "take", url=link, name=name) == "bad_ticket"
    for nothing in (b"{}", b'{"signature":7}', b'{"signature":"AAAA"}', b"<html>"):
        issuer.server.tickets = lambda code, body, said=nothing: (200, {}, said)  # type: ignore[misc]
        assert code_of(node, "take", url=link, name=name, options={"attempts": 1}) == "unreachable"
    issuer.server.tickets = good
    assert node.ask("take", url=link, name=name)
    assert len({body for _, body in issuer.requests}) == 1


@pytest.mark.parametrize("useless", ["not_invited", "already_issued"])
def test_a_pending_invitation_comes_first_and_yields_when_it_is_useless(
    node: Node, issuer: Issuer, name: str, useless: str
) -> None:
    first, second = issuer.invite("first"), issuer.invite("second")
    issuer.server.tickets = lambda code, body: (503, {}, b"")
    assert code_of(node, "take", url=first, name=name) == "unreachable"
    status = {"not_invited": 403, "already_issued": 409}[useless]
    issuer.server.tickets = lambda code, body: problem(status, useless) if code == "first" else issuer.sign(code, body)
    assert code_of(node, "take", url=first, name=name) == useless  # and keeps it: there is no other
    assert node.ask("take", url=second, name=name)
    assert list(issuer.message_hashes) == ["second"]


def test_a_pending_invitation_that_is_good_is_used_before_another(node: Node, issuer: Issuer, name: str) -> None:
    first, second = issuer.invite("first"), issuer.invite("second")
    issuer.server.tickets = lost(issuer.sign)
    assert code_of(node, "take", url=first, name=name) == "unreachable"
    issuer.server.tickets = issuer.sign
    node.ask("take", url=second, name=name)
    assert list(issuer.message_hashes) == ["first"]


def test_without_code_and_ticket_nothing_is_sent(node: Node, issuer: Issuer, name: str) -> None:
    assert code_of(node, "take", url=issuer.link, name=name) == "ticket_needed"
    assert code_of(node, "respond", url=issuer.link, answers=SAID, name=name) == "ticket_needed"
    assert code_of(node, "respond", url=f"{issuer.link}#code=%0a", answers=SAID, name=name) == "bad_address"
    assert not issuer.requests
    assert not issuer.server.bodies


def test_limits_are_checked_before_a_ticket_is_taken(node: Node, issuer: Issuer, name: str) -> None:
    link = issuer.invite("code")
    assert code_of(node, "take", url=link, name=name, options={"limit": 3}) == "above_limit"
    assert code_of(node, "take", url=link, name=name, options={"serverLimit": 3}) == "above_server_limit"
    assert not issuer.requests


def test_a_survey_without_tickets_sells_none(node: Node, server: Server, name: str) -> None:
    server.define(encode(worked_example()))
    with pytest.raises(Refusal, match="RangeError"):
        node.ask("take", url=f"{server.origin}/s/exam#code=abc", name=name)


# another device


def test_a_ticket_goes_to_another_device_by_its_link(node: Node, issuer: Issuer, name: str) -> None:
    taken = node.ask("take", url=issuer.invite("code"), name=name)
    assert node.ask("respond", url=taken["link"], answers=SAID, name=f"{name} elsewhere")["status"] == "stored"
    assert len(issuer.requests) == 1
    other = issuer.invite("other")
    assert node.ask("take", url=taken["link"], name=f"{name} elsewhere again")["prefix"] == taken["prefix"]
    for broken in (
        taken["link"][:-1],
        f"{taken['link']}A",
        "".join(taken["link"].rsplit(".", 1)),
        f"{issuer.link}#ticket=a.b",
    ):
        assert code_of(node, "take", url=broken, name=f"{name} broken") == "bad_ticket"
    stranger = Issuer(
        issuer.server,
        add_tickets(blind_signature_reference.KEYS[1], worked_example()),
        key=blind_signature_reference.KEYS[1],
    )
    assert stranger.link == issuer.link
    assert code_of(node, "take", url=taken["link"], name=f"{name} stranger") == "bad_ticket"
    assert other


def test_a_ticket_that_another_report_came_with_ends_the_report_and_keeps_the_charge(
    node: Node, issuer: Issuer, name: str
) -> None:
    link = node.ask("take", url=issuer.invite("code"), name=name)["link"]
    assert candor_client.respond(link, SAID, ledger=None, clock=make_fast_clock()).status == "stored"
    for attempt in range(40):  # until the noise differs; equal bits are the same report
        profile = f"{name} {attempt}"
        try:
            node.ask("respond", url=link, answers=SAID, name=profile)
        except Refusal as refusal:
            assert refusal.code == "id_taken"
            break
    (entry,) = node.ask("entries", name=profile).values()
    assert set(entry) == {"slug", "study", "server", "epsilon", "day", "stored"}
    assert float(entry["epsilon"]) > 0
    assert len(issuer.reports) == 1


def test_a_ticket_taken_by_one_client_is_spent_by_the_other(node: Node, issuer: Issuer, name: str) -> None:
    taken = node.ask("take", url=issuer.invite("js"), name=name)
    python = candor_client.respond(taken["link"], SAID, ledger=None, clock=make_fast_clock())
    assert python.status == "stored"
    ticket = candor_client.take_ticket(issuer.invite("python"))
    link = f"{issuer.link}#ticket={to_text(ticket.prefix)}.{to_text(ticket.signature)}"
    assert node.ask("respond", url=link, answers=SAID, name=f"{name} other")["status"] == "stored"
    assert len(issuer.reports) == 2


def test_a_link_says_each_thing_once(node: Node) -> None:
    link = "https://example.org/base/s/exam"
    read = node.ask("address", url=f"{link}#sha256={'a' * 64}&code=x-1")
    assert read["server"] == "https://example.org/base"
    assert (read["pin"], read["invitation"]) == ("a" * 64, "x-1")
    for twice in ("code=a&code=b", "sha256=a&sha256=a", "ticket=", "tickets=a", "code=%00", f"code={'a' * 201}"):
        assert code_of(node, "address", url=f"{link}#{twice}") == "bad_address"


# phases, and another issuer


def test_in_phases_the_ticket_is_taken_first_and_the_answer_sent_later(node: Node, server: Server, name: str) -> None:
    issuer = Issuer(server, add_tickets(blind_signature_reference.KEYS[0], worked_example(), **{"from": FROM}))
    link = issuer.invite("code")
    with pytest.raises(Refusal, match=FROM) as refusal:
        node.ask("respond", url=link, answers=SAID, name=name, options={"now": BEFORE})
    assert refusal.value.code == "too_early"
    assert len(issuer.message_hashes) == 1
    assert not server.bodies
    receipt = node.ask("respond", url=issuer.link, answers=SAID, name=name, options={"now": AFTER})
    assert receipt["status"] == "stored"
    late = issuer.invite("late")
    assert code_of(node, "take", url=late, name=f"{name} late", options={"now": AFTER}) == "too_late"
    assert list(issuer.message_hashes) == ["code"]


def test_a_ticket_that_cannot_be_kept_is_not_taken_early(node: Node, server: Server) -> None:
    issuer = Issuer(server, add_tickets(blind_signature_reference.KEYS[0], worked_example(), **{"from": FROM}))
    assert code_of(node, "respond", url=issuer.invite("code"), answers=SAID, options={"now": BEFORE}) == "too_early"
    assert not issuer.message_hashes


def test_another_issuer_sees_the_invitation_and_the_collector_never(node: Node, server: Server, name: str) -> None:
    second = Server()
    try:
        definition = add_tickets(blind_signature_reference.KEYS[0], worked_example(), issuer=second.origin)
        council, collector = Issuer(second, definition), Issuer(server, definition)
        council.invite("code")
        receipt = node.ask("respond", url=f"{collector.link}#code=code", answers=SAID, name=name)
        assert receipt["status"] == "stored"
        assert len(council.requests) == 1
        assert not collector.requests
        assert not second.bodies
        assert "code" not in str([headers for _, _, headers in server.requests])
    finally:
        second.close()


def test_no_redirect_leads_to_another_issuer(node: Node, issuer: Issuer, name: str) -> None:
    issuer.server.tickets = lambda code, body: (307, {"Location": "/api/surveys/other/tickets"}, b"")
    assert code_of(node, "take", url=issuer.invite("code"), name=name, options={"attempts": 1}) == "unreachable"
    assert [path for method, path, _ in issuer.server.requests if method == "POST"] == ["/api/surveys/exam/tickets"]


def test_a_report_needs_its_ticket_and_no_other_survey_takes_one(node: Node) -> None:
    source = encode(add_tickets(blind_signature_reference.KEYS[0], simple())).hex()
    request = {"answers": {"cheated": True}, "tape": "00" * 24}
    assert code_of(node, "randomize", source=source, **request) == "ticket_needed"
    ticket = {"prefix": "00" * 32, "signature": "00" * 384}
    with pytest.raises(Refusal, match="RangeError"):
        node.ask("randomize", source=encode(simple()).hex(), **request, ticket=ticket)
