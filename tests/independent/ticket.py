"""Tickets: how they are blinded, sent, unblinded and verified, after RFC 9474 and RFC 8017 as the page names them."""

import hashlib
import math
from collections.abc import Callable

from tests.independent import NUMBERS, TICKET, need


def ticket_id(prefix: bytes) -> bytes:
    return hashlib.sha256(TICKET + prefix).digest()[: NUMBERS["bytes of an id"]]


def draw_blinding(n: int, draw: Callable[[int], bytes]) -> tuple[bytes, bytes, int]:
    """Return prefix, salt and r."""
    prefix, salt, r = draw(NUMBERS["bytes of a prefix"]), draw(NUMBERS["bytes of a salt"]), 0
    while not (0 < r < n and math.gcd(r, n) == 1):
        r = int.from_bytes(draw(octets(n)), "big")
    return prefix, salt, r


def octets(n: int) -> int:
    return -(-n.bit_length() // 8)


def encode_message(message: bytes, salt: bytes, bits: int) -> int:
    """Encode a message by EMSA-PSS of RFC 8017 §9.1.1 with SHA-384."""
    seal = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    length = -(-bits // 8) - len(seal) - 1
    mask = b"".join(hashlib.sha384(seal + i.to_bytes(4, "big")).digest() for i in range(length // len(seal) + 1))
    block = int.from_bytes(b"\1" + salt, "big") ^ int.from_bytes(mask[:length], "big")
    block &= (1 << bits - 8 * (len(seal) + 1)) - 1
    return block << 8 * (len(seal) + 1) | int.from_bytes(seal + b"\xbc", "big")


def blind_message(n: int, message: bytes, salt: bytes, r: int) -> bytes:
    m = encode_message(message, salt, n.bit_length() - 1)
    need(math.gcd(m, n) == 1)
    return (m * pow(r, NUMBERS["public exponent"], n) % n).to_bytes(octets(n), "big")


def unblind_signature(n: int, message: bytes, salt: bytes, r: int, signed: bytes) -> bytes:
    """Return the signature, verified: only the device knows the salt, so encoding again is enough."""
    need(len(signed) == octets(n) and int.from_bytes(signed, "big") < n)
    signature = int.from_bytes(signed, "big") * pow(r, -1, n) % n
    need(
        pow(signature, NUMBERS["public exponent"], n) == encode_message(message, salt, n.bit_length() - 1),
        "no signature",
    )
    return signature.to_bytes(octets(n), "big")
