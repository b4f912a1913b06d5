"""A slow, literal implementation of tickets: RFC 9474 and RFC 8017, octet by octet, with a private key to sign with.

It shares no code with `client/`, and makes the ticket vectors that every client must replay.
"""

import hashlib
import math
from typing import Any, NamedTuple

E = 65537


class Key(NamedTuple):
    """A private key for tests only: its primes are printed in this repository."""

    p: int
    q: int

    @property
    def n(self) -> int:
        return self.p * self.q

    @property
    def d(self) -> int:
        return pow(E, -1, math.lcm(self.p - 1, self.q - 1))

    def sign(self, blinded: bytes) -> bytes:
        """Return z^d, computed modulo each prime and combined."""
        z, d = int.from_bytes(blinded, "big"), self.d
        by_p, by_q = (pow(z, d % (prime - 1), prime) for prime in self)
        signed = by_q + (by_p - by_q) * pow(self.q, -1, self.p) % self.p * self.q
        return signed.to_bytes(octets(self.n), "big")


def tape(label: str, count: int) -> bytes:
    """Return a byte string: SHA-256 of a label and a counter, block after block."""
    blocks = (hashlib.sha256(f"{label} {i}".encode()).digest() for i in range(count // 32 + 1))
    return b"".join(blocks)[:count]


def made_up_prime(label: str, steps: int) -> int:
    """Return the number so many steps of two after a 1,536-bit number whose first and last two bits are ones."""
    start = int.from_bytes(tape(label, 192), "big") | 3 << 1534 | 3
    return start + 2 * steps


KEYS = (
    Key(made_up_prime("candor p 0", 296), made_up_prime("candor q 0", 683)),
    Key(made_up_prime("candor p 1", 339), made_up_prime("candor q 1", 806)),
)


def octets(n: int) -> int:
    return math.ceil(n.bit_length() / 8)


def mgf1(seed: bytes, length: int) -> bytes:
    out = b""
    counter = 0
    while len(out) < length:
        out += hashlib.sha384(seed + counter.to_bytes(4, "big")).digest()
        counter += 1
    return out[:length]


def emsa_pss_encode(message: bytes, salt: bytes, em_bits: int) -> bytes:
    """Encode a message by RFC 8017 §9.1.1, steps 2 to 12."""
    em_len = math.ceil(em_bits / 8)
    m_hash = hashlib.sha384(message).digest()
    h = hashlib.sha384(b"\0" * 8 + m_hash + salt).digest()
    db = b"\0" * (em_len - len(salt) - 48 - 2) + b"\1" + salt
    masked = bytearray(a ^ b for a, b in zip(db, mgf1(h, em_len - 48 - 1), strict=True))
    for bit in range(8 * em_len - em_bits):
        masked[0] &= ~(0x80 >> bit)
    return bytes(masked) + h + b"\xbc"


def emsa_pss_verify(message: bytes, em: bytes, em_bits: int, salt_length: int = 48) -> bool:
    """Verify an encoded message by RFC 8017 §9.1.2, steps 2 to 14."""
    em_len = math.ceil(em_bits / 8)
    masked, h = em[: em_len - 49], em[em_len - 49 : em_len - 1]
    unused = 8 * em_len - em_bits
    if em[-1] != 0xBC or masked[0] >> (8 - unused):
        return False
    db = bytearray(a ^ b for a, b in zip(masked, mgf1(h, em_len - 49), strict=True))
    for bit in range(unused):
        db[0] &= ~(0x80 >> bit)
    padding = len(db) - salt_length - 1
    if any(db[:padding]) or db[padding] != 1:
        return False
    m_hash = hashlib.sha384(message).digest()
    return hashlib.sha384(b"\0" * 8 + m_hash + bytes(db[padding + 1 :])).digest() == h


def accepts(n: int, digest: str, prefix: bytes, signature: bytes) -> bool:
    """Return whether a server may accept a report with this ticket."""
    s = int.from_bytes(signature, "big")
    if len(prefix) != 32 or len(signature) != octets(n) or s >= n:
        return False
    em = pow(s, E, n).to_bytes(octets(n), "big")
    return emsa_pss_verify(prefix + bytes.fromhex(digest), em, n.bit_length() - 1)


def identity(prefix: bytes) -> bytes:
    return hashlib.sha256(b"candor ticket" + b"\0" + prefix).digest()[:16]


def take(key: Key, digest: str, source: bytes) -> dict[str, Any]:
    """Return one ticket from a byte string: what is drawn, sent and received, and the ticket itself."""
    n, at = key.n, 80
    prefix, salt = source[:32], source[32:80]
    while True:
        r = int.from_bytes(source[at : at + 384], "big")
        at += 384
        if 0 < r < n and math.gcd(r, n) == 1:
            break
    encoded = emsa_pss_encode(prefix + bytes.fromhex(digest), salt, n.bit_length() - 1)
    z = int.from_bytes(encoded, "big") * pow(r, E, n) % n
    blinded = z.to_bytes(384, "big")
    signed = key.sign(blinded)
    signature = (int.from_bytes(signed, "big") * pow(r, -1, n) % n).to_bytes(384, "big")
    if not accepts(n, digest, prefix, signature):
        raise ArithmeticError("the key does not sign")
    return {
        "digest": digest,
        "n": f"{n:x}",
        "p": f"{key.p:x}",
        "q": f"{key.q:x}",
        "tape": source[:at].hex(),
        "prefix": prefix.hex(),
        "salt": salt.hex(),
        "r": f"{r:0768x}",
        "z": blinded.hex(),
        "blind_signature": signed.hex(),
        "signature": signature.hex(),
        "id": identity(prefix).hex(),
    }
