"""Passwords and tokens: what is on disk is a hash, and weak or taken names make no account."""

import hashlib

import pytest
from argon2 import Type

from survey_app import accounts
from survey_app.accounts import add_user
from survey_app.store import StoreError
from tests.house import House, phrase
from tests.signing import change, on_disk, signed_in, token_of


def test_passwords_are_on_disk_as_salted_argon2_hashes_only(house: House) -> None:
    first, second = (accounts.hash_password("the same password") for _ in range(2))
    assert first != second
    assert change(signed_in(house.app), phrase("ada"), "a new long password").status_code == 302
    kept = on_disk(house.store.path)
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


@pytest.mark.parametrize("length", [0, 1, 9, 201])
def test_a_password_of_the_wrong_length_makes_no_account(house: House, length: int) -> None:
    with pytest.raises(StoreError):
        add_user(house.store, "turing", "x" * length)
    assert house.store.user_named("turing") is None


@pytest.mark.parametrize("name", ["", " ", " turing", "turing ", "tur\ning", "tur\x00ing", "x" * 81, "ada"])
def test_a_bad_or_taken_name_makes_no_account(house: House, name: str) -> None:
    before = house.store.users()
    with pytest.raises(StoreError):
        add_user(house.store, name, phrase("turing"))
    assert house.store.users() == before


def test_only_hashes_of_tokens_are_on_disk(house: House) -> None:
    tokens = [token_of(house.store, "ada") for _ in range(3)]
    kept = on_disk(house.store.path)
    assert len(set(tokens)) == 3
    for token in tokens:
        assert len(token) >= 43
        assert token.encode() not in kept
        assert hashlib.sha256(token.encode()).digest() in kept
