"""Pages take every URL from the routes (`url_for`), so that a page follows when a route moves.

Templates are searched for URLs that are written out, and pages are served below a path: a link that was written out, in
a template or in Python, leads out of it.
"""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient

from survey_app.store import Store
from survey_app.web import demo
from tests.module_graph import ROOT
from tests.sign_in import find_user, signed_in
from tests.tree import parse

TEMPLATES = ROOT / "templates"
ALLOWED = {
    "console/home.html": ["/s/"],  # not a link: the slug as it was typed in a draft, which may be no slug yet
}
PREFIX = "/below/a/path"
ATTRIBUTES = ("href", "action", "src", "data-count", "data-invited", "data-check", "data-png")
EXAM = (Path(__file__).parents[1] / "campus.yaml").read_bytes()


def written_urls(template: str, segments: set[str]) -> list[str]:
    """Return every start of a URL of this server that a template writes out; `segments` begin the routes."""
    attribute = r"""(?<==["'])/(?!/)[^"'\s{]*"""
    route = rf"(?<![\w.<])/(?:{'|'.join(map(re.escape, sorted(segments)))})(?![\w-])/?"
    return re.findall(rf"{attribute}|{route}|\b(?:url_root|root_url|host_url)\b", template)


@pytest.fixture
def segments(app: Flask) -> set[str]:
    """Return the first segment of every route, such as `results`."""
    rules = [rule.rule for rule in app.url_map.iter_rules()]
    return {rule.split("/")[1] for rule in (*rules, f"{demo.blueprint.url_prefix}")} - {""}


def test_templates_write_no_url_out(segments: set[str]) -> None:
    found = {
        str(file.relative_to(TEMPLATES)): urls
        for file in sorted(TEMPLATES.rglob("*.html"))
        if (urls := written_urls(file.read_text(), segments))
    }
    assert found == ALLOWED


@pytest.mark.parametrize(
    "template",
    [
        '<a href="/">', '<a href="/?language=de">', '<a href="/console">', '<a href="/s/{{ slug }}">', "<a href='/account'>", '<form action="/results/{{ slug }}#crossed">',
        '<script src="/static/page.js">', '<p data-count="/results/{{ slug }}/count">', '<link href="/new.css">', '{% set url = "/results/" ~ slug %}', "{{ '/demo' }}",
        "<p>{{ root }}/s/{{ slug }}</p>", '{{ request.path == "/console" }}', '{{ request.url_root ~ "s/" ~ slug }}',
    ],
)  # fmt: skip
def test_a_url_that_is_written_out_would_be_found(segments: set[str], template: str) -> None:
    assert written_urls(template, segments)


@pytest.mark.parametrize(
    "template",
    ['<a href="{{ url_for("form.form", slug=slug) }}#x">', '<a href="?tables=1">', "<s>old</s>", '<path d="M0"/>', "docs/api.md", "and/or", "//", '<a href="//host">'],
)  # fmt: skip
def test_what_is_no_url_of_ours_is_not_taken_for_one(segments: set[str], template: str) -> None:
    assert not written_urls(template, segments)


def test_every_link_stays_below_the_path_at_which_the_app_is_served(app: Flask, store: Store) -> None:
    draft = store.save_draft(find_user(store, "ada").key, EXAM)
    app.test_client_class = FlaskClient  # WSGI, which has a path of its own for an app: SCRIPT_NAME
    researcher, visitor = signed_in(app), app.test_client()
    of_anybody = ["/", "/login", "/nothing", "/console/no/thing", "/s/exam", "/s/exam/privacy", "/s/exam/paper"]
    of_anybody += ["/s/exam/enter", "/results/census", "/results/census/link"]
    of_accounts = ["/account", "/console", "/console?tour=1", "/console/exam", "/console/nothing", "/results/exam"]
    of_accounts += [f"/console/drafts/{draft}{page}" for page in ("", "/settings", "/yaml", "/try", "/publish")]
    for browser, paths in ((visitor, of_anybody), (researcher, of_accounts)):
        for path in paths:
            page = parse(browser.get(path, base_url=f"http://localhost{PREFIX}").text)
            urls = [node.attributes[name] for name in ATTRIBUTES for node in page.all(**{name: None})]
            paths_found = [url.removeprefix("http://localhost") for url in urls]
            leading_out = [url for url in paths_found if url.startswith("/") and not url.startswith(f"{PREFIX}/")]
            assert len(urls) > 2 and not leading_out, path
    for path in ("/account", "/results/exam?tables=1", "/console/drafts/1"):
        location = urlsplit(visitor.get(path, base_url=f"http://localhost{PREFIX}").headers["Location"])
        assert (location.path, parse_qs(location.query)) == (f"{PREFIX}/login", {"next": [f"{PREFIX}{path}"]})
