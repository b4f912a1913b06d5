"""Signing in as a browser does, and the credentials after it: a cookie or a token."""

import json
import re
from pathlib import Path
from typing import Any, Literal

from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

import candor_client
from survey_app.accounts import hash_secret, new_token
from survey_app.store import Store, User
from tests.definitions import survey, worked_example
from tests.fixtures import SAID, phrase

COOKIE = "candor_session"


class CountingHasher(PasswordHasher):
    """A cheap hasher that counts the checks of hashes of its own cost."""

    checks = 0

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
        self.checks += not self.check_needs_rehash(hash)
        return super().verify(hash, password)


def find_user(store: Store, name: str) -> User:
    user = store.user_by_name(name)
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


def signed_in(app: Flask, name: str = "ada") -> FlaskClient:
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
    store.add_token(find_user(store, name), hash_secret(token))
    return token


def bearer_header(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def report(slug: str = "exam") -> bytes:
    return candor_client.randomize(survey(worked_example() | {"slug": slug}), SAID).to_json()


def read_all_files(path: Path) -> bytes:
    return b"".join(one.read_bytes() for one in path.parent.iterdir())


def code_of(response: TestResponse) -> str:
    assert response.content_type == "application/problem+json"
    document = json.loads(response.data)
    assert document["status"] == response.status_code
    code: str = document["code"]
    return code


def response_text(response: TestResponse) -> str:
    return f"{response.headers}{response.text}"
