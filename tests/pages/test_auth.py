"""Nobody gets in: accounts, sessions, tokens, and what an attacker may try against them.

Every refusal stands beside the same request that is allowed, so that no test passes because nothing works. The hasher
is made cheap here; one test looks at the real one.
"""

import hashlib
import json
import logging
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urljoin, urlsplit

import pytest
from argon2 import PasswordHasher, Type
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

import client
from survey_app import accounts, create_app
from survey_app.accounts import add_user, new_token, secret_hash
from survey_app.authoring.terms import Terms
from survey_app.pages.access import get_store
from survey_app.pages.auth import limiter
from survey_app.store import Published, State, Store, StoreError, User
from tests.definitions import survey, worked

REAL_HASHER, REAL_NOBODY = accounts._hasher, accounts._nobody
ATTEMPTS = 10
COOKIE = "candor_session"
SAID: dict[str, Any] = {"cheated": True, "help": None, "hours": 12}
RESPONDENT_PATHS = ["/s/exam", "/api/surveys/exam", "/client/js/index.js", "/healthz", "/openapi.json"]


class Counting(PasswordHasher):
    """A cheap hasher that knows how often it was asked about a hash of its own price."""

    asked = 0

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
        self.asked += not self.check_needs_rehash(hash)
        return super().verify(hash, password)


@pytest.fixture(autouse=True)
def hasher(monkeypatch: pytest.MonkeyPatch) -> Counting:
    cheap = Counting(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(accounts, "_hasher", cheap)
    monkeypatch.setattr(accounts, "_nobody", cheap.hash("nobody"))
    return cheap


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "server" / "candor.db"


@pytest.fixture
def app(path: Path) -> Iterator[Flask]:
    """A server with an administrator, two researchers, and surveys of the first researcher: `exam` is private."""
    made = create_app({"DB": f"sqlite:///{path}", "RATE_LIMIT": "off"})
    store = get_store(made)
    add_user(store, "administrator", phrase("administrator"))
    owner = add_user(store, "lovelace", phrase("lovelace"))
    add_user(store, "hopper", phrase("hopper"))
    for slug, state, public in (
        ("exam", State.OPEN, False),
        ("census", State.OPEN, True),
        ("ready", State.READY, True),
    ):
        publish(store, owner, {"slug": slug}, state, public)
    yield made
    store.close()


@pytest.fixture
def store(app: Flask) -> Store:
    return get_store(app)


@pytest.fixture
def limited(app: Flask, path: Path, monkeypatch: pytest.MonkeyPatch) -> Flask:
    """The same server, with limits; flask-limiter's switch belongs to the process, so it is put back."""
    monkeypatch.setattr(limiter, "enabled", limiter.enabled)
    return create_app({"DB": f"sqlite:///{path}"})


def publish(
    store: Store, owner: User, changes: dict[str, Any], state: State = State.OPEN, public: bool = False
) -> Published:
    return store.add_survey(survey(worked() | changes), Terms(public=public), owner=owner.key, state=state)


def phrase(name: str) -> str:
    return f"correct horse of {name}"


def named(store: Store, name: str) -> User:
    user = store.user_named(name)
    assert user is not None
    return user


def csrf(browser: FlaskClient, path: str = "/login", **how: Any) -> str:
    found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', browser.get(path, **how).text)
    assert found is not None
    return found[1]


def attempt(browser: FlaskClient, name: str, said: str, target: str | None = None, **how: Any) -> TestResponse:
    query = {"query_string": {"next": target}} if target else {}
    form = {"name": name, "password": said, "csrf_token": csrf(browser)}
    return browser.post("/login", data=form, **query, **how)


def signed_in(app: Flask, name: str = "lovelace") -> FlaskClient:
    browser = app.test_client()
    assert attempt(browser, name, phrase(name)).status_code == 302
    assert is_signed_in(browser)
    return browser


def is_signed_in(browser: FlaskClient) -> bool:
    return browser.get("/account").status_code == 200


def cookie_of(browser: FlaskClient) -> str:
    found = browser.get_cookie(COOKIE)
    assert found is not None
    return found.value


def with_cookie(app: Flask, value: str, name: str = COOKIE) -> FlaskClient:
    browser = app.test_client()
    browser.set_cookie(name, value)
    return browser


def change(browser: FlaskClient, old: str, new: str, again: str | None = None) -> TestResponse:
    form = {"old": old, "new": new, "again": new if again is None else again}
    return browser.post("/account/password", data={**form, "csrf_token": csrf(browser, "/account")})


def token_of(store: Store, name: str) -> str:
    token = new_token()
    store.add_token(named(store, name), secret_hash(token))
    return token


def bearing(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def report(slug: str = "exam") -> bytes:
    return client.randomize(survey(worked() | {"slug": slug}), SAID).to_json()


def on_disk(path: Path) -> bytes:
    return b"".join(one.read_bytes() for one in path.parent.iterdir())


def code_of(response: TestResponse) -> str:
    assert response.content_type == "application/problem+json"
    document = json.loads(response.data)
    assert document["status"] == response.status_code
    code: str = document["code"]
    return code


def everything(response: TestResponse) -> str:
    return f"{response.headers}{response.text}"


# passwords


def test_passwords_are_on_disk_as_salted_argon2_hashes_only(app: Flask, store: Store, path: Path) -> None:
    first, second = (accounts.hash_password("the same password") for _ in range(2))
    assert first != second
    assert change(signed_in(app), phrase("lovelace"), "a new long password").status_code == 302
    kept = on_disk(path)
    assert kept.count(b"$argon2id$") >= 3
    for said in (*map(phrase, ("administrator", "lovelace", "hopper")), "a new long password"):
        assert said.encode() not in kept
        for algorithm in ("md5", "sha1", "sha256"):
            digest = hashlib.new(algorithm, said.encode())
            assert digest.digest() not in kept
            assert digest.hexdigest().encode() not in kept


def test_the_real_hasher_is_no_weaker_than_owasp_asks() -> None:
    assert REAL_HASHER.type is Type.ID
    assert REAL_HASHER.memory_cost >= 19 * 1024
    assert REAL_HASHER.time_cost >= 2
    assert not REAL_HASHER.check_needs_rehash(REAL_NOBODY)


def test_the_database_is_for_its_owner_only(app: Flask, path: Path) -> None:
    for one in path.parent.glob("candor.db*"):
        if not one.name.endswith(".lock"):
            assert stat.S_IMODE(one.stat().st_mode) & 0o077 == 0, one.name


@pytest.mark.parametrize("length", [0, 1, 9, 201])
def test_a_password_of_the_wrong_length_makes_no_account(store: Store, length: int) -> None:
    with pytest.raises(StoreError):
        add_user(store, "turing", "x" * length)
    assert store.user_named("turing") is None


@pytest.mark.parametrize("name", ["", " ", " turing", "turing ", "tur\ning", "tur\x00ing", "x" * 81, "lovelace"])
def test_a_bad_or_taken_name_makes_no_account(store: Store, name: str) -> None:
    before = store.users()
    with pytest.raises(StoreError):
        add_user(store, name, phrase("turing"))
    assert store.users() == before


# signing in and out


def test_whoever_signs_in_sees_the_account_until_signing_out(app: Flask) -> None:
    browser = app.test_client()
    away = browser.get("/account")
    assert (away.status_code, away.headers["Location"]) == (302, "/login?next=%2Faccount")
    assert attempt(browser, "lovelace", phrase("lovelace")).headers["Location"] == "/account"
    assert "lovelace" in browser.get("/account").text
    out = browser.post("/logout", data={"csrf_token": csrf(browser, "/account")})
    assert (out.status_code, out.headers["Location"]) == (302, "/login")
    assert not is_signed_in(browser)
    with browser.session_transaction() as session:
        assert "_user_id" not in session


def test_an_account_page_lists_only_ones_own_surveys(app: Flask) -> None:
    assert "/s/exam" in signed_in(app, "lovelace").get("/account").text
    assert "/s/exam" not in signed_in(app, "hopper").get("/account").text


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lovelace", "wrong"),
        ("lovelace", phrase("lovelace").upper()),
        ("lovelace", phrase("lovelace") + " "),
        ("lovelace", phrase("lovelace")[:-1]),
        ("lovelace", phrase("hopper")),
        ("lovelace", ""),
        ("lovelace", "x" * 100_000),
        ("LOVELACE", phrase("lovelace")),
        ("lovelace\x00", phrase("lovelace")),
        ("' or 1=1 --", "' or 1=1 --"),
        ("", phrase("lovelace")),
        ("x" * 100_000, phrase("lovelace")),
    ],
)
def test_nothing_but_the_right_name_and_password_signs_in(app: Flask, name: str, said: str) -> None:
    browser = app.test_client()
    assert attempt(browser, name, said).status_code == 401
    assert not is_signed_in(browser)


def test_the_stored_hash_is_no_password(app: Flask, store: Store) -> None:
    browser = app.test_client()
    assert attempt(browser, "lovelace", named(store, "lovelace").password).status_code == 401
    assert not is_signed_in(browser)


def test_wrong_password_unknown_name_and_disabled_account_get_one_answer_for_one_price(
    app: Flask, store: Store, hasher: Counting
) -> None:
    store.set_disabled(named(store, "hopper"), True)
    answers = set()
    for name, said in (("lovelace", "not the password"), ("turing", "not the password"), ("hopper", phrase("hopper"))):
        browser, before = app.test_client(), hasher.asked
        response = attempt(browser, name, said)
        assert hasher.asked == before + 1
        assert said not in everything(response)
        assert not is_signed_in(browser)
        page = re.sub(r'(name="csrf_token"[^>]*value=)"[^"]+"', r"\1", response.text)
        answers.add((response.status_code, page.replace(f'value="{name}"', "value")))
    assert len(answers) == 1
    assert "Name or password is wrong." in answers.pop()[1]


def test_a_name_that_is_markup_comes_back_as_text(app: Flask) -> None:
    page = attempt(app.test_client(), '"><script>alert(1)</script>', "wrong").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_a_link_cannot_sign_anyone_out(app: Flask) -> None:
    browser = signed_in(app)
    assert browser.get("/logout").status_code == 405
    assert is_signed_in(browser)


# disabled accounts


def test_a_disabled_account_loses_sessions_and_tokens_at_once(app: Flask, store: Store) -> None:
    browser, token = signed_in(app), token_of(store, "lovelace")
    results, batch = "/api/surveys/exam/results", "/api/surveys/exam/reports/batch"
    assert browser.get(results).status_code == 200
    assert app.test_client().get(results, headers=bearing(token)).status_code == 200

    store.set_disabled(named(store, "lovelace"), True)
    assert not is_signed_in(browser)
    assert browser.get(results).status_code == 401
    assert app.test_client().get(results, headers=bearing(token)).status_code == 401
    assert app.test_client().post(batch, headers=bearing(token), data=report()).status_code == 401
    assert attempt(app.test_client(), "lovelace", phrase("lovelace")).status_code == 401


def test_a_reopened_account_signs_in_anew(app: Flask, store: Store) -> None:
    browser = signed_in(app)
    store.set_disabled(named(store, "lovelace"), True)
    store.set_disabled(named(store, "lovelace"), False)
    assert not is_signed_in(browser)
    signed_in(app)


def test_disabling_one_account_leaves_the_others_alone(app: Flask, store: Store) -> None:
    browser, token = signed_in(app, "hopper"), token_of(store, "hopper")
    store.set_disabled(named(store, "lovelace"), True)
    assert is_signed_in(browser)
    answer = app.test_client().get("/api/surveys/exam/results", headers=bearing(token))
    assert code_of(answer) == "forbidden"


# changing the password


def test_a_new_password_ends_all_other_sessions_and_keeps_ones_own(app: Flask) -> None:
    mine, elsewhere, hoppers = signed_in(app), signed_in(app), signed_in(app, "hopper")
    before = cookie_of(mine)
    assert change(mine, phrase("lovelace"), "a new long password").status_code == 302
    assert "The password was changed." in mine.get("/account").text
    assert is_signed_in(hoppers)
    for ended in (elsewhere, with_cookie(app, before)):
        assert not is_signed_in(ended)
        assert ended.get("/api/surveys/exam/results").status_code == 401
    assert attempt(app.test_client(), "lovelace", phrase("lovelace")).status_code == 401
    assert attempt(app.test_client(), "lovelace", "a new long password").status_code == 302


@pytest.mark.parametrize(
    ("old", "new", "again", "says"),
    [
        ("not the password", "a new long password", "a new long password", "The current password is wrong."),
        (phrase("lovelace"), "a new long password", "another password", "The two new passwords differ."),
        (phrase("lovelace"), "too short", "too short", "has 10 to 200 characters"),
        (phrase("lovelace"), "x" * 201, "x" * 201, "has 10 to 200 characters"),
        ("", "a new long password", "a new long password", "has 10 to 200 characters"),
    ],
)
def test_a_password_that_may_not_change_changes_nothing(
    app: Flask, store: Store, old: str, new: str, again: str, says: str
) -> None:
    mine, elsewhere, before = signed_in(app), signed_in(app), named(store, "lovelace")
    assert change(mine, old, new, again).status_code == 302
    assert says in mine.get("/account").text
    assert named(store, "lovelace") == before
    assert is_signed_in(elsewhere)


def test_nobody_changes_a_password_without_a_session(app: Flask, store: Store) -> None:
    browser, before = app.test_client(), named(store, "lovelace")
    form = {"old": phrase("lovelace"), "new": "a new long password", "again": "a new long password"}
    away = browser.post("/account/password", data={**form, "csrf_token": csrf(browser)})
    assert away.status_code == 302
    assert away.headers["Location"].startswith("/login")
    assert named(store, "lovelace") == before


# what belongs to somebody else


def test_private_results_are_for_their_owner_only(app: Flask, store: Store) -> None:
    results = "/api/surveys/exam/results"
    own = [
        signed_in(app).get(results),
        app.test_client().get(results, headers=bearing(token_of(store, "lovelace"))),
    ]
    for allowed in own:
        assert allowed.status_code == 200
        assert "survey" in json.loads(allowed.data)
        assert allowed.headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in allowed.headers
    others = [
        signed_in(app, "hopper").get(results),
        app.test_client().get(results, headers=bearing(token_of(store, "hopper"))),
        signed_in(app).get(results, headers=bearing(token_of(store, "hopper"))),
    ]
    assert [(refused.status_code, code_of(refused)) for refused in others] == [(403, "forbidden")] * 3
    assert code_of(app.test_client().get(results)) == "unauthorized"


def test_public_results_are_for_everyone(app: Flask) -> None:
    for browser in (app.test_client(), signed_in(app, "hopper")):
        assert browser.get("/api/surveys/census/results").status_code == 200


def test_a_batch_is_taken_from_the_owners_token_only(app: Flask, store: Store) -> None:
    batch = "/api/surveys/exam/reports/batch"
    published = store.newest("exam")
    assert published is not None
    refusals = [
        (app.test_client().post(batch, data=report()), 401),
        (app.test_client().post(batch, data=report(), headers=bearing(token_of(store, "hopper"))), 403),
        (signed_in(app).post(batch, data=report(), headers=bearing(token_of(store, "hopper"))), 403),
        (signed_in(app, "hopper").post(batch, data=report()), 401),
    ]
    for refused, status in refusals:
        assert refused.status_code == status
        assert code_of(refused) in ("unauthorized", "forbidden")
    taken = app.test_client().post(batch, data=report(), headers=bearing(token_of(store, "lovelace")))
    assert (taken.status_code, json.loads(taken.data)["stored"]) == (200, 1)
    store.set_state(published, State.CLOSED)
    closed = store.newest("exam")
    assert closed is not None
    assert store.snapshot(closed).reports == 1


def test_a_session_alone_sends_no_batch_since_another_site_could_ride_on_it(app: Flask) -> None:
    refused = signed_in(app).post("/api/surveys/exam/reports/batch", data=report())
    assert (refused.status_code, code_of(refused)) == (401, "unauthorized")


def test_a_slug_cannot_be_taken_over(store: Store) -> None:
    with pytest.raises(StoreError, match="belongs to somebody else"):
        publish(store, named(store, "hopper"), {"title": "Another exam"})


def test_a_draft_looks_like_nothing_even_to_its_owner(app: Flask, store: Store) -> None:
    draft = store.newest("ready")
    assert draft is not None
    browser, headers = signed_in(app), bearing(token_of(store, "lovelace"))

    def answers(slug: str) -> list[tuple[int, bytes]]:
        place = f"/api/surveys/{slug}"
        found = [
            browser.get(f"/s/{slug}"),
            browser.get(place),
            browser.get(place, query_string={"digest": draft.survey.digest}),
            browser.get(f"{place}/results"),
            browser.get(f"{place}/results", headers=headers),
            browser.post(f"{place}/reports", data=report("ready")),
            browser.post(f"{place}/reports/batch", data=report("ready"), headers=headers),
        ]
        return [(response.status_code, response.data) for response in found]

    assert answers("ready") == answers("unknown")
    assert {status for status, _ in answers("ready")} == {404}


def test_a_draft_of_a_new_version_does_not_show_beside_the_open_one(app: Flask, store: Store) -> None:
    draft = publish(store, named(store, "lovelace"), {"title": "Not yet to be seen"}, State.READY)
    browser = app.test_client()
    assert browser.get("/api/surveys/exam", query_string={"digest": draft.survey.digest}).status_code == 404
    for path in ("/s/exam", "/api/surveys/exam"):
        shown = browser.get(path)
        assert shown.status_code == 200
        assert "Not yet to be seen" not in shown.text


# forged requests


@pytest.mark.parametrize("kind", ["missing", "empty", "wrong", "of another session", "tampered"])
def test_without_the_right_csrf_token_nothing_happens(app: Flask, store: Store, kind: str) -> None:
    stranger, browser, before = app.test_client(), signed_in(app), named(store, "lovelace")
    right = {stranger: csrf(stranger), browser: csrf(browser, "/account")}

    def forged(victim: FlaskClient) -> dict[str, str]:
        tokens = {
            "empty": "",
            "wrong": "x",
            "of another session": csrf(app.test_client()),
            "tampered": f"x{right[victim][1:]}",
        }
        return {"csrf_token": tokens[kind]} if kind in tokens else {}

    sign_in = {"name": "lovelace", "password": phrase("lovelace")}
    renew = {"old": phrase("lovelace"), "new": "a new long password", "again": "a new long password"}
    assert stranger.post("/login", data=sign_in | forged(stranger)).status_code == 400
    assert browser.post("/account/password", data=renew | forged(browser)).status_code == 400
    assert browser.post("/logout", data=forged(browser)).status_code == 400
    assert not is_signed_in(stranger)
    assert is_signed_in(browser)
    assert named(store, "lovelace") == before

    assert stranger.post("/login", data=sign_in | {"csrf_token": right[stranger]}).status_code == 302
    assert browser.post("/logout", data={"csrf_token": right[browser]}).status_code == 302


def test_a_csrf_token_in_the_address_is_none(app: Flask) -> None:
    browser = signed_in(app)
    token = csrf(browser, "/account")
    assert browser.post("/logout", query_string={"csrf_token": token}).status_code == 400
    assert is_signed_in(browser)


# sessions


def test_a_session_from_before_signing_in_does_not_become_signed_in(app: Flask) -> None:
    attacker = app.test_client()
    planted_token = csrf(attacker)
    with attacker.session_transaction() as session:
        session["planted"] = "by the attacker"
    planted = cookie_of(attacker)
    victim = with_cookie(app, planted)
    form = {"name": "lovelace", "password": phrase("lovelace"), "csrf_token": planted_token}
    assert victim.post("/login", data=form).status_code == 302
    assert is_signed_in(victim)
    assert cookie_of(victim) != planted
    assert not is_signed_in(attacker)
    with victim.session_transaction() as session:
        assert "planted" not in session
    assert victim.post("/logout", data={"csrf_token": planted_token}).status_code == 400
    assert is_signed_in(victim)


def test_signing_in_as_somebody_else_replaces_the_session(app: Flask) -> None:
    browser = signed_in(app, "lovelace")
    assert attempt(browser, "hopper", phrase("hopper")).status_code == 302
    assert browser.get("/api/surveys/exam/results").status_code == 403


def test_sessions_survive_a_restart(app: Flask, path: Path) -> None:
    cookie = cookie_of(signed_in(app))
    again = create_app({"DB": f"sqlite:///{path}", "RATE_LIMIT": "off"})
    assert is_signed_in(with_cookie(again, cookie))
    get_store(again).close()


def test_every_server_has_a_secret_of_its_own(app: Flask, tmp_path: Path) -> None:
    other = create_app({"DB": f"sqlite:///{tmp_path}/other/candor.db", "RATE_LIMIT": "off", "SECRET_KEY": "configured"})
    assert other.secret_key != app.secret_key
    assert isinstance(other.secret_key, bytes)
    assert len(other.secret_key) >= 32
    for name in ("administrator", "lovelace", "hopper"):
        add_user(get_store(other), name, phrase(name))
    assert not is_signed_in(with_cookie(app, cookie_of(signed_in(other))))
    get_store(other).close()


def signed_with(app: Flask, key: str | bytes, content: dict[str, Any]) -> str:
    """A session cookie as somebody makes it who holds a key."""
    forger = Flask("forger")
    forger.secret_key = key
    serializer = app.session_interface.get_signing_serializer(forger)  # type: ignore[attr-defined]
    made: str = serializer.dumps(content)
    return made


def test_a_forged_cookie_does_not_work(app: Flask, store: Store) -> None:
    user = named(store, "lovelace")
    content = {"_user_id": f"{user.key}:{user.stamp}", "_fresh": True}
    assert is_signed_in(with_cookie(app, signed_with(app, store.secret_key(), content)))
    for key in ("dev", "secret", b"\0" * 32, store.secret_key()[:-1], store.secret_key().hex()):
        assert not is_signed_in(with_cookie(app, signed_with(app, key, content))), key


def test_a_session_of_a_disabled_account_does_not_work_even_with_its_newest_stamp(app: Flask, store: Store) -> None:
    store.set_disabled(named(store, "lovelace"), True)
    user = named(store, "lovelace")
    content = {"_user_id": f"{user.key}:{user.stamp}", "_fresh": True}
    assert not is_signed_in(with_cookie(app, signed_with(app, store.secret_key(), content)))


@pytest.mark.parametrize("identity", ["", ":", "2", "2:", ":x", "x:y", "-1:x", "99:x", "2:0000000000000000", "2 :x"])
def test_a_session_needs_the_stamp_of_its_account(app: Flask, store: Store, identity: str) -> None:
    cookie = signed_with(app, store.secret_key(), {"_user_id": identity, "_fresh": True})
    assert not is_signed_in(with_cookie(app, cookie))


def test_a_tampered_cookie_does_not_work(app: Flask) -> None:
    right = cookie_of(signed_in(app))
    others = cookie_of(signed_in(app, "hopper"))
    content, _, signature = right.rpartition(".")
    payload, _, moment = content.rpartition(".")
    swapped = "A" if signature[0] != "A" else "B"
    for tampered in (
        "",
        ".",
        "...",
        payload,
        content,
        f"{content}.",
        f"{content}.{swapped}{signature[1:]}",
        f"{content}.{others.rpartition('.')[2]}",
        f"{others.rpartition('.')[0]}.{signature}",
        f"{payload}.{'A' + moment[1:]}.{signature}",
        f"x{right}",
        right[::-1],
        "x" * 4000,
    ):
        assert not is_signed_in(with_cookie(app, tampered)), tampered
    assert is_signed_in(with_cookie(app, right))


def test_a_made_up_cookie_to_be_remembered_by_does_not_work(app: Flask, store: Store) -> None:
    user = named(store, "lovelace")
    for value in (f"{user.key}:{user.stamp}", f"{user.key}:{user.stamp}|{'0' * 128}", f"{user.key}|"):
        assert not is_signed_in(with_cookie(app, value, "remember_token"))


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_session_cookies_are_kept_from_scripts_and_other_sites_and_plain_http(app: Flask, scheme: str) -> None:
    how: dict[str, Any] = {"base_url": f"{scheme}://localhost", "headers": {"Referer": f"{scheme}://localhost/login"}}
    browser = app.test_client()
    first = browser.get("/login", **how)
    form = {"name": "lovelace", "password": phrase("lovelace"), "csrf_token": csrf(browser, **how)}
    second = browser.post("/login", data=form, **how)
    assert second.status_code == 302
    for response in (first, second):
        cookies = response.headers.get_all("Set-Cookie")
        assert len(cookies) == 1
        value, *attributes = cookies[0].split("; ")
        assert value.startswith(f"{COOKIE}=")
        assert set(attributes) == {"HttpOnly", "SameSite=Lax", "Path=/", *(["Secure"] if scheme == "https" else [])}


def test_a_request_cannot_call_itself_secure(app: Flask) -> None:
    response = app.test_client().get("/login", headers={"X-Forwarded-Proto": "https"})
    assert "Secure" not in response.headers["Set-Cookie"]


def test_behind_a_trusted_proxy_cookies_are_secure(path: Path) -> None:
    proxied = create_app({"DB": f"sqlite:///{path}", "RATE_LIMIT": "off", "TRUSTED_PROXIES": 1})
    response = proxied.test_client().get("/login", headers={"X-Forwarded-Proto": "https"})
    assert "; Secure" in response.headers["Set-Cookie"]
    get_store(proxied).close()


@pytest.mark.parametrize("who", ["a stranger", "a researcher", "somebody with an old cookie"])
def test_respondents_get_no_cookie(app: Flask, who: str) -> None:
    browser = signed_in(app) if who == "a researcher" else app.test_client()
    if who == "somebody with an old cookie":
        browser.set_cookie(COOKIE, "no longer valid")
    responses = [browser.get(path, buffered=True) for path in RESPONDENT_PATHS]
    responses += [browser.post("/api/surveys/exam/reports", data=body) for body in (report(), b"{")]
    responses.append(browser.options("/api/surveys/exam/reports"))
    assert [one.status_code for one in responses] == [200] * len(RESPONDENT_PATHS) + [201, 400, 204]
    assert [one.headers.get_all("Set-Cookie") for one in responses] == [[]] * len(responses)


# guessing


def test_guessing_is_limited_to_ten_attempts_a_minute(limited: Flask) -> None:
    browser = limited.test_client()
    for guess in range(ATTEMPTS):
        assert attempt(browser, "lovelace", f"guess {guess}").status_code == 401
    assert attempt(browser, "lovelace", phrase("lovelace")).status_code == 429
    assert attempt(browser, "hopper", phrase("hopper")).status_code == 429
    assert not is_signed_in(browser)
    assert browser.get("/login").status_code == 200


def test_nine_wrong_guesses_do_not_lock_anyone_out(limited: Flask) -> None:
    browser = limited.test_client()
    for guess in range(ATTEMPTS - 1):
        assert attempt(browser, "lovelace", f"guess {guess}").status_code == 401
    assert attempt(browser, "lovelace", phrase("lovelace")).status_code == 302


def test_a_new_session_and_a_made_up_address_give_no_new_attempts(limited: Flask) -> None:
    for guess in range(ATTEMPTS + 1):
        headers = {"X-Forwarded-For": f"192.0.2.{guess}", "Forwarded": f"for=192.0.2.{guess}"}
        response = attempt(limited.test_client(), "lovelace", f"guess {guess}", headers=headers)
    assert response.status_code == 429


def test_one_who_guesses_does_not_lock_out_another_address(limited: Flask) -> None:
    for guess in range(ATTEMPTS + 1):
        attempt(limited.test_client(), "lovelace", f"guess {guess}")
    elsewhere = {"REMOTE_ADDR": "192.0.2.1"}
    allowed = attempt(limited.test_client(), "lovelace", phrase("lovelace"), environ_overrides=elsewhere)
    assert allowed.status_code == 302


def test_guessing_the_current_password_in_a_session_is_limited_too(limited: Flask, store: Store) -> None:
    browser, before = signed_in(limited), named(store, "lovelace")
    for guess in range(ATTEMPTS):
        assert change(browser, f"guess {guess}", "a new long password").status_code == 302
    assert change(browser, phrase("lovelace"), "a new long password").status_code == 429
    assert named(store, "lovelace") == before


# tokens


def test_only_hashes_of_tokens_are_on_disk(store: Store, path: Path) -> None:
    tokens = [token_of(store, "lovelace") for _ in range(3)]
    kept = on_disk(path)
    assert len(set(tokens)) == 3
    for token in tokens:
        assert len(token) >= 43
        assert token.encode() not in kept
        assert hashlib.sha256(token.encode()).digest() in kept


@pytest.mark.parametrize(
    "header",
    [
        "", "Bearer", "Bearer ", "Bearer  {}", "Bearer {} ", "Bearer {}x", "Bearer {}=", "Bearer {},", "{}", "Basic {}", "Token {}",
        "Bearer {}, Bearer {}", "Bearer {} {}", "Bearer x{}", "BearerX {}", "Bearer ' or 1=1 --", "Bearer 0123456789012345678901234567890123456789012",
        "Bearer \xff", "Bearer " + "x" * 5000, "Basic bG92ZWxhY2U6Y29ycmVjdCBob3JzZSBvZiBsb3ZlbGFjZQ==", "Bearer null", "Bearer *",
    ],
)  # fmt: skip
def test_a_header_that_carries_no_known_token_is_refused(app: Flask, store: Store, header: str) -> None:
    token = token_of(store, "lovelace")
    headers = {"Authorization": header.replace("{}", token)}
    for refused in (
        app.test_client().get("/api/surveys/exam/results", headers=headers),
        app.test_client().post("/api/surveys/exam/reports/batch", headers=headers, data=report()),
        signed_in(app).get("/api/surveys/exam/results", headers=headers),
    ):
        assert (refused.status_code, code_of(refused)) == (401, "unauthorized")
        assert token not in everything(refused)


def test_the_hash_of_a_token_is_no_token(app: Flask, store: Store) -> None:
    stolen = secret_hash(token_of(store, "lovelace")).hex()
    assert app.test_client().get("/api/surveys/exam/results", headers=bearing(stolen)).status_code == 401


def test_a_token_counts_in_its_header_only(app: Flask, store: Store) -> None:
    token, browser = token_of(store, "lovelace"), app.test_client()
    for name in ("token", "access_token", "Authorization"):
        query = {name: f"Bearer {token}" if name == "Authorization" else token}
        assert browser.get("/api/surveys/exam/results", query_string=query).status_code == 401
    assert not is_signed_in(with_cookie(app, token))
    assert browser.get("/account", headers=bearing(token)).status_code == 302


def test_tokens_and_passwords_are_neither_logged_nor_sent_back(
    app: Flask, store: Store, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    own, others, unknown = token_of(store, "lovelace"), token_of(store, "hopper"), new_token()
    browser = signed_in(app)
    said = [attempt(app.test_client(), name, phrase("hopper")) for name in ("lovelace", "hopper", "turing")]
    said.append(change(browser, phrase("lovelace"), "a new long password"))
    for token in (own, others, unknown):
        said.append(app.test_client().get("/api/surveys/exam/results", headers=bearing(token)))
        said.append(app.test_client().post("/api/surveys/exam/reports/batch", headers=bearing(token), data=report()))
        said.append(app.test_client().get("/nothing", headers=bearing(token)))

    def fail(*_: object) -> None:
        raise RuntimeError("the store is broken")

    monkeypatch.setattr(store, "snapshot", fail)
    broken = app.test_client().get("/api/surveys/exam/results", headers=bearing(own))
    assert (broken.status_code, code_of(broken)) == (500, "internal_error")
    assert "the store is broken" in caplog.text
    assert "the store is broken" not in broken.text
    for secret in (own, others, unknown, *map(phrase, ("lovelace", "hopper")), "a new long password"):
        assert secret not in caplog.text
        for response in (*said, broken):
            assert secret not in everything(response)


# addresses and headers


@pytest.mark.parametrize("target", ["/account", "/s/exam", "/s/exam?x=1&y=2", "/s/exam#sha256=0", "/é"])
def test_after_signing_in_one_goes_where_one_wanted_on_this_server(app: Flask, target: str) -> None:
    response = attempt(app.test_client(), "lovelace", phrase("lovelace"), target)
    assert response.headers["Location"] == target.replace("é", "%C3%A9")


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example", "///evil.example", "////evil.example", "/\\evil.example", "\\\\evil.example", "\\/evil.example", "/\\/evil.example",
        "https://evil.example", "HTTPS://evil.example", "https:evil.example", "http:///evil.example", "https:/\\evil.example", "ftp://evil.example",
        "javascript:alert(1)", "data:text/html,x", "evil.example", "@evil.example", ".evil.example", ":80", "?x", "#x",
        " //evil.example", "\t//evil.example", "/\t/evil.example", "/\n/evil.example", "\n//evil.example", "/\r/evil.example", "/\x00/evil.example",
        "/x\r\nX-Injected: y", "/x\nX-Injected: y", "/x\r\n\r\n<script>", "/x\u2028y", "/x\\..\\..\\evil.example", "//localhost@evil.example", "//[", "http://[",
    ],
)  # fmt: skip
def test_no_sign_in_leads_to_another_server(app: Flask, target: str) -> None:
    browser = app.test_client()
    assert attempt(browser, "lovelace", "wrong", target).status_code == 401
    response = attempt(browser, "lovelace", phrase("lovelace"), target)
    assert (response.status_code, response.headers["Location"]) == (302, "/account")
    assert "X-Injected" not in response.headers


@pytest.mark.parametrize(
    "target", ["/.//evil.example", "/x/..//evil.example", "/@evil.example", "/%09/evil.example", "/%5cevil.example", "/%2f/evil.example", "/%0d%0aX-Injected:y", "/:80", "/／evil.example"]
)  # fmt: skip
def test_an_odd_path_stays_a_path_on_this_server(app: Flask, target: str) -> None:
    response = attempt(app.test_client(), "lovelace", phrase("lovelace"), target)
    location = response.headers["Location"]
    assert re.fullmatch(r"/(?![/\\])[!-~]*", location)
    assert urlsplit(urljoin("http://localhost/login", location))[:2] == ("http", "localhost")
    assert "X-Injected" not in response.headers


@pytest.mark.parametrize("wanted", ["/account", "/account?next=//evil.example", "/account?x=%0d%0aX-Injected:y"])
def test_the_way_to_the_sign_in_page_stays_on_this_server(app: Flask, wanted: str) -> None:
    response = app.test_client().get(wanted)
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/login?next=%2Faccount")
    assert "X-Injected" not in response.headers


@pytest.mark.parametrize(
    "name",
    [
        "../__init__.py", "..%2f__init__.py", "%2e%2e/__init__.py", "%2e%2e%2f__init__.py", "..%5c__init__.py", "..%252f__init__.py", "./index.js", "%2fetc%2fpasswd",
        "/etc/passwd", "index.js/..", "index.js%00", "index.js%0a", "index.js%00.js", "..", ".", "", "%00", "INDEX.JS", "index%2ejs%2f", "....//__init__.py", "..js", ".js", "index.mjs", "x.js",
    ],
)  # fmt: skip
def test_only_the_browsers_client_is_served_as_script(app: Flask, name: str) -> None:
    response = app.test_client().get(f"/client/js/{name}", buffered=True)
    assert response.status_code == 404
    assert "X-Injected" not in response.headers


def test_the_browsers_client_itself_is_served(app: Flask) -> None:
    response = app.test_client().get("/client/js/index.js", buffered=True)
    assert response.status_code == 200
    assert response.mimetype == "text/javascript"


@pytest.mark.parametrize(
    "slug",
    [
        "..", "%2e%2e", "..%2fexam", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "exam%2f..", "exam%00", "exam%0a", "exam%0d%0aX-Injected:%20y", "EXAM", "exam%20", "%ff",
        "%ed%a0%80", "'%20or%201=1--", "exam%25", "ex_m", "<script>alert(1)</script>", "x" * 5000,
    ],
)  # fmt: skip
def test_a_slug_that_is_none_is_not_found(app: Flask, slug: str) -> None:
    browser = app.test_client()
    for response in (
        browser.get(f"/s/{slug}"),
        browser.get(f"/api/surveys/{slug}"),
        browser.get(f"/api/surveys/{slug}/results"),
        browser.post(f"/api/surveys/{slug}/reports", data=report()),
    ):
        assert response.status_code in (404, 400)
        assert "X-Injected" not in response.headers
        assert "<script>" not in everything(response)


@pytest.mark.parametrize("header", ["Host", "X-Forwarded-Host", "X-Forwarded-Prefix", "Forwarded", "X-Original-URL"])
def test_a_host_that_an_attacker_names_does_not_come_back(app: Flask, header: str) -> None:
    headers = {header: "host=evil.example" if header == "Forwarded" else "evil.example"}
    paths = ["/login", "/account", "/nothing", "/s/unknown", "/openapi.json", "/healthz", "/client/js/index.js"]
    paths += ["/api/surveys/exam", "/api/surveys/exam/results", "/api/surveys/census/results", "/api/surveys/unknown"]
    if header != "Host":  # the page of a survey shows the command line to answer it, with the address it was opened at
        paths.append("/s/exam")
    browser = app.test_client(use_cookies=False)
    for cookie in ("", f"{COOKIE}={cookie_of(signed_in(app))}"):
        answers = {path: browser.get(path, headers=headers | {"Cookie": cookie}, buffered=True) for path in paths}
        assert answers["/account"].status_code == (200 if cookie else 302)
        for path, answer in answers.items():
            assert "evil.example" not in everything(answer), path


@pytest.mark.parametrize("header", ["Host", "X-Forwarded-Host"])
def test_signing_in_under_another_host_leads_nowhere_else(app: Flask, header: str) -> None:
    first = app.test_client()
    form = {"name": "lovelace", "password": phrase("lovelace"), "csrf_token": csrf(first)}
    headers = {header: "evil.example", "Cookie": f"{COOKIE}={cookie_of(first)}"}
    response = app.test_client(use_cookies=False).post("/login", data=form, headers=headers)
    assert (response.status_code, response.headers["Location"]) == (302, "/account")
    assert "evil.example" not in everything(response)


def test_every_page_forbids_what_it_does_not_need(app: Flask, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, stranger = signed_in(app), app.test_client()
    pages = {
        "sign in": stranger.get("/login"),
        "wrong password": attempt(stranger, "lovelace", "wrong"),
        "redirect": stranger.get("/account"),
        "forged": stranger.post("/login"),
        "account": browser.get("/account"),
        "survey": stranger.get("/s/exam"),
        "no survey": stranger.get("/s/unknown"),
        "nothing": stranger.get("/nothing"),
        "wrong method": stranger.delete("/login"),
    }

    def fail(*_: object) -> None:
        raise RuntimeError("the store is broken")

    monkeypatch.setattr(store, "current", fail)
    pages["broken"] = stranger.get("/s/exam")
    assert [page.status_code for page in pages.values()] == [200, 401, 302, 400, 200, 200, 404, 404, 405, 500]
    for name, page in pages.items():
        assert page.mimetype == "text/html", name
        policies = page.headers.get_all("Content-Security-Policy")
        assert len(policies) == 1, name
        policy = {directive: sources for directive, *sources in map(str.split, policies[0].split(";"))}
        for directive in ("default-src", "frame-ancestors", "base-uri"):
            assert policy[directive] == ["'none'"], name
        assert policy["form-action"] in (["'self'"], ["'none'"]), name
        for sources in policy.values():
            assert not {"'unsafe-inline'", "'unsafe-eval'", "*", "http:", "https:"} & set(sources), name
        assert page.headers["X-Content-Type-Options"] == "nosniff", name
        assert page.headers["Referrer-Policy"] in ("no-referrer", "same-origin"), name


# what a review found


def test_signing_in_over_https_needs_no_referer(app: Flask) -> None:
    browser = app.test_client()
    response = attempt(browser, "lovelace", phrase("lovelace"), base_url="https://localhost")
    assert response.status_code == 302


@pytest.mark.parametrize("body", ['{"name":5,"password":"x"}', "[1]", '{"name":{"a":1},"password":"x"}', "null"])
def test_json_is_no_form(app: Flask, body: str) -> None:
    browser = app.test_client()
    headers = {"X-CSRFToken": csrf(browser)}
    response = browser.post("/login", data=body, headers=headers, content_type="application/json")
    assert response.status_code == 401


@pytest.mark.parametrize("place", ["/s//exam", "/api//surveys/exam", "//s/exam"])
def test_no_redirect_repeats_a_foreign_host(app: Flask, place: str) -> None:
    response = app.test_client().get(place, headers={"Host": "evil.example"})
    assert response.status_code == 404
    assert "evil.example" not in everything(response)


def test_a_session_holds_neither_address_nor_agent_not_even_as_a_hash(app: Flask) -> None:
    browser = signed_in(app)
    with browser.session_transaction() as session:
        assert not session.get("_id")


def test_a_copied_cookie_does_not_outlive_signing_out(app: Flask) -> None:
    browser = signed_in(app)
    thief = with_cookie(app, cookie_of(browser))
    assert is_signed_in(thief)
    browser.post("/logout", data={"csrf_token": csrf(browser, "/account")})
    assert not is_signed_in(thief)


def test_pages_of_an_account_are_not_kept_by_the_browser(app: Flask) -> None:
    assert signed_in(app).get("/account").headers["Cache-Control"] == "no-store"
