"""Tickets for surveys by invitation: blind signatures, so that the issuer signs a ticket without seeing it.

RSABSSA-SHA384-PSS-Randomized of RFC 9474: the device encodes prefix ‖ digest with a salt (EMSA-PSS, RFC 8017 §9.1),
multiplies it by r^e, sends it to be signed, and divides the signature by r. The issuer's records fit every ticket
equally well, because r is uniform among the numbers coprime to n. A message that shares a factor with n is refused
before it is sent, so this holds for dishonest keys too. A signature is verified before it is stored.
"""

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from math import gcd
from typing import Any

from candor_client.canonical import check_keys
from candor_client.errors import BadTicket, DefinitionError
from candor_client.sampling import RandomBytes, draw_bytes

ORIGIN = re.compile(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[1-9][0-9]{0,4})?")
MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}Z")
MODULUS_BITS = 3072
MODULUS_BYTES = MODULUS_BITS // 8
EXPONENT = 65537
PREFIX_BYTES = 32
SALT_BYTES = 48
ID_BYTES = 16
HASH = "sha384"
HASH_BYTES = 48


@dataclass(frozen=True)
class Tickets:
    """The terms of a survey by invitation: the key that signs tickets, the issuer, and when answering begins."""

    key: int
    issuer: str = ""
    opens: datetime | None = None


def parse_tickets(value: Any, path: str) -> Tickets:
    """Return the `tickets` part of a definition; raise DefinitionError if it is malformed."""
    check_keys(value, path, ("key",), ("issuer", "from"))
    issuer = value.get("issuer", "")
    if "issuer" in value and (not isinstance(issuer, str) or not ORIGIN.fullmatch(issuer)):
        raise DefinitionError("bad_value", f"{path}.issuer", "must be an origin such as https://example.org")
    opens = _parse_moment(value["from"], f"{path}.from") if "from" in value else None
    return Tickets(_parse_modulus(value["key"], f"{path}.key"), issuer, opens)


def _parse_modulus(value: Any, path: str) -> int:
    if isinstance(value, str) and re.fullmatch("[A-Za-z0-9_-]{512}", value):
        key = int.from_bytes(base64.urlsafe_b64decode(value), "big")
        if key.bit_length() == MODULUS_BITS and key % 2:
            return key
    raise DefinitionError("bad_value", path, f"must be an odd number of exactly {MODULUS_BITS} bits, as base64url")


def _parse_moment(value: Any, path: str) -> datetime:
    try:
        if isinstance(value, str) and MOMENT.fullmatch(value):
            return datetime.strptime(value, "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC)
    except ValueError:
        pass
    raise DefinitionError("bad_value", path, "must be a moment such as 2026-12-10T00:00Z")


@dataclass(frozen=True)
class Ticket:
    """A ticket that the issuer signed without seeing it: valid for one report to one definition."""

    prefix: bytes
    signature: bytes

    def check(self, key: int, digest: str) -> None:
        """Raise BadTicket unless the ticket was signed with this key, for this definition."""
        if len(self.prefix) != PREFIX_BYTES or not verify(key, message(self.prefix, digest), self.signature):
            raise BadTicket("this ticket is not valid for this survey; ask for the complete link, or take a new ticket")


@dataclass(frozen=True)
class TicketRequest:
    """The secrets of a ticket request, known to this device only; repeating them gives the same ticket."""

    prefix: bytes
    salt: bytes
    r: int

    @classmethod
    def draw(cls, key: int, random_bytes: RandomBytes) -> "TicketRequest":
        """Draw 32 bytes of prefix, 48 of salt and 384 of r; r is drawn again until it is invertible modulo n."""
        prefix, salt = draw_bytes(PREFIX_BYTES, random_bytes), draw_bytes(SALT_BYTES, random_bytes)
        while True:
            r = int.from_bytes(draw_bytes(MODULUS_BYTES, random_bytes), "big")
            if 0 < r < key and gcd(r, key) == 1:
                return cls(prefix, salt, r)

    def blind_message(self, key: int, digest: str) -> bytes:
        """Return the blinded message, which is sent to be signed."""
        return blind_message(key, message(self.prefix, digest), self.salt, self.r)

    def unblind(self, key: int, digest: str, blind_signature: bytes) -> Ticket:
        """Return the ticket from the issuer's blind signature; raise BadTicket if the signature is not valid."""
        return Ticket(self.prefix, finalize(key, message(self.prefix, digest), blind_signature, self.r))


def message(prefix: bytes, digest: str) -> bytes:
    """Return the message that a ticket's signature covers: its prefix and the definition's digest."""
    return prefix + bytes.fromhex(digest)


def ticket_id(prefix: bytes) -> bytes:
    """Return the id of the one report that a ticket is valid for."""
    return hashlib.sha256(b"candor ticket\0" + prefix).digest()[:ID_BYTES]


def blind_message(key: int, message: bytes, salt: bytes, r: int) -> bytes:
    """Return the encoded message times r^e, which is uniform for every message (RFC 9474 §4.2).

    Raise BadTicket if the encoded message shares a factor with the key.
    """
    encoded = _encode(message, salt, key.bit_length() - 1)
    if gcd(encoded, key) != 1:
        raise BadTicket("the key of this survey has a small factor, which would identify you; do not answer it")
    return (encoded * pow(r, EXPONENT, key) % key).to_bytes(_length(key), "big")


def finalize(key: int, message: bytes, blind_signature: bytes, r: int, salt_length: int = SALT_BYTES) -> bytes:
    """Return the verified signature of the message; raise BadTicket if it is not valid (RFC 9474 §4.4)."""
    s = int.from_bytes(blind_signature, "big")
    if len(blind_signature) == _length(key) and s < key:
        signature = (s * pow(r, -1, key) % key).to_bytes(_length(key), "big")
        if verify(key, message, signature, salt_length):
            return signature
    raise BadTicket("the issuer sent no valid signature for this survey; nothing is lost, try again later")


def verify(key: int, message: bytes, signature: bytes, salt_length: int = SALT_BYTES) -> bool:
    """Return whether a signature of the message is valid (RSASSA-PSS-VERIFY, RFC 8017 §8.1.2)."""
    s = int.from_bytes(signature, "big")
    bits = key.bit_length() - 1
    if len(signature) != _length(key) or s >= key:
        return False
    encoded = pow(s, EXPONENT, key)
    if encoded.bit_length() > bits:
        return False
    opened = encoded.to_bytes((bits + 7) // 8, "big")
    masked, seal = opened[: -HASH_BYTES - 1], opened[-HASH_BYTES - 1 : -1]
    block = _xor(masked, _mask(seal, len(masked)), bits)
    return hmac.compare_digest(
        _encode(message, block[len(block) - salt_length :], bits).to_bytes(len(opened), "big"), opened
    )


def _encode(message: bytes, salt: bytes, bits: int) -> int:
    """Return the EMSA-PSS encoding (SHA-384, MGF1): masked 0…01 ‖ salt, then the seal H(0^8 ‖ H(message) ‖ salt)."""
    length = (bits + 7) // 8 - HASH_BYTES - 1
    if length < len(salt) + 1:
        raise ValueError("the key is too short")
    seal = hashlib.new(HASH, bytes(8) + hashlib.new(HASH, message).digest() + salt).digest()
    block = bytes(length - len(salt) - 1) + b"\1" + salt
    return int.from_bytes(_xor(block, _mask(seal, length), bits) + seal + b"\xbc", "big")


def _mask(seed: bytes, length: int) -> bytes:
    """Return the MGF1 mask of a seed (RFC 8017 §B.2.1)."""
    blocks = (hashlib.new(HASH, seed + i.to_bytes(4, "big")).digest() for i in range(-(-length // HASH_BYTES)))
    return b"".join(blocks)[:length]


def _xor(block: bytes, mask: bytes, bits: int) -> bytes:
    """Mask or unmask a block, and clear the leading bits that do not fit into the encoded message."""
    value = int.from_bytes(block, "big") ^ int.from_bytes(mask, "big")
    return (value & ((1 << (bits - 8 * (HASH_BYTES + 1))) - 1)).to_bytes(len(block), "big")


def _length(key: int) -> int:
    return (key.bit_length() + 7) // 8
