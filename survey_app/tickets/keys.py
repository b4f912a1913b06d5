"""The key pair of one definition, and the check of what was signed with it; both by `cryptography`.

RSABSSA-SHA384-PSS-Randomized (RFC 9474): a modulus of exactly 3072 bits, e = 65537, a salt of 48 bytes. The issuer does
not see what it signs, so a key is for one definition alone: whatever it has signed is a ticket of that survey.
"""

from functools import lru_cache
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey, RSAPublicNumbers, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA384

from client.report import to_text
from client.ticket import EXPONENT, MODULUS_BITS, MODULUS_BYTES, SALT_BYTES

_HASH = SHA384()
_PADDING = PSS(MGF1(_HASH), SALT_BYTES)


class Key(NamedTuple):
    """A private key: its two primes."""

    p: int
    q: int

    @property
    def modulus(self) -> int:
        """What is public of it."""
        return self.p * self.q

    def to_bytes(self) -> bytes:
        """As it is kept: as many bytes as the modulus has."""
        return b"".join(prime.to_bytes(MODULUS_BYTES // 2, "big") for prime in self)

    @classmethod
    def from_bytes(cls, kept: bytes) -> "Key":
        """The inverse of `to_bytes`."""
        half = MODULUS_BYTES // 2
        return cls(int.from_bytes(kept[:half], "big"), int.from_bytes(kept[half:], "big"))


def make_key() -> Key:
    """A new key pair; it takes about a tenth of a second."""
    numbers = generate_private_key(EXPONENT, MODULUS_BITS).private_numbers()
    return Key(numbers.p, numbers.q)


def spelled(modulus: int) -> str:
    """The modulus as a definition has it."""
    return to_text(modulus.to_bytes(MODULUS_BYTES, "big"))


@lru_cache(maxsize=256)
def _public(modulus: int) -> RSAPublicKey:
    return RSAPublicNumbers(EXPONENT, modulus).public_key()


def is_signed(modulus: int, message: bytes, signature: bytes) -> bool:
    """Whether the holder of the key has signed this message, without having seen it."""
    try:
        _public(modulus).verify(signature, message, _PADDING, _HASH)
    except (InvalidSignature, ValueError):  # a modulus that is none comes with somebody else's definition
        return False
    return True
