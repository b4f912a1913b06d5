"""Sharing by command, for the operator of the server."""

from pathlib import Path
from typing import Any

import pytest

from survey_app.accounts import hash_secret
from survey_app.cli.exit_codes import CALLED_WRONGLY, NOT_DONE
from survey_app.store import Role
from survey_app.store.sqlite import SqliteStore
from tests.console import EXAM
from tests.definitions import simple, survey
from tests.fixtures import add
from tests.golden_files import Golden

TWICE = "a long password\na long password\n"


@pytest.fixture
def store(run: Any, tmp_path: Path) -> SqliteStore:
    """Ada's survey and her study of two groups, and an account of eve's."""
    for name in ("ada", "eve"):
        assert run("user", "add", name, text=TWICE).exit_code == 0
    groups = EXAM.replace(b"slug: exam", b"slug: study").replace(
        b"questions:", b"groups: {north: {label: N}, south: {label: S}}\nquestions:"
    )
    for name, source in (("exam", EXAM), ("study", groups)):
        (tmp_path / f"{name}.yaml").write_bytes(source)
        assert run("survey", "add", str(tmp_path / f"{name}.yaml")).exit_code == 0
    return SqliteStore(tmp_path / "candor.db")


@pytest.mark.parametrize("slug", ["exam", "study"])
def test_a_survey_or_a_study_is_shared_listed_and_withdrawn(
    run: Any, store: SqliteStore, slug: str, golden: Golden
) -> None:
    assert run("survey", "share", slug, "eve").output == f"{slug} is shared with eve as reader\n"
    assert run("survey", "share", slug, "eve", "--as", "editor").output == f"{slug} is shared with eve as editor\n"
    assert store.shares(slug) == [("eve", Role.EDITOR)]
    published = store.newest_version("exam" if slug == "exam" else "study-north")
    assert published
    store.add_link(published, "the council", hash_secret("x"))
    made = store.links(slug)[0]
    editor, link = run("survey", "share", slug).output.splitlines()
    assert editor.split() == ["editor", "eve"]
    assert link.startswith(f"link     {made.id}, ") and f"{made.creation_date}" in link and "the council" in link
    withdrawn = run("survey", "share", slug, "eve", "--withdraw")
    assert withdrawn.exit_code == 0 and store.shares(slug) == []
    again = run("survey", "share", slug, "eve", "--withdraw")
    assert again.exit_code == NOT_DONE
    golden(withdrawn.output + again.output)


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        ("nothing eve", NOT_DONE),
        ("exam nobody", NOT_DONE),
        ("exam ada", NOT_DONE),
        ("exam --withdraw", CALLED_WRONGLY),
        ("exam eve --as reader --withdraw", CALLED_WRONGLY),
        ("exam --as reader", CALLED_WRONGLY),
    ],
    ids=["no-survey", "no-account", "owner", "withdraw-nobody", "withdraw-as", "nobody"],
)
def test_what_cannot_be_shared_is_told_in_a_line(
    run: Any, store: SqliteStore, arguments: str, exit_code: int, golden: Golden
) -> None:
    done = run("survey", "share", *arguments.split())
    assert done.exit_code == exit_code and done.output.count("\n") == 1
    assert store.shares("exam") == []
    golden(done.output)


def test_disabling_an_account_says_whom_its_surveys_are_still_shared_with(
    run: Any, store: SqliteStore, golden: Golden
) -> None:
    run("user", "add", "bob", text=TWICE)
    bob = store.user_by_name("bob")
    assert bob
    add(store, survey(simple() | {"slug": "poll"}), owner=bob.key)
    run("survey", "share", "poll", "eve")
    disabled = run("user", "disable", "bob")
    assert disabled.exit_code == 0
    golden(disabled.output)
    command = disabled.output.strip().rpartition("candor ")[2]
    assert run(*command.split()).exit_code == 0 and store.shares("poll") == [], "the command that it names"
    assert run("user", "enable", "bob").exit_code == 0
    assert [one.disabled for one in store.users()] == [False] * 3


def test_the_last_administrator_is_not_disabled(run: Any, store: SqliteStore, golden: Golden) -> None:
    done = run("user", "disable", "ada")
    assert done.exit_code == NOT_DONE
    golden(done.output)
    ada = store.user_by_name("ada")
    assert ada and not ada.disabled
