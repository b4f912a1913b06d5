"""Addresses and headers that an attacker makes up lead nowhere and come back nowhere."""

import re
from urllib.parse import urljoin, urlsplit

import pytest
from flask import Flask

from survey_app.store import Store
from tests.fixtures import phrase
from tests.sign_in import COOKIE, attempt, cookie_of, csrf, report, response_text, signed_in
from tests.tree import parse


@pytest.mark.parametrize("target", ["/account", "/s/exam", "/s/exam?x=1&y=2", "/s/exam#sha256=0", "/é"])
def test_after_signing_in_one_goes_where_one_wanted_on_this_server(app: Flask, target: str) -> None:
    response = attempt(app.test_client(), "ada", phrase("ada"), target)
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
    assert attempt(browser, "ada", "wrong", target).status_code == 401
    response = attempt(browser, "ada", phrase("ada"), target)
    assert (response.status_code, response.headers["Location"]) == (302, "/account")
    assert "X-Injected" not in response.headers


@pytest.mark.parametrize(
    "target", ["/.//evil.example", "/x/..//evil.example", "/@evil.example", "/%09/evil.example", "/%5cevil.example", "/%2f/evil.example", "/%0d%0aX-Injected:y", "/:80", "/／evil.example"]
)  # fmt: skip
def test_an_odd_path_stays_a_path_on_this_server(app: Flask, target: str) -> None:
    response = attempt(app.test_client(), "ada", phrase("ada"), target)
    location = response.headers["Location"]
    assert re.fullmatch(r"/(?![/\\])[!-~]*", location)
    assert urlsplit(urljoin("http://localhost/login", location))[:2] == ("http", "localhost")
    assert "X-Injected" not in response.headers


@pytest.mark.parametrize("wanted", ["/account", "/account?next=//evil.example", "/account?x=%0d%0aX-Injected:y"])
def test_the_way_to_the_sign_in_page_stays_on_this_server(app: Flask, wanted: str) -> None:
    response = app.test_client().get(wanted)
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/login?next=/account")
    assert "X-Injected" not in response.headers


@pytest.mark.parametrize(
    "name",
    [
        "../__init__.py", "..%2f__init__.py", "%2e%2e/__init__.py", "%2e%2e%2f__init__.py", "..%5c__init__.py", "..%252f__init__.py", "./index.js", "%2fetc%2fpasswd",
        "/etc/passwd", "index.js/..", "index.js%00", "index.js%0a", "index.js%00.js", "..", ".", "", "%00", "INDEX.JS", "index%2ejs%2f", "....//__init__.py", "..js", ".js", "index.mjs", "x.js",
        "types", "types/", "types/x.js", "types/../index.js", "types/%2e%2e%2findex.js", "types/./index.js", "types//index.js", "types/types/index.js", "other/index.js",
    ],
)  # fmt: skip
def test_only_the_browsers_client_is_served_as_script(app: Flask, name: str) -> None:
    response = app.test_client().get(f"/client/js/{name}", buffered=True)
    assert response.status_code == 404
    assert "X-Injected" not in response.headers


@pytest.mark.parametrize("name", ["index.js", "types/yes_no.js", "mechanisms/flip.js"])
def test_the_browsers_client_itself_is_served(app: Flask, name: str) -> None:
    response = app.test_client().get(f"/client/js/{name}", buffered=True)
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
        assert "<script>" not in response_text(response)


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
            assert "evil.example" not in response_text(answer), path


@pytest.mark.parametrize("header", ["Host", "X-Forwarded-Host"])
def test_signing_in_under_another_host_leads_nowhere_else(app: Flask, header: str) -> None:
    first = app.test_client()
    form = {"name": "ada", "password": phrase("ada"), "csrf_token": csrf(first)}
    headers = {header: "evil.example", "Cookie": f"{COOKIE}={cookie_of(first)}"}
    response = app.test_client(use_cookies=False).post("/login", data=form, headers=headers)
    assert (response.status_code, response.headers["Location"]) == (302, "/account")
    assert "evil.example" not in response_text(response)


@pytest.mark.parametrize("host", ["a..b", ".", f"{'a' * 64}.example"])
@pytest.mark.parametrize("path", ["/", "/s/exam", "/console/nothing", "//evil.example/x"])
def test_a_host_that_is_no_host_name_gets_the_page_of_a_refusal(app: Flask, host: str, path: str) -> None:
    response = app.test_client().get(path, headers={"Host": host})
    assert (response.status_code, response.mimetype) == (400, "text/html")
    links = parse(response.text).all("a", "link", href=None)
    assert {link.attributes["href"] for link in links} >= {"/", "/static/style.css"}


def test_every_page_forbids_what_it_does_not_need(app: Flask, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, stranger = signed_in(app), app.test_client()
    pages = {
        "sign in": stranger.get("/login"),
        "wrong password": attempt(stranger, "ada", "wrong"),
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

    monkeypatch.setattr(store, "current_key_and_digest", fail)
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


@pytest.mark.parametrize("place", ["/s//exam", "/api//surveys/exam", "//s/exam"])
def test_no_redirect_repeats_a_foreign_host(app: Flask, place: str) -> None:
    response = app.test_client().get(place, headers={"Host": "evil.example"})
    assert response.status_code == 404
    assert "evil.example" not in response_text(response)
