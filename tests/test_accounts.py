"""Passwords and tokens: what is on disk is a hash, and weak or taken names make no account."""

import hashlib
import queue
import threading
from collections.abc import Sequence
from typing import Literal

import pytest
from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError

from survey_app import accounts
from survey_app.accounts import add_user
from survey_app.problems import Problem
from survey_app.store import StoreError
from tests.fixtures import Installation, phrase
from tests.golden_files import Golden
from tests.sign_in import change, read_all_files, signed_in, token_of

FEW = 4  # computations of argon2 at once


def test_passwords_are_on_disk_as_salted_argon2_hashes_only(installation: Installation) -> None:
    first, second = (accounts.hash_password("the same password", "ada") for _ in range(2))
    assert first != second
    assert change(signed_in(installation.app), phrase("ada"), "a new long password").status_code == 302
    kept = read_all_files(installation.store.path)
    assert kept.count(b"$argon2id$") >= 3
    for said in (*map(phrase, ("administrator", "ada", "eve")), "a new long password"):
        assert said.encode() not in kept
        for algorithm in ("md5", "sha1", "sha256"):
            digest = hashlib.new(algorithm, said.encode())
            assert digest.digest() not in kept
            assert digest.hexdigest().encode() not in kept


def test_the_real_hasher_is_no_weaker_than_owasp_asks() -> None:
    assert accounts._hasher.type is Type.ID
    assert accounts._hasher.memory_cost >= 19 * 1024
    assert accounts._hasher.time_cost >= 2
    assert not accounts._hasher.check_needs_rehash(accounts._nobody)


class Held(PasswordHasher):
    """A hasher whose computations last until they are released, or until more than allowed run at once."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.lock, self.released, self.inside, self.most = threading.Lock(), threading.Event(), 0, 0

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        if self.inside > FEW:
            self.released.set()
        self.released.wait(60)
        with self.lock:
            self.inside -= 1
        raise InvalidHashError


def test_ten_logins_at_once_compute_four_hashes_and_refuse_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each computation takes 64 MB, so that their number is a worker's memory."""
    held = Held()
    monkeypatch.setattr(accounts, "_hasher", held)
    monkeypatch.setattr(accounts, "WAIT_SECONDS", 0, raising=False)
    outcomes: queue.Queue[str] = queue.Queue()

    def sign_in() -> None:
        try:
            accounts.check_password(None, "wrong")
            outcomes.put("checked")
        except Problem as problem:
            assert problem.headers == [("Retry-After", "2")]
            outcomes.put(problem.code)

    senders = [threading.Thread(target=sign_in) for _ in range(10)]
    for sender in senders:
        sender.start()
    refused = [outcomes.get(timeout=60) for _ in range(10 - FEW)]
    held.released.set()
    for sender in senders:
        sender.join()
    assert held.most == FEW
    assert refused == ["unavailable"] * (10 - FEW)
    assert [outcomes.get() for _ in range(FEW)] == ["checked"] * FEW
    assert not accounts.check_password(None, "wrong"), "a finished attempt leaves its place to others"


@pytest.mark.parametrize("length", [0, 1, 9, 201])
def test_a_password_of_the_wrong_length_makes_no_account(installation: Installation, length: int) -> None:
    with pytest.raises(StoreError):
        add_user(installation.store, "turing", "x" * length)
    assert installation.store.user_by_name("turing") is None


@pytest.mark.parametrize(
    "passwords",
    [
        ("1234567890", "2026-11-17", "0049 30 1234"),
        ("password12", "P@ssw0rd12!", "iloveyou123", "Sommer2026!"),
        ("qwertyuiop", "qwerty12345", "abcdefghij", "zyxwvutsrq", "1q2w3e4r5t", "0987654321a"),
        ("aaaaaaaaaa", "passwordpassword", "abcabcabcab"),
        ("ada-lovelace", "Ada-Lovelace1!", "adalovelace26"),
    ],
    ids=["digits", "word", "row", "repetition", "name"],
)
def test_a_password_that_anybody_would_try_first_is_refused_with_what_to_do(
    installation: Installation, passwords: Sequence[str], golden: Golden
) -> None:
    reasons = set()
    for password in passwords:
        with pytest.raises(StoreError) as refusal:
            add_user(installation.store, "ada-lovelace", password)
        assert installation.store.user_by_name("ada-lovelace") is None
        reasons.add(str(refusal.value))
    (reason,) = reasons
    golden(reason)


@pytest.mark.parametrize(
    "password",
    ["a long password", "correct horse battery staple", "ada lovelace likes tea", "tr8Kx-qpZ1v", "mein hund heisst nicht rex", "ünïcödé wörter", "我喜欢在雨天读书喝茶呀"],
)  # fmt: skip
def test_a_password_that_is_merely_simple_is_taken(installation: Installation, password: str) -> None:
    assert add_user(installation.store, "ada-lovelace", password).name == "ada-lovelace"


@pytest.mark.parametrize("name", ["", " ", " turing", "turing ", "tur\ning", "tur\x00ing", "x" * 81, "ada"])
def test_a_bad_or_taken_name_makes_no_account(installation: Installation, name: str) -> None:
    before = installation.store.users()
    with pytest.raises(StoreError):
        add_user(installation.store, name, phrase("turing"))
    assert installation.store.users() == before


def test_only_hashes_of_tokens_are_on_disk(installation: Installation) -> None:
    tokens = [token_of(installation.store, "ada") for _ in range(3)]
    kept = read_all_files(installation.store.path)
    assert len(set(tokens)) == 3
    for token in tokens:
        assert len(token) >= 43
        assert token.encode() not in kept
        assert hashlib.sha256(token.encode()).digest() in kept
