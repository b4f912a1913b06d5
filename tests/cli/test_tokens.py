"""API tokens by command: made and shown once, listed without the secret, revoked, and gone with the password."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from survey_app.accounts import hash_secret
from survey_app.cli.exit_codes import NOT_DONE
from survey_app.store.sqlite import SqliteStore
from tests.golden_files import Golden

TWICE = "a long password\na long password\n"
NEW = "a new long password\n" * 2


@pytest.fixture
def store(run: Any, tmp_path: Path) -> SqliteStore:
    for name in ("ada", "eve"):
        assert run("user", "add", name, text=TWICE).exit_code == 0
    return SqliteStore(tmp_path / "candor.db")


def works(store: SqliteStore, token: str) -> bool:
    return store.user_of_token(hash_secret(token)) is not None


def test_a_token_is_printed_once_alone_and_its_id_beside_it(run: Any, store: SqliteStore) -> None:
    done = run("token", "add", "ada")
    token = done.stdout.strip()
    assert done.stdout.count("\n") == 1 and works(store, token)
    found = hash_secret(token).hex()[:8]
    assert f"id {found}" in done.stderr and token not in done.stderr
    listed = run("token", "list", "ada").output
    assert listed.split() == [found, f"{datetime.now(UTC):%Y-%m-%d}"]


def test_a_revoked_token_works_no_more_and_others_do(run: Any, store: SqliteStore) -> None:
    first, second, others = (run("token", "add", name).stdout.strip() for name in ("ada", "ada", "eve"))
    named = hash_secret(first).hex()[:8]
    assert run("token", "revoke", "eve", named).exit_code == 1  # not hers
    assert works(store, first)
    assert run("token", "revoke", "ada", named).output == f"{named} is revoked\n"
    assert [works(store, token) for token in (first, second, others)] == [False, True, True]
    again = run("token", "revoke", "ada", named)
    assert again.exit_code == NOT_DONE and "candor token list ada" in again.output
    assert run("token", "list", "nobody").exit_code == NOT_DONE


@pytest.mark.parametrize(("options", "kept"), [((), False), (("--keep-tokens",), True)])
def test_a_new_password_revokes_all_tokens_unless_they_are_kept(
    run: Any, store: SqliteStore, options: tuple[str, ...], kept: bool
) -> None:
    own, others = (run("token", "add", name).stdout.strip() for name in ("ada", "eve"))
    done = run("user", "password", "ada", *options, text=NEW)
    assert done.exit_code == 0
    assert ("API tokens revoked: 1" in done.output) is not kept
    assert (works(store, own), works(store, others)) == (kept, True)


def test_an_account_has_only_so_many_tokens(run: Any, store: SqliteStore, golden: Golden) -> None:
    ada = store.user_by_name("ada")
    assert ada is not None
    for i in range(100):
        store.add_token(ada, hash_secret(f"{i}"))
    refused = run("token", "add", "ada")
    assert refused.exit_code == NOT_DONE and refused.stdout == "" and len(store.tokens(ada)) == 100
    golden(refused.output)
