"""Signing: right, whatever does the arithmetic; blinded each time; and never a wrong result, which would tell the key."""

import io
import secrets
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateNumbers, RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA384

from candor_client.ticket import EXPONENT
from survey_app.authoring.invitation_terms import format_modulus
from survey_app.invitations import signing_process
from survey_app.invitations.keys import is_signed, make_key
from survey_app.store import Key
from tests.ticket_surveys import key

Power = Callable[[int, int, int], int]


def request_of(number: int, message: int) -> bytes:
    return number.to_bytes(8, "big") + key().to_bytes() + message.to_bytes(384, "big")


def test_a_key_has_3072_bits_and_the_exponent_that_every_client_uses() -> None:
    made = make_key()
    assert made.modulus.bit_length() == 3072
    assert len(format_modulus(made.modulus)) == 512
    assert Key.from_bytes(made.to_bytes()) == made
    assert EXPONENT == signing_process.EXPONENT == 65537
    assert pow(EXPONENT, -1, (made.p - 1) * (made.q - 1)) > 0


def test_what_is_signed_gives_the_message_back() -> None:
    for message in (2, key().modulus - 2, secrets.randbelow(key().modulus)):
        assert pow(signing_process.sign(*key(), message), EXPONENT, key().modulus) == message
    assert signing_process.sign(*key(), 4711) == signing_process.sign(*key(), 4711), (
        "the same message has one signature"
    )


def test_plain_integers_sign_as_gmpy2_does() -> None:
    message = secrets.randbelow(key().modulus)
    assert signing_process.sign(*key(), message, power=pow) == signing_process.sign(*key(), message)


def test_what_is_raised_to_the_private_exponent_is_never_the_message_itself() -> None:
    """Otherwise an attacker who chooses messages could learn the key from the time they take."""
    raised: list[int] = []

    def watched(base: int, exponent: int, modulus: int) -> int:
        raised.append(int(base))
        return pow(base, exponent, modulus)

    for _ in range(3):
        signing_process.sign(*key(), 4711, power=watched)
    assert len(set(raised)) == 6 and 4711 not in raised


@pytest.mark.parametrize("broken", ["p", "q"])
def test_a_fault_in_one_half_never_leaves(broken: str) -> None:
    """From a signature that is right by one prime and wrong by the other, one division finds the key."""
    prime: int = getattr(key(), broken)

    def faulty(base: int, exponent: int, modulus: int) -> int:
        return pow(base, exponent, modulus) ^ (modulus == prime)

    with pytest.raises(signing_process.SigningFault):
        signing_process.sign(*key(), 4711, power=faulty)


def test_requests_are_answered_one_by_one_and_what_cannot_be_signed_with_zeros() -> None:
    useless = (9).to_bytes(8, "big") + bytes(384) + (5).to_bytes(384, "big")
    replies = io.BytesIO()
    signing_process.serve(io.BytesIO(request_of(7, 4711) + useless + b"half a request"), replies)
    signed = signing_process.sign(*key(), 4711).to_bytes(384, "big")
    assert replies.getvalue() == (7).to_bytes(8, "big") + signed + (9).to_bytes(8, "big") + bytes(384)


def test_only_signatures_of_this_message_by_this_key_are_good() -> None:
    p, q = key()
    d = pow(EXPONENT, -1, (p - 1) * (q - 1))
    numbers = RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), RSAPublicNumbers(EXPONENT, p * q))
    good = numbers.private_key().sign(b"message", PSS(MGF1(SHA384()), 48), SHA384())
    short = numbers.private_key().sign(b"message", PSS(MGF1(SHA384()), 32), SHA384())
    assert is_signed(p * q, b"message", good)
    assert not is_signed(p * q, b"another", good)
    assert not is_signed(key(1).modulus, b"message", good)
    assert not is_signed(p * q, b"message", short), "the salt has 48 bytes"
    for wrong in (b"", good[:-1], good + b"\0", bytes(384), good[:-1] + bytes([good[-1] ^ 1])):
        assert not is_signed(p * q, b"message", wrong)
    same = int.from_bytes(good, "big") + p * q
    if same < 1 << 3072:
        assert not is_signed(p * q, b"message", same.to_bytes(384, "big")), "a signature is less than the modulus"
