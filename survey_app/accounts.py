"""Passwords, tokens and invitation codes: argon2 for what people remember, plain hashes for what is random."""

import hashlib
import secrets

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from survey_app.store import Store, StoreError, User

LEAST_PASSWORD, MOST_PASSWORD = 10, 200
_hasher = PasswordHasher()
_nobody = _hasher.hash(secrets.token_hex(16))


def hash_password(password: str) -> str:
    """The argon2 hash of a password that is long enough."""
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        raise StoreError(f"a password has {LEAST_PASSWORD} to {MOST_PASSWORD} characters")
    return _hasher.hash(password)


def check_password(user: User | None, password: str) -> bool:
    """Whether the password is right; an unknown name takes as long as a wrong password."""
    try:
        right = _hasher.verify(user.password if user else _nobody, password[: MOST_PASSWORD + 1])
    except (Argon2Error, InvalidHashError):
        return False
    return right and user is not None and not user.disabled


def add_user(store: Store, name: str, password: str) -> User:
    """Add an account with a plain name."""
    if not name.isprintable() or not 1 <= len(name.strip()) <= 80 or name != name.strip():
        raise StoreError("a name has 1 to 80 printable characters, with no space around")
    return store.add_user(name, hash_password(password))


def new_token() -> str:
    """An API token; it is shown once."""
    return secrets.token_urlsafe(32)


def new_code() -> str:
    """An invitation code, for one person; it is in their link and nowhere else."""
    return secrets.token_urlsafe(18)


def secret_hash(secret: str) -> bytes:
    """What is kept of a token or a code: they have at least 128 random bits, so a plain hash cannot be searched."""
    return hashlib.sha256(secret.encode()).digest()
