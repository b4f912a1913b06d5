"""Every route about a survey, for everybody who may ask: who is let in, and who is not.

The table is docs/console.md's. Routes are taken from the app, so that one that is not in the table fails.
"""

import re
import secrets
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from survey_app.accounts import hash_secret, new_token
from survey_app.authoring import build
from survey_app.authoring.publication import publish
from survey_app.invitations.keys import make_key
from survey_app.store import PublishedSurvey, Role, Submission
from tests.fixtures import CHEAP, Installation, phrase
from tests.sign_in import bearer_header, csrf, find_user, signed_in, token_of

SECRET = new_token()
SOURCE = b"""\
slug: exam
title: Exam honesty
questions:
  - {id: cheated, type: yes_no, text: Did you copy?, design: coin}
"""
EVERYBODY = ("anonymous", "stranger", "administrator", "link", "reader", "editor", "owner")
ANYONE, LINK, READER, EDITOR, OWNER = EVERYBODY, EVERYBODY[3:], EVERYBODY[4:], EVERYBODY[5:], EVERYBODY[6:]

# in an order in which what comes later is still possible: closing and deleting are last
PAGES: dict[tuple[str, str], tuple[str, ...]] = {
    ("GET", "/results/<slug>"): LINK,
    ("GET", "/results/<slug>/count"): LINK,
    ("GET", "/results/<slug>.csv"): LINK,
    ("GET", "/results/<slug>/codebook.<kind>"): LINK,
    ("GET", "/results/<slug>/crosstab.csv"): LINK,
    ("GET", "/results/<slug>/plots/<name>.svg"): LINK,
    ("GET", "/results/<slug>/reports.<kind>"): READER,
    ("GET", "/console/<slug>"): READER,
    ("GET", "/console/<slug>/source.yaml"): READER,
    ("GET", "/console/<slug>/definition.json"): READER,
    ("GET", "/console/<slug>/qr.svg"): READER,
    ("POST", "/console/<slug>/duplicate"): READER,
    ("GET", "/console/<slug>/invitations"): EDITOR,
    ("POST", "/console/<slug>/invitations"): EDITOR,
    ("GET", "/console/<slug>/invited.json"): EDITOR,
    ("POST", "/console/<slug>/edit"): EDITOR,
    ("POST", "/console/<slug>/pause"): EDITOR,
    ("POST", "/console/<slug>/open"): EDITOR,
    ("POST", "/console/<slug>/terms"): EDITOR,
    ("POST", "/console/<slug>/sizes"): EDITOR,
    ("POST", "/console/<slug>/shares"): OWNER,
    ("POST", "/console/<slug>/shares/withdraw"): OWNER,  # and a member who leaves it, which is another test
    ("POST", "/console/<slug>/links"): OWNER,
    ("POST", "/console/<slug>/links/withdraw"): OWNER,
    ("GET", "/console/<slug>/close"): EDITOR,
    ("POST", "/console/<slug>/close"): EDITOR,
    ("GET", "/console/<slug>/delete"): OWNER,
    ("POST", "/console/<slug>/delete"): OWNER,
}
# the same by a token, with what a script sends; results also by a session
BY_TOKEN: dict[tuple[str, str], tuple[str, ...]] = {
    ("GET", "/api/surveys/<slug>/results"): READER,
    ("GET", "/api/surveys/<slug>/crosstab"): READER,
    ("GET", "/api/surveys/<slug>/regression"): READER,
    ("GET", "/api/surveys/<slug>/invitations"): EDITOR,
    ("POST", "/api/surveys/<slug>/invitations"): EDITOR,
    ("PATCH", "/api/surveys/<slug>"): EDITOR,
    ("POST", "/api/surveys/<slug>/reports/batch"): OWNER,
    ("DELETE", "/api/surveys/<slug>"): OWNER,
}
OF_RESPONDENTS = {
    ("GET", "/api/surveys/<slug>"), ("POST", "/api/surveys/<slug>/reports"), ("POST", "/api/surveys/<slug>/tickets"),
}  # fmt: skip
OPEN = {("GET", "/results/<slug>/link"), ("POST", "/results/<slug>/link")}  # what shows nothing that is private
FORMS = {
    "invitations": {"count": "1"},
    "terms": {"results": "private"},
    "shares": {"name": "nina", "role": "reader"},
    "withdraw": {"name": "nina", "link": "00000000"},
    "links": {"label": "the works council"},
    "delete": {"typed": "exam"},
}


@pytest.fixture
def survey(installation: Installation) -> PublishedSurvey:
    """Two private surveys of ada's, `club` by invitation; rita reads them, ed edits them, and links lead to results."""
    for name in ("rita", "ed", "nina"):
        installation.store.add_user(name, CHEAP.hash(phrase(name)))
    for source in (SOURCE.replace(b"slug: exam", b"slug: club\ninvitations: true"), SOURCE):
        built = build(source)
        (published,) = publish(
            installation.store,
            installation.tickets,
            built,
            owner=installation.owner.key,
            source=source,
            make_key=make_key,
        )
        installation.store.share(published, find_user(installation.store, "rita"), Role.READER)
        installation.store.share(published, find_user(installation.store, "ed"), Role.EDITOR)
        installation.store.add_link(
            published, "the works council", hash_secret(SECRET if published.name == "exam" else "-")
        )
    installation.store.write(lambda: [Submission(published.key, secrets.token_bytes(16), b"\x80") for _ in range(60)])
    return published


def browsers(app: Flask) -> dict[str, FlaskClient]:
    """Everybody's browser; that of the link sends its secret everywhere, which no real one does."""
    linked = app.test_client()
    linked.set_cookie("candor_link_exam", SECRET)
    accounts = ("eve", "administrator", "rita", "ed", "ada")
    stranger, administrator, reader, editor, owner = (signed_in(app, name) for name in accounts)
    nobody = app.test_client()
    return dict(zip(EVERYBODY, (nobody, stranger, administrator, linked, reader, editor, owner), strict=True))


def is_let_in(answer: TestResponse) -> bool:
    """Whether somebody got what they asked for, or was told what is wrong with it, and not who may."""
    signs_in = answer.status_code == 302 and answer.headers["Location"].startswith("/login")
    return not signs_in and answer.status_code not in (401, 403, 404)


def address(rule: str) -> str:
    """A request that is answered."""
    kind = "csv" if "reports" in rule else "md"
    path = rule.replace("<slug>", "club" if "invit" in rule else "exam")
    return path.replace("<name>", "cheated").replace("<kind>", kind)


def about_surveys(app: Flask, *starts: str) -> set[tuple[str, str]]:
    return {
        (method, re.sub(r"<\w+:", "<", rule.rule))
        for rule in app.url_map.iter_rules()
        if "<slug>" in rule.rule and rule.rule.startswith(starts) and "drafts" not in rule.rule
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }


def test_every_page_about_a_survey_is_in_the_table(installation: Installation) -> None:
    assert about_surveys(installation.app, "/console/", "/results/") == PAGES.keys() | OPEN


def test_every_page_lets_in_whom_the_table_says(installation: Installation, survey: PublishedSurvey) -> None:
    people = browsers(installation.app)
    tokens = {
        who: csrf(browser, "/login" if who in ("anonymous", "link") else "/account") for who, browser in people.items()
    }
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for method, rule in PAGES:
        form = FORMS.get(rule.rpartition("/")[2], {})

        def ask(who: str, method: str = method, rule: str = rule, form: dict[str, str] = form) -> TestResponse:
            how: dict[str, Any] = {"data": {"csrf_token": tokens[who], **form}} if method == "POST" else {}
            return people[who].open(address(rule), method=method, **how)

        found[method, rule] = tuple(who for who in EVERYBODY if is_let_in(ask(who)))
    assert found == PAGES


def test_every_path_of_the_api_is_in_the_table(installation: Installation) -> None:
    assert about_surveys(installation.app, "/api/") == BY_TOKEN.keys() | OF_RESPONDENTS


def test_every_path_of_the_api_takes_the_tokens_that_the_table_says_and_no_session(
    installation: Installation, survey: PublishedSurvey
) -> None:
    people = browsers(installation.app)
    names = {"stranger": "eve", "administrator": "administrator", "reader": "rita", "editor": "ed", "owner": "ada"}
    tokens = {who: bearer_header(token_of(installation.store, name)) for who, name in names.items()}
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for method, rule in BY_TOKEN:
        path = f"{address(rule)}{'?rows=cheated&columns=cheated' if 'crosstab' in rule else ''}"

        def ask(who: str, headers: dict[str, str], method: str = method, path: str = path) -> bool:
            confirmed = {"Candor-Confirm": "exam"} if method == "DELETE" else {}
            said = '{"max_reports": 5000}' if method == "PATCH" else None
            return is_let_in(people[who].open(path, method=method, headers=headers | confirmed, data=said))

        if method != "GET":
            assert not any(ask(who, {}) for who in EVERYBODY), (method, rule)
        found[method, rule] = tuple(who for who in EVERYBODY if ask(who, tokens.get(who, {})))
    assert found == BY_TOKEN
