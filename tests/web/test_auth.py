"""Nobody gets in: signing in and out, changing the password, and guessing.

Every refusal stands beside the same request that is allowed, so that no test passes because nothing works.
"""

import re

import pytest
from flask import Flask

from survey_app.store import Store
from survey_app.web.sessions import IDENTITY
from tests.console import notices
from tests.fixtures import phrase
from tests.golden_files import Golden
from tests.sign_in import (
    CountingHasher,
    attempt,
    change,
    cookie_of,
    csrf,
    find_user,
    is_signed_in,
    response_text,
    signed_in,
    with_cookie,
)

ATTEMPTS = 10


# signing in and out


def test_a_researcher_who_signs_in_sees_the_account_until_signing_out(app: Flask) -> None:
    browser = app.test_client()
    away = browser.get("/account")
    assert (away.status_code, away.headers["Location"]) == (302, "/login?next=/account")
    assert attempt(browser, "ada", phrase("ada")).headers["Location"] == "/account"
    assert "ada" in browser.get("/account").text
    out = browser.post("/logout", data={"csrf_token": csrf(browser, "/account")})
    assert (out.status_code, out.headers["Location"]) == (302, "/login")
    assert not is_signed_in(browser)
    with browser.session_transaction() as session:
        assert IDENTITY not in session


def test_an_account_page_lists_only_ones_own_surveys(app: Flask) -> None:
    assert "/s/exam" in signed_in(app, "ada").get("/account").text
    assert "/s/exam" not in signed_in(app, "eve").get("/account").text


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ada", "wrong"),
        ("ada", phrase("ada").upper()),
        ("ada", phrase("ada") + " "),
        ("ada", phrase("ada")[:-1]),
        ("ada", phrase("eve")),
        ("ada", ""),
        ("ada", "x" * 50_000),
        ("ADA", phrase("ada")),
        ("ada\x00", phrase("ada")),
        ("' or 1=1 --", "' or 1=1 --"),
        ("", phrase("ada")),
        ("x" * 50_000, phrase("ada")),
    ],
)
def test_nothing_but_the_right_name_and_password_signs_in(app: Flask, name: str, said: str) -> None:
    browser = app.test_client()
    assert attempt(browser, name, said).status_code == 401
    assert not is_signed_in(browser)


def test_the_stored_hash_is_no_password(app: Flask, store: Store) -> None:
    browser = app.test_client()
    assert attempt(browser, "ada", find_user(store, "ada").password).status_code == 401
    assert not is_signed_in(browser)


def test_wrong_password_unknown_name_and_disabled_account_get_one_answer_for_one_price(
    app: Flask, store: Store, hasher: CountingHasher, golden: Golden
) -> None:
    store.set_disabled(find_user(store, "eve"), True)
    answers = set()
    for name, said in (("ada", "not the password"), ("turing", "not the password"), ("eve", phrase("eve"))):
        browser, before = app.test_client(), hasher.checks
        response = attempt(browser, name, said)
        assert hasher.checks == before + 1
        assert said not in response_text(response)
        assert not is_signed_in(browser)
        page = re.sub(r'(name="csrf_token"[^>]*value=)"[^"]+"', r"\1", response.text)
        answers.add((response.status_code, page.replace(f'value="{name}"', "value")))
    assert len(answers) == 1
    _, page = answers.pop()
    assert '<p class="said error">' in page
    golden(notices(page))


def test_a_name_that_is_markup_comes_back_as_text(app: Flask) -> None:
    page = attempt(app.test_client(), '"><script>alert(1)</script>', "wrong").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_a_link_cannot_sign_anyone_out(app: Flask) -> None:
    browser = signed_in(app)
    assert browser.get("/logout").status_code == 405
    assert is_signed_in(browser)


# changing the password


def test_a_new_password_ends_all_other_sessions_and_keeps_ones_own(app: Flask, golden: Golden) -> None:
    mine, elsewhere, eves = signed_in(app), signed_in(app), signed_in(app, "eve")
    before = cookie_of(mine)
    assert change(mine, phrase("ada"), "a new long password").status_code == 302
    page = mine.get("/account").text
    assert '<p class="said status">' in page
    golden(notices(page))
    assert is_signed_in(eves)
    for ended in (elsewhere, with_cookie(app, before)):
        assert not is_signed_in(ended)
        assert ended.get("/api/surveys/exam/results").status_code == 401
    assert attempt(app.test_client(), "ada", phrase("ada")).status_code == 401
    assert attempt(app.test_client(), "ada", "a new long password").status_code == 302


BAD_CHANGES = {
    "wrong": ("not the password", "a new long password", "a new long password"),
    "different": (phrase("ada"), "a new long password", "another password"),
    "short": (phrase("ada"), "too short", "too short"),
    "long": (phrase("ada"), "x" * 201, "x" * 201),
    "missing": ("", "a new long password", "a new long password"),
}


def test_a_password_that_may_not_change_changes_nothing(app: Flask, store: Store, golden: Golden) -> None:
    mine, elsewhere, before = signed_in(app), signed_in(app), find_user(store, "ada")
    reasons = {}
    for name, (old, new, again) in BAD_CHANGES.items():
        assert change(mine, old, new, again).status_code == 302
        page = mine.get("/account").text
        assert '<p class="said error">' in page
        reasons[name] = notices(page)
        assert find_user(store, "ada") == before
        assert is_signed_in(elsewhere)
    golden("\n".join(f"{name}: {reason}" for name, reason in reasons.items()))


def test_nobody_changes_a_password_without_a_session(app: Flask, store: Store) -> None:
    browser, before = app.test_client(), find_user(store, "ada")
    form = {"old": phrase("ada"), "new": "a new long password", "again": "a new long password"}
    away = browser.post("/account/password", data={**form, "csrf_token": csrf(browser)})
    assert away.status_code == 302
    assert away.headers["Location"].startswith("/login")
    assert find_user(store, "ada") == before


# guessing


def test_guessing_is_limited_to_ten_attempts_a_minute(limited_app: Flask) -> None:
    browser = limited_app.test_client()
    for guess in range(ATTEMPTS):
        assert attempt(browser, "ada", f"guess {guess}").status_code == 401
    assert attempt(browser, "ada", phrase("ada")).status_code == 429
    assert attempt(browser, "eve", phrase("eve")).status_code == 429
    assert not is_signed_in(browser)
    assert browser.get("/login").status_code == 200


def test_nine_wrong_guesses_do_not_lock_anyone_out(limited_app: Flask) -> None:
    browser = limited_app.test_client()
    for guess in range(ATTEMPTS - 1):
        assert attempt(browser, "ada", f"guess {guess}").status_code == 401
    assert attempt(browser, "ada", phrase("ada")).status_code == 302


def test_a_new_session_and_a_made_up_address_give_no_new_attempts(limited_app: Flask) -> None:
    for guess in range(ATTEMPTS + 1):
        headers = {"X-Forwarded-For": f"192.0.2.{guess}", "Forwarded": f"for=192.0.2.{guess}"}
        response = attempt(limited_app.test_client(), "ada", f"guess {guess}", headers=headers)
    assert response.status_code == 429


def test_one_who_guesses_does_not_lock_out_another_address(limited_app: Flask) -> None:
    for guess in range(ATTEMPTS + 1):
        attempt(limited_app.test_client(), "ada", f"guess {guess}")
    elsewhere = {"REMOTE_ADDR": "192.0.2.1"}
    allowed = attempt(limited_app.test_client(), "ada", phrase("ada"), environ_overrides=elsewhere)
    assert allowed.status_code == 302


def test_guessing_the_current_password_in_a_session_is_limited_too(limited_app: Flask, store: Store) -> None:
    browser, before = signed_in(limited_app), find_user(store, "ada")
    for guess in range(ATTEMPTS):
        assert change(browser, f"guess {guess}", "a new long password").status_code == 302
    assert change(browser, phrase("ada"), "a new long password").status_code == 429
    assert find_user(store, "ada") == before
