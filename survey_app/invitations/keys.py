"""Creating the key pair of one definition, and verifying its signatures, with the `cryptography` package.

The scheme is RSABSSA-SHA384-PSS-Randomized (RFC 9474), with a modulus of exactly 3072 bits, e = 65537 and a salt of 48
bytes. The issuer does not see the messages it signs. So each key is for one definition only, and every message that it
has signed is a ticket of that survey.
"""

from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey, RSAPublicNumbers, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA384

from candor_client.ticket import EXPONENT, MODULUS_BITS, SALT_BYTES
from survey_app.store import Key

_HASH = SHA384()
_PADDING = PSS(MGF1(_HASH), SALT_BYTES)


def make_key() -> Key:
    """Return a new key pair; this takes about a tenth of a second."""
    numbers = generate_private_key(EXPONENT, MODULUS_BITS).private_numbers()
    return Key(numbers.p, numbers.q)


@lru_cache(maxsize=256)
def _public(modulus: int) -> RSAPublicKey:
    return RSAPublicNumbers(EXPONENT, modulus).public_key()


def is_signed(modulus: int, message: bytes, signature: bytes) -> bool:
    """Return whether this is a signature of the message by the key with this modulus."""
    try:
        _public(modulus).verify(signature, message, _PADDING, _HASH)
    except (InvalidSignature, ValueError):  # another server's definition may have an invalid modulus
        return False
    return True
