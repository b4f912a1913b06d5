"""One's own API tokens on the page of the account: made and shown once, listed, revoked, and gone with the password."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient
from playwright.sync_api import Browser

from survey_app.accounts import find_weakness, hash_secret
from survey_app.store import Store, token_id
from tests.browser import BY_LOOK, DESKTOP, LOOKS, Site, apply_look, overflows, violations, visit
from tests.console import post, sign_in_by_keyboard
from tests.fixtures import TOKEN, phrase
from tests.sign_in import bearer_header, csrf, find_user, read_all_files, signed_in, token_of

RESULTS = "/api/surveys/exam/results"
NEW = "a new long password"


def works(app: Flask, token: str) -> bool:
    return app.test_client().get(RESULTS, headers=bearer_header(token)).status_code == 200


def ids(browser: FlaskClient) -> list[str]:
    return re.findall(r'name="token" value="(\w+)"', browser.get("/account").text)


def change(browser: FlaskClient, **more: str) -> None:
    form = {"old": phrase("ada"), "new": NEW, "again": NEW, "csrf_token": csrf(browser, "/account"), **more}
    assert browser.post("/account/password", data=form).status_code == 302


def test_a_token_is_made_on_the_page_of_the_account_and_shown_once(app: Flask, store: Store) -> None:
    browser = signed_in(app)
    shown = post(browser, "/account/tokens")
    assert (shown.status_code, shown.headers["Cache-Control"]) == (200, "no-store")
    found = re.search(r'id="token" value="([\w-]{43})"', shown.text)
    assert found and works(app, found[1])
    assert found[1] not in browser.get("/account").text
    assert found[1].encode() not in read_all_files(store.path)  # type: ignore[attr-defined]
    assert len(ids(browser)) == 2  # and the one of the installation


def test_a_token_is_listed_by_its_id_and_revoked(app: Flask, store: Store) -> None:
    browser, other = signed_in(app), token_of(store, "ada")
    before = ids(browser)
    assert len(before) == 2 and works(app, TOKEN) and works(app, other)
    for secret in (TOKEN, other):
        assert secret not in browser.get("/account").text
    revoked = token_id(hash_secret(TOKEN))
    assert sorted(before) == sorted([revoked, token_id(hash_secret(other))])
    answer = post(browser, "/account/tokens/revoke", token=revoked)
    assert answer.headers["Location"] == "/account"
    assert re.search(rf'class="said status">[^<]*\b{revoked}\b', browser.get("/account").text)
    assert (works(app, TOKEN), works(app, other)) == (False, True)
    post(browser, "/account/tokens/revoke", token=revoked)
    assert 'class="said error"' in browser.get("/account").text


def test_nobody_revokes_or_makes_a_token_for_somebody_else(app: Flask, store: Store) -> None:
    (mine,) = store.tokens(find_user(store, "ada"))
    eve, nobody = signed_in(app, "eve"), app.test_client()
    post(eve, "/account/tokens/revoke", token=mine.id)
    assert works(app, TOKEN)
    for path in ("/account/tokens", "/account/tokens/revoke"):
        away = nobody.post(path, data={"token": mine.id, "csrf_token": csrf(nobody)})
        assert (away.status_code, away.headers["Location"].partition("?")[0]) == (302, "/login")
        assert signed_in(app).post(path, data={"token": mine.id}).status_code == 400  # without the CSRF token
        assert signed_in(app).get(path).status_code in (404, 405)
    assert works(app, TOKEN) and len(store.tokens(find_user(store, "ada"))) == 1


def test_a_new_password_revokes_all_tokens_and_says_so(app: Flask, store: Store) -> None:
    browser, others = signed_in(app), token_of(store, "eve")
    page = browser.get("/account").text
    assert "revokes your API tokens" in page and 'name="keep_tokens" value="yes"' in page and "checked" not in page
    change(browser)
    assert "API tokens revoked: 1." in browser.get("/account").text
    assert not works(app, TOKEN)
    assert len(store.tokens(find_user(store, "eve"))) == 1 and others
    assert "keep_tokens" not in browser.get("/account").text  # there is nothing to keep


def test_a_new_password_keeps_tokens_on_request(app: Flask) -> None:
    browser = signed_in(app)
    change(browser, keep_tokens="yes")
    assert '<p class="said status">' in browser.get("/account").text
    assert works(app, TOKEN)


@pytest.mark.parametrize("weak", ["1234567890", "password12", "qwertyuiop"])
def test_a_weak_password_changes_nothing_and_the_page_says_what_to_do(app: Flask, store: Store, weak: str) -> None:
    browser, before = signed_in(app), find_user(store, "ada")
    form = {"old": phrase("ada"), "new": weak, "again": weak, "csrf_token": csrf(browser, "/account")}
    browser.post("/account/password", data=form)
    said = browser.get("/account").text
    assert str(find_weakness(weak, "ada")) in said
    assert find_user(store, "ada") == before and works(app, TOKEN)


def test_the_pages_of_tokens_can_be_used_by_everybody(site: Site, browser: Browser) -> None:
    with visit(browser, **DESKTOP) as device:
        page = sign_in_by_keyboard(device, site)
        page.goto(f"{site.origin}/account")
        for _ in range(2):
            for look in LOOKS:
                apply_look(page, look)
                assert violations(page, *(BY_LOOK if look != "phone-light" else ())) == [], look
                assert overflows(page) == [], look
            if page.url.endswith("/account"):
                page.get_by_role("button", name="Make a token").click()
                page.wait_for_selector("#token")
        page.get_by_role("link", name="Back to your account").click()
        revoke = page.get_by_role("button", name=re.compile("Revoke the token"))
        revoke.first.click()
        page.wait_for_selector("#said .said.status")
        assert revoke.count() == 1
        assert device.complaints == []
