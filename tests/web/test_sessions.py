"""Forged requests and forged cookies do nothing, and respondents have no cookie at all."""

import re
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from survey_app import create_app
from survey_app.accounts import add_user
from survey_app.store import Store
from survey_app.web.access import get_store
from survey_app.web.sessions import IDENTITY
from tests.fixtures import phrase
from tests.sign_in import COOKIE, attempt, cookie_of, csrf, find_user, is_signed_in, report, signed_in, with_cookie

RESPONDENT_PATHS = ["/s/exam", "/api/surveys/exam", "/client/js/index.js", "/healthz", "/openapi.json"]


# forged requests


@pytest.mark.parametrize("kind", ["missing", "empty", "wrong", "of another session", "tampered"])
def test_without_the_right_csrf_token_nothing_happens(app: Flask, store: Store, kind: str) -> None:
    stranger, browser, before = app.test_client(), signed_in(app), find_user(store, "ada")
    right = {stranger: csrf(stranger), browser: csrf(browser, "/account")}

    def forged(victim: FlaskClient) -> dict[str, str]:
        tokens = {
            "empty": "",
            "wrong": "x",
            "of another session": csrf(app.test_client()),
            "tampered": f"x{right[victim][1:]}",
        }
        return {"csrf_token": tokens[kind]} if kind in tokens else {}

    sign_in = {"name": "ada", "password": phrase("ada")}
    renew = {"old": phrase("ada"), "new": "a new long password", "again": "a new long password"}
    assert stranger.post("/login", data=sign_in | forged(stranger)).status_code == 400
    assert browser.post("/account/password", data=renew | forged(browser)).status_code == 400
    assert browser.post("/logout", data=forged(browser)).status_code == 400
    assert not is_signed_in(stranger)
    assert is_signed_in(browser)
    assert find_user(store, "ada") == before

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
    form = {"name": "ada", "password": phrase("ada"), "csrf_token": planted_token}
    assert victim.post("/login", data=form).status_code == 302
    assert is_signed_in(victim)
    assert cookie_of(victim) != planted
    assert not is_signed_in(attacker)
    with victim.session_transaction() as session:
        assert "planted" not in session
    assert victim.post("/logout", data={"csrf_token": planted_token}).status_code == 400
    assert is_signed_in(victim)


def test_signing_in_as_somebody_else_replaces_the_session(app: Flask) -> None:
    browser = signed_in(app, "ada")
    assert attempt(browser, "eve", phrase("eve")).status_code == 302
    assert browser.get("/api/surveys/exam/results").status_code == 403


def test_sessions_survive_a_restart(app: Flask, database: Path) -> None:
    cookie = cookie_of(signed_in(app))
    again = create_app({"DB": f"sqlite:///{database}", "RATE_LIMIT": "off"})
    assert is_signed_in(with_cookie(again, cookie))
    get_store(again).close()


def test_every_server_has_a_secret_of_its_own(app: Flask, tmp_path: Path) -> None:
    other = create_app({"DB": f"sqlite:///{tmp_path}/other/candor.db", "RATE_LIMIT": "off", "SECRET_KEY": "configured"})
    assert other.secret_key != app.secret_key
    assert isinstance(other.secret_key, bytes)
    assert len(other.secret_key) >= 32
    for name in ("administrator", "ada", "eve"):
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
    user = find_user(store, "ada")
    content = {IDENTITY: f"{user.key}:{user.stamp}"}
    assert is_signed_in(with_cookie(app, signed_with(app, store.secret_key(), content)))
    for key in ("dev", "secret", b"\0" * 32, store.secret_key()[:-1], store.secret_key().hex()):
        assert not is_signed_in(with_cookie(app, signed_with(app, key, content))), key


def test_a_session_of_a_disabled_account_does_not_work_even_with_its_newest_stamp(app: Flask, store: Store) -> None:
    store.set_disabled(find_user(store, "ada"), True)
    user = find_user(store, "ada")
    content = {IDENTITY: f"{user.key}:{user.stamp}"}
    assert not is_signed_in(with_cookie(app, signed_with(app, store.secret_key(), content)))


WITHOUT_ACCOUNT = [
    *("", ":", "2", "2:", ":x", "x:y", "-1:x", "99:x", "2:0000000000000000", "2 :x", "2:ü", "²:x", f"{2**64}:x"),
    *(2, None, True, ["2", "x"], {"2": "x"}),
]


@pytest.mark.parametrize("identity", WITHOUT_ACCOUNT)
def test_a_session_needs_the_stamp_of_its_account(app: Flask, store: Store, identity: object) -> None:
    browser = with_cookie(app, signed_with(app, store.secret_key(), {IDENTITY: identity}))
    assert browser.get("/account").status_code == 302
    assert attempt(browser, "ada", phrase("ada")).status_code == 302
    assert is_signed_in(browser)


def test_a_cookie_of_version_0_9_asks_for_the_password_again(app: Flask, store: Store) -> None:
    """The library that made it named the account otherwise."""
    user = find_user(store, "ada")
    content = {"_fresh": True, "_id": None, "_user_id": f"{user.key}:{user.stamp}", "_flashes": [["status", "x"]]}
    browser = with_cookie(app, signed_with(app, store.secret_key(), content))
    assert browser.get("/account").headers["Location"] == "/login?next=/account"
    assert attempt(browser, "ada", phrase("ada")).status_code == 302
    assert is_signed_in(browser)


@pytest.mark.parametrize("end", ["password", "disabled", "enabled again", "all sessions"])
def test_a_signed_cookie_with_an_earlier_stamp_does_not_work(app: Flask, store: Store, end: str) -> None:
    cookie, user = cookie_of(signed_in(app)), find_user(store, "ada")
    match end:
        case "password":
            store.set_password(user, user.password, keep_tokens=True)
        case "all sessions":
            store.end_sessions(user)
        case _:
            store.set_disabled(user, True)
            store.set_disabled(user, end == "disabled")
    assert not is_signed_in(with_cookie(app, cookie))


def test_a_tampered_cookie_does_not_work(app: Flask) -> None:
    right = cookie_of(signed_in(app))
    others = cookie_of(signed_in(app, "eve"))
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
    user = find_user(store, "ada")
    for value in (f"{user.key}:{user.stamp}", f"{user.key}:{user.stamp}|{'0' * 128}", f"{user.key}|"):
        assert not is_signed_in(with_cookie(app, value, "remember_token"))


@pytest.mark.parametrize(
    "path", ["/", "/s/census", "/s/none", "/api/surveys/census", "/healthz", "/login", "/static/style.css"]
)
def test_a_visitor_by_https_gets_a_header_to_stay_there(app: Flask, path: str) -> None:
    """A first visit over plain http could be led anywhere; browsers forget what they are told over plain http."""
    plain, secure = (app.test_client().get(path, base_url=f"{scheme}://example.org") for scheme in ("http", "https"))
    assert "Strict-Transport-Security" not in plain.headers
    assert secure.headers["Strict-Transport-Security"] == "max-age=31536000"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_session_cookies_are_kept_from_scripts_and_other_sites_and_plain_http(app: Flask, scheme: str) -> None:
    how: dict[str, Any] = {"base_url": f"{scheme}://localhost", "headers": {"Referer": f"{scheme}://localhost/login"}}
    browser = app.test_client()
    first = browser.get("/login", **how)
    form = {"name": "ada", "password": phrase("ada"), "csrf_token": csrf(browser, **how)}
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


def test_behind_a_trusted_proxy_cookies_are_secure(database: Path) -> None:
    proxied = create_app({"DB": f"sqlite:///{database}", "RATE_LIMIT": "off", "TRUSTED_PROXIES": 1})
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
    assert not [one for one in responses if "Cookie" in one.headers.get("Vary", "")], "they do not depend on a session"


# what a review found


def test_signing_in_over_https_needs_no_referer(app: Flask) -> None:
    browser = app.test_client()
    response = attempt(browser, "ada", phrase("ada"), base_url="https://localhost")
    assert response.status_code == 302


@pytest.mark.parametrize("body", ['{"name":5,"password":"x"}', "[1]", '{"name":{"a":1},"password":"x"}', "null"])
def test_json_is_no_form(app: Flask, body: str) -> None:
    browser = app.test_client()
    headers = {"X-CSRFToken": csrf(browser)}
    response = browser.post("/login", data=body, headers=headers, content_type="application/json")
    assert response.status_code == 401


def test_a_session_holds_neither_address_nor_agent_not_even_as_a_hash(app: Flask) -> None:
    browser = signed_in(app)
    with browser.session_transaction() as session:
        assert {*session} == {IDENTITY, "csrf_token"}
        assert re.fullmatch(r"\d+:[0-9a-f]{16}", session[IDENTITY])


def test_a_copied_cookie_does_not_outlive_signing_out(app: Flask) -> None:
    browser = signed_in(app)
    thief = with_cookie(app, cookie_of(browser))
    assert is_signed_in(thief)
    browser.post("/logout", data={"csrf_token": csrf(browser, "/account")})
    assert not is_signed_in(thief)


def test_pages_of_an_account_are_not_kept_by_the_browser(app: Flask) -> None:
    assert signed_in(app).get("/account").headers["Cache-Control"] == "no-store"
