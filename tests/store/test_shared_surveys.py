"""Who else may see a survey: shares and links belong to the whole, and go with it."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from survey_app.accounts import hash_secret, new_token
from survey_app.authoring.terms import Terms
from survey_app.store import EventCode, Member, PublishedSurvey, Role, StoreError, User
from survey_app.store.sql.sharing_queries import LONGEST_LABEL, MOST_LINKS, MOST_SHARES
from tests.definitions import simple, survey
from tests.fixtures import add_worked_example
from tests.golden_files import Golden
from tests.store.conftest import AnyStore, Place

NORTH, SOUTH = (
    survey(simple() | {"slug": f"study-{name}", "study": "study", "group": name}) for name in ("north", "south")
)


Installation = tuple[AnyStore, PublishedSurvey, User]


@pytest.fixture
def installation(place: Place) -> Iterator[Installation]:
    """A survey of ada's, and an account of eve's."""
    store = place.open()
    published = add_worked_example(store)
    yield store, published, store.add_user("eve", "x")
    store.close()


def test_a_role_is_given_changed_and_taken_back(installation: Installation) -> None:
    store, published, eve = installation
    assert store.role_of(eve, published) is None
    for role in (Role.READER, Role.EDITOR, Role.READER):
        store.share(published, eve, role)
        assert store.role_of(eve, published) is role
        assert store.shares("exam") == [("eve", role)]
    assert [one.survey.slug for one in store.shared_with(eve.key)] == ["exam"]
    store.share(published, eve, None)
    assert store.role_of(eve, published) is None and store.shared_with(eve.key) == []
    with pytest.raises(StoreError, match="not shared with eve"):
        store.share(published, eve, None)
    events = store.events(published.owner)[:4]
    assert {event.data.account for event in events} == {"eve"}
    assert [(event.code, event.data.role) for event in events] == [
        (EventCode.UNSHARED, ""), (EventCode.SHARED, "reader"),
        (EventCode.SHARED, "editor"), (EventCode.SHARED, "reader"),
    ]  # fmt: skip


def test_nobody_is_given_what_makes_no_sense(installation: Installation) -> None:
    store, published, eve = installation
    owner = store.user(published.owner)
    assert owner is not None and store.role_of(owner, published) is Role.OWNER
    with pytest.raises(StoreError):
        store.share(published, owner, Role.READER)
    with pytest.raises(StoreError):
        store.share(published, eve, Role.OWNER)
    store.set_disabled(eve, True)
    closed = store.user(eve.key)
    assert closed is not None
    with pytest.raises(StoreError):
        store.share(published, closed, Role.READER)
    for label in ("", " council", "a\nb", "x" * 81):
        with pytest.raises(StoreError, match=f" {LONGEST_LABEL} "):
            store.add_link(published, label, hash_secret(new_token()))
    assert store.shares("exam") == [] and store.links("exam") == []


def test_shares_and_links_of_one_survey_are_bounded(installation: Installation) -> None:
    store, published, eve = installation
    for number in range(MOST_SHARES):
        store.share(published, store.add_user(f"u{number}", "x"), Role.READER)
    store.share(published, store.users()[-1], Role.EDITOR)  # another role is no other share
    with pytest.raises(StoreError, match="withdraw some"):
        store.share(published, eve, Role.READER)
    for _ in range(MOST_LINKS):
        store.add_link(published, "all", hash_secret(new_token()))
    with pytest.raises(StoreError, match="withdraw some"):
        store.add_link(published, "all", hash_secret(new_token()))


def test_a_link_opens_until_it_is_withdrawn_and_rests_while_its_owner_is_disabled(installation: Installation) -> None:
    store, published, eve = installation
    _make_administrator(store, eve)  # so that the owner may be disabled
    hashed = hash_secret(new_token())
    store.add_link(published, "the works council", hashed)
    (link,) = store.links("exam")
    assert (link.label, link.creation_date) == ("the works council", datetime.now(UTC).date())
    assert store.link_target(hashed) == "exam"
    owner = store.user(published.owner)
    assert owner is not None
    store.set_disabled(owner, True)
    assert store.link_target(hashed) is None
    store.set_disabled(owner, False)
    assert store.link_target(hashed) == "exam"
    assert store.withdraw_link(published, "00000000") is False
    assert store.withdraw_link(published, link.id) is True
    assert store.link_target(hashed) is None and store.links("exam") == []


def test_a_study_is_shared_as_a_whole(installation: Installation) -> None:
    store, published, eve = installation
    groups = store.add_surveys([Member(NORTH, Terms()), Member(SOUTH, Terms())], owner=published.owner)
    store.share(groups[1], eve, Role.READER)
    assert [store.role_of(eve, one) for one in groups] == [Role.READER] * 2
    assert store.shares("study") == [("eve", Role.READER)]
    hashed = hash_secret(new_token())
    store.add_link(groups[0], "all", hashed)
    assert store.link_target(hashed) == "study"
    assert store.role_of(eve, published) is None
    store.delete_survey("study")
    assert store.link_target(hashed) is None and store.shares("study") == []


def test_a_new_survey_with_the_name_of_a_deleted_one_shares_nothing(installation: Installation) -> None:
    store, published, eve = installation
    hashed = hash_secret(new_token())
    store.share(published, eve, Role.EDITOR)
    store.add_link(published, "all", hashed)
    store.delete_survey("exam")
    with pytest.raises(StoreError):
        store.share(published, eve, Role.EDITOR)
    with pytest.raises(StoreError):
        store.add_link(published, "all", hash_secret(new_token()))
    assert store.shares("exam") == [] and store.links("exam") == []
    other = store.add_user("bob", "x")
    (taken,) = store.add_surveys([Member(published.survey, Terms())], owner=other.key)
    assert store.role_of(eve, taken) is None and store.links("exam") == [] and store.link_target(hashed) is None
    with pytest.raises(StoreError):  # what ada's window still shows is bob's by now
        store.share(published, eve, Role.EDITOR)
    assert store.shares("exam") == []


def test_a_date_that_deletes_the_last_version_deletes_shares_too(installation: Installation) -> None:
    store, published, eve = installation
    moment = datetime.now(UTC)
    (dated,) = store.add_surveys(
        [Member(survey(simple() | {"title": "Next"}), Terms(deletes=moment + timedelta(days=1)))], owner=published.owner
    )
    store.share(dated, eve, Role.READER)
    store.clock = lambda: moment + timedelta(days=2)
    assert store.shared_with(eve.key) == []
    assert store.newest_version("exam") is None and store.shares("exam") == []


def _make_administrator(store: AnyStore, user: User) -> User:
    with store._transaction() as connection:
        connection.execute("update users set admin = 1 where key = ?", (user.key,))
    found = store.user(user.key)
    assert found is not None and found.admin
    return found


def test_one_administrator_always_stays_open(installation: Installation, golden: Golden) -> None:
    store, published, eve = installation
    ada = store.user(published.owner)
    assert ada is not None and ada.admin
    with pytest.raises(StoreError) as caught:
        store.set_disabled(ada, True)
    golden(caught.value, "ada")
    eve = _make_administrator(store, eve)
    store.set_disabled(ada, True)
    with pytest.raises(StoreError) as caught:
        store.set_disabled(eve, True)
    golden(caught.value, "eve")
    store.set_disabled(ada, False)
    store.set_disabled(eve, True)
    assert [(one.name, one.disabled) for one in store.users()] == [("ada", False), ("eve", True)]


def test_two_administrators_who_disable_each_other_at_once_do_not_both_succeed(installation: Installation) -> None:
    store, published, eve = installation
    ada, eve = store.user(published.owner), _make_administrator(store, eve)
    assert ada is not None
    for _ in range(20):
        start, refused = threading.Barrier(2), list[str]()

        def disable(user: User, start: threading.Barrier = start, refused: list[str] = refused) -> None:
            start.wait()
            try:
                store.set_disabled(user, True)
            except StoreError:
                refused.append(user.name)

        threads = [threading.Thread(target=disable, args=(user,)) for user in (ada, eve)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(refused) == 1 and [one.name for one in store.users() if not one.disabled] == refused
        for user in (ada, eve):
            store.set_disabled(user, False)
