"""Passwords, API tokens and invitation codes: argon2 for memorized secrets, plain hashes for random ones."""

import hashlib
import re
import secrets
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from survey_app.problems import Problem
from survey_app.store import Store, StoreError, User

LEAST_PASSWORD, MOST_PASSWORD, LONGEST_NAME = 10, 200, 80
LEAST_DIGITS = 16  # minimum length of a password without letters: shorter ones are dates and telephone numbers
LEAST_DISTINCT = 5  # minimum number of letters in a password, where a well-known run counts as one
LEAST_EXTRA_CHARACTERS = 6  # minimum number of characters besides the account's own name
COMMON = frozenset({
    "abcdef", "access", "admin", "administrator", "amore", "asdfgh", "autumn", "baseball", "batman", "candor",
    "changeme", "charlie", "chocolate", "computer", "contrasena", "contraseña", "default", "dragon", "flower",
    "football", "freedom", "geheim", "hallo", "hello", "herbst", "iloveyou", "jesus", "jordan", "killer", "letmein",
    "login", "love", "lovely", "loveyou", "master", "michael", "monkey", "motdepasse", "mustang", "nothing", "orange",
    "passphrase", "passwd", "password", "passwort", "pokemon", "princess", "printemps", "qwerty", "qwertz",
    "researcher", "secret", "shadow", "soccer", "sommer", "spring", "starwars", "summer", "sunshine", "superman",
    "survey", "test", "trustno", "umfrage", "user", "verano", "welcome", "whatever", "willkommen", "winter",
})  # fmt: skip
RUNS = (
    "01234567890123456789", "abcdefghijklmnopqrstuvwxyz", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm",
    "azertyuiop", "qsdfghjklm", "wxcvbn", "1q2w3e4r5t6y7u8i9o0p", "q1w2e3r4t5y6u7i8o9p0",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm", "qazwsxedcrfvtgbyhnujm", "!@#$%^&*()", '!"§$%&/()=',
)  # fmt: skip
LOOKALIKES = str.maketrans("@4013$5!", "aaoiessi")
ADVICE = "use four or five unrelated words, or a password from a password manager"
MOST_CONCURRENT_HASHES = 4  # argon2 computations in one process: each takes 64 MB of memory
WAIT_SECONDS = 2.0  # to wait for a free slot before the request is refused
_hasher = PasswordHasher()
_hash_slots = threading.BoundedSemaphore(MOST_CONCURRENT_HASHES)


def _make_decoy_hash(hasher: PasswordHasher) -> str:
    """Return a random argon2 hash, to be checked if no account has the given name.

    It takes as long to check as a real hash. No password matches it, because nothing was hashed.
    """
    salt, digest = (b64encode(secrets.token_bytes(length)).decode().rstrip("=") for length in (16, 32))
    return f"$argon2id$v=19$m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}${salt}${digest}"


_nobody = _make_decoy_hash(_hasher)


def hash_password(password: str, name: str) -> str:
    """Return the argon2 hash of a password; raise StoreError if its length is out of range or it is easy to guess."""
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        raise StoreError(f"a password must have {LEAST_PASSWORD} to {MOST_PASSWORD} characters")
    if reason := find_weakness(password, name):
        raise StoreError(f"this password {reason}, so it is easy to guess; {ADVICE}")
    with _hash_slot():
        return _hasher.hash(password)


@contextmanager
def _hash_slot() -> Iterator[None]:
    """Hold one of the few slots for argon2, because more computations would fill the memory.

    Raise Problem if no slot is free within `WAIT_SECONDS`.
    """
    if not _hash_slots.acquire(timeout=WAIT_SECONDS):
        raise Problem("unavailable", "Too many passwords are being checked. Try again in a moment.", wait=2)
    try:
        yield
    finally:
        _hash_slots.release()


def find_weakness(password: str, name: str) -> str | None:
    """Return why a password is too weak for the account of this name, or None if it is not.

    The text continues a sentence that begins with "this password".
    Length protects a password, so there are no rules about its characters (NIST SP 800-63B, 5.1.1.2).
    It refuses the most frequent entries of lists of stolen passwords: common words with digits around them, keyboard
    rows, repetitions, dates, and the account's name.
    """
    folded = password.casefold()
    letters, name_letters = ("".join(filter(str.isalnum, text)) for text in (folded, name.casefold()))
    if (
        len(name_letters) > 2
        and name_letters in letters
        and len(letters.replace(name_letters, "")) < LEAST_EXTRA_CHARACTERS
    ):
        return "is little more than the account's own name"
    if not any(letter.isalpha() for letter in folded) and len(folded) < LEAST_DIGITS:
        return "has only digits and symbols"
    core = re.sub(r"^[\W\d_]+|[\W\d_]+$", "", folded)  # without the usual digits and signs around a word
    if any(_repeats(text) for text in (folded, core)):
        return "repeats itself"
    if len(set(folded)) < LEAST_DISTINCT or _pieces(folded) < LEAST_DISTINCT:
        return "has few different characters, or is a sequence from the keyboard or the alphabet"
    if "".join(filter(str.isalpha, core.translate(LOOKALIKES))) in COMMON:
        return "is a very common word"
    return None


def _repeats(text: str) -> bool:
    return any(text == (text[:step] * len(text))[: len(text)] for step in range(1, len(text) // 2 + 1))


def _pieces(text: str) -> int:
    """Return the number of letters in a text, counting each well-known run as one."""
    rows = [*RUNS, *(row[::-1] for row in RUNS)]
    count = start = 0
    while start < len(text):
        length = 1
        while start + length < len(text) and any(text[start : start + length + 1] in row for row in rows):
            length += 1
        start += length if length > 2 else 1
        count += 1
    return count


def check_password(user: User | None, password: str) -> bool:
    """Return whether the password is right and the account is enabled.

    An unknown account (None) takes as long as a wrong password. Raise Problem if too many checks run at once.
    """
    try:
        with _hash_slot():
            right = _hasher.verify(user.password if user else _nobody, password[: MOST_PASSWORD + 1])
    except (Argon2Error, InvalidHashError):
        return False
    return right and user is not None and not user.disabled


def add_user(store: Store, name: str, password: str) -> User:
    """Add an account; raise StoreError if the name is not plain or the password is refused."""
    if not name.isprintable() or not 1 <= len(name.strip()) <= LONGEST_NAME or name != name.strip():
        raise StoreError(f"a name must have 1 to {LONGEST_NAME} printable characters, with no space at either end")
    return store.add_user(name, hash_password(password, name))


def new_token() -> str:
    """Return a new API token; its owner sees it once."""
    return secrets.token_urlsafe(32)


def new_code() -> str:
    """Return a new invitation code for one respondent; only the invitation link contains it."""
    return secrets.token_urlsafe(18)


def hash_secret(secret: str) -> bytes:
    """Return the hash that is stored for a token or code.

    Both have at least 128 random bits, so a plain hash cannot be reversed by search.
    """
    return hashlib.sha256(secret.encode()).digest()
