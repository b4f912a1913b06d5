"""Blind signatures: the RFC's own vectors, the third reading's, and what is refused."""

import itertools
import math
import secrets
from typing import Any

import pytest

from candor_client import Survey, Ticket, randomize
from candor_client.errors import BadTicket, TicketNeeded
from candor_client.ticket import TicketRequest, blind_message, finalize, ticket_id, verify
from tests import blind_signature_reference as reading
from tests import reference
from tests.definitions import simple, survey
from tests.make_vectors import add_tickets
from tests.replay import RFC9474, TICKETS

KEY = reading.KEYS[0]
DIGEST = "ab" * 32


def octets(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))


@pytest.mark.parametrize("vector", RFC9474, ids=lambda vector: vector["name"])
def test_the_vectors_of_the_rfc(vector: dict[str, Any]) -> None:
    n, message, salt = int(vector["n"], 16), octets(vector["input_msg"]), octets(vector["salt"])
    r = pow(int(vector["inv"], 16), -1, n)
    assert blind_message(n, message, salt, r) == octets(vector["blinded_msg"])
    signature = finalize(n, message, octets(vector["blind_sig"]), r, len(salt))
    assert signature == octets(vector["sig"])
    assert verify(n, message, signature, len(salt))
    assert not verify(n, message, signature, 47 - len(salt))
    assert not verify(n, message + b"x", signature, len(salt))
    if "encoded_msg" in vector:
        assert blind_message(n, message, salt, 1) == octets(vector["encoded_msg"])


@pytest.mark.parametrize("vector", RFC9474, ids=lambda vector: vector["name"])
def test_the_third_reading_agrees_with_the_rfc(vector: dict[str, Any]) -> None:
    n, message, salt = int(vector["n"], 16), octets(vector["input_msg"]), octets(vector["salt"])
    key = reading.Key(int(vector["p"], 16), int(vector["q"], 16))
    assert key.n == n
    assert key.sign(octets(vector["blinded_msg"])) == octets(vector["blind_sig"])
    encoded = pow(int(vector["sig"], 16), reading.E, n).to_bytes(reading.octets(n), "big")
    assert reading.emsa_pss_encode(message, salt, n.bit_length() - 1) == encoded
    assert reading.emsa_pss_verify(message, encoded, n.bit_length() - 1, len(salt))
    assert not reading.emsa_pss_verify(message + b"x", encoded, n.bit_length() - 1, len(salt))


@pytest.mark.parametrize("vector", TICKETS, ids=lambda vector: vector["id"][:8])
def test_python_takes_the_tickets_of_the_third_reading(vector: dict[str, Any]) -> None:
    parsed = Survey.from_json(vector["source"].encode())
    assert (parsed.digest, parsed.tickets and parsed.tickets.key) == (vector["digest"], int(vector["n"], 16))
    draw = reference.ByteDraw(bytes.fromhex(vector["tape"]))
    drawn = TicketRequest.draw(int(vector["n"], 16), draw.take)
    assert draw.used == len(draw.source)
    assert drawn == TicketRequest(octets(vector["prefix"]), octets(vector["salt"]), int(vector["r"], 16))
    assert drawn.blind_message(int(vector["n"], 16), parsed.digest).hex() == vector["z"]
    ticket = drawn.unblind(int(vector["n"], 16), parsed.digest, octets(vector["blind_signature"]))
    assert (ticket.signature.hex(), ticket_id(ticket.prefix).hex()) == (vector["signature"], vector["id"])
    said = vector["report"]
    draw = reference.ByteDraw(bytes.fromhex(said["tape"]))
    report = randomize(parsed, said["answers"], ticket=ticket, random_bytes=draw.take)
    assert (report.bits.hex(), report.id.hex()) == (said["bits"], vector["id"])
    assert draw.used == len(draw.source)  # nothing is drawn for the id


def taken(digest: str = DIGEST, key: reading.Key = KEY) -> Ticket:
    drawn = TicketRequest.draw(key.n, secrets.token_bytes)
    return drawn.unblind(key.n, digest, key.sign(drawn.blind_message(key.n, digest)))


def test_a_ticket_is_good_for_its_definition_and_its_key_alone() -> None:
    ticket = taken()
    ticket.check(KEY.n, DIGEST)
    assert reading.accepts(KEY.n, DIGEST, ticket.prefix, ticket.signature)
    other = bytes([ticket.prefix[0] ^ 1]) + ticket.prefix[1:]
    wrong = ticket.signature[:-1] + bytes([ticket.signature[-1] ^ 1])
    for bad, key, digest in (
        (ticket, KEY.n, "ac" * 32),
        (ticket, reading.KEYS[1].n, DIGEST),
        (Ticket(other, ticket.signature), KEY.n, DIGEST),
        (Ticket(ticket.prefix[:-1], ticket.signature), KEY.n, DIGEST),
        (Ticket(ticket.prefix, wrong), KEY.n, DIGEST),
        (Ticket(ticket.prefix, b""), KEY.n, DIGEST),
        (Ticket(ticket.prefix, b"\0" + ticket.signature), KEY.n, DIGEST),
        (Ticket(ticket.prefix, bytes(384)), KEY.n, DIGEST),
        (Ticket(ticket.prefix, (KEY.n - 1).to_bytes(384, "big")), KEY.n, DIGEST),
        (Ticket(ticket.prefix, (int.from_bytes(ticket.signature, "big") + KEY.n).to_bytes(385, "big")), KEY.n, DIGEST),
    ):
        with pytest.raises(BadTicket):
            bad.check(key, digest)


def test_a_signature_above_the_modulus_is_no_second_spelling() -> None:
    """s + n would verify too, if it fitted; for some tickets it does, and a ticket must have one spelling only."""
    while True:
        ticket = taken()
        beyond = int.from_bytes(ticket.signature, "big") + KEY.n
        if beyond < 2**3072:
            break
    assert pow(beyond, reading.E, KEY.n) == pow(beyond - KEY.n, reading.E, KEY.n)
    assert not verify(KEY.n, ticket.prefix + bytes.fromhex(DIGEST), beyond.to_bytes(384, "big"))


@pytest.mark.parametrize("bad", [b"", bytes(383), bytes(384), bytes(385), b"\xff" * 384, KEY.n.to_bytes(384, "big")])
def test_what_is_no_blind_signature_becomes_no_ticket(bad: bytes) -> None:
    drawn = TicketRequest.draw(KEY.n, secrets.token_bytes)
    with pytest.raises(BadTicket):
        drawn.unblind(KEY.n, DIGEST, bad)
    with pytest.raises(BadTicket):
        drawn.unblind(KEY.n, DIGEST, reading.KEYS[1].sign(drawn.blind_message(KEY.n, DIGEST)))


def test_a_key_with_a_small_factor_marks_nobody() -> None:
    """What shares a factor with n would shine through the blinding: a third of all people, if 3 divides n."""
    rest = 2**3071 // (3 * KEY.p) | 1
    key = 3 * KEY.p * next(n for n in itertools.count(rest, 2) if math.gcd(n, math.prod(range(3, 1000, 2))) == 1)
    assert key.bit_length() == 3072
    refused = 0
    for _ in range(100):
        drawn = TicketRequest.draw(key, secrets.token_bytes)
        try:
            assert int.from_bytes(drawn.blind_message(key, DIGEST), "big") % 3
        except BadTicket:
            refused += 1
    assert 0 < refused < 100  # each with chance 1/3; all or none: (2/3)^100 < 1e-17


def test_a_blinded_message_says_nothing_about_the_ticket() -> None:
    """For any ticket and any z that was signed, there is an r that leads from one to the other: every pair fits."""
    one, two = (TicketRequest.draw(KEY.n, secrets.token_bytes) for _ in range(2))
    z = int.from_bytes(one.blind_message(KEY.n, DIGEST), "big")
    encoded = int.from_bytes(blind_message(KEY.n, two.prefix + bytes.fromhex(DIGEST), two.salt, 1), "big")
    r = pow(z * pow(encoded, -1, KEY.n), KEY.d, KEY.n)
    assert TicketRequest(two.prefix, two.salt, r).blind_message(KEY.n, DIGEST) == z.to_bytes(384, "big")


def test_short_bytes_are_an_error() -> None:
    for short in (32, 48, 384):
        with pytest.raises(ValueError, match="returned 1 bytes"):
            TicketRequest.draw(KEY.n, lambda count, short=short: b"x" if count == short else secrets.token_bytes(count))  # type: ignore[misc]


def test_a_report_to_a_survey_by_invitation_has_a_ticket_that_fits() -> None:
    parsed = survey(add_tickets(KEY, simple()))
    with pytest.raises(TicketNeeded):
        randomize(parsed, {"cheated": True})
    with pytest.raises(BadTicket):
        randomize(parsed, {"cheated": True}, ticket=taken())
    with pytest.raises(ValueError, match="takes no tickets"):
        randomize(survey(simple()), {"cheated": True}, ticket=taken())
    ticket = taken(parsed.digest)
    report = randomize(parsed, {"cheated": True}, ticket=ticket)
    assert report.id == reading.identity(ticket.prefix)
    assert report.ticket == ticket
