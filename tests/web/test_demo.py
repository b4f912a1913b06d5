"""The demo's three roles: only where `candor demo` serves, only its own survey, and nothing that others do not see."""

import contextlib
import math
import re
import secrets
import shlex
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, expect

from candor_client.description import describe
from candor_client.report import unpack
from survey_app.assure.posterior_attack import suspicions
from survey_app.assure.simulation import demo_survey
from survey_app.authoring import build_file
from survey_app.authoring.terms import Terms
from survey_app.cli import main
from survey_app.collect.rate_limit import Counts
from survey_app.store import STEP, PublishedSurvey, Submission
from survey_app.web import demo as pages
from survey_app.web import serve
from survey_app.web.rsgi import RsgiAdapter
from tests.browser import BY_LOOK, Site, apply_look, overflows, violations, visit
from tests.fixtures import Installation, build
from tests.golden_files import Golden
from tests.tree import parse

PAGES = ("/demo", "/demo/administrator")


OWN = build_file(demo_survey.example_path("campus.yaml")).survey


def fill(installation: Installation) -> PublishedSurvey:
    """60 reports, 40 of them shown; and another public survey with as many."""
    published, _ = demo_survey.prepare(installation.store)
    for made in demo_survey.simulate_submissions(published, 3 * STEP):
        installation.store.write(made.copy)
    other = installation.publish()
    installation.store.write([Submission(other.key, secrets.token_bytes(16), b"\x80") for _ in range(3 * STEP)].copy)
    installation.store.tidy(now=True)
    return published


@pytest.fixture
def installation(database: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installation]:
    """What `candor demo` serves; fewer people are attacked."""
    monkeypatch.setattr(pages, "PEOPLE", 1000)
    built = build(database.parent, DEMO=(OWN.slug, OWN.digest))
    yield built
    built.close()


def ids(page: str) -> list[str]:
    """The ids of the rows on the administrator's page."""
    return [one.text for row in parse(page).all("tr") for one in row.all("a")]


@pytest.mark.parametrize("path", PAGES)
def test_no_other_server_has_these_pages(tmp_path: Path, path: str) -> None:
    plain = build(tmp_path)
    demo_survey.prepare(plain.store)
    assert plain.client.get(path).status_code == 404
    assert "/demo" not in plain.client.get("/").text
    plain.close()


def test_the_command_prints_the_page_first_and_serves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Any] = []
    monkeypatch.setattr(serve, "serve", lambda *given: served.append(given))
    monkeypatch.setattr(serve, "check_port", lambda *_: None)
    db = f"sqlite:///{tmp_path}/candor.db"
    done = CliRunner().invoke(main, ["--db", db, "demo", "--respondents", "3"])
    assert done.stdout.startswith("start     http://127.0.0.1:8000/demo "), done.output
    ((config, *where),) = served
    assert where == ["127.0.0.1", 8000, 1]
    assert (config.db, config.trusted_proxies, config.demo) == (db, 0, (OWN.slug, OWN.digest))
    (command,) = re.findall(r"^disk +(.*)$", done.stdout, re.MULTILINE)
    told = subprocess.run(shlex.split(command), capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^([0-9A-F]{32}) +([0-9A-F]{8})$", told, re.MULTILINE), "pending reports too, for the operator"
    assert len(told.splitlines()) == 2 + 3


def test_the_workers_get_what_the_command_gives(installation: Installation) -> None:
    """`create` is called in each worker, with what all of them share."""
    config = {"DB": f"sqlite:///{installation.store.path}", "DEMO": (OWN.slug, OWN.digest)}
    made = serve._load_application("survey_app.web.rsgi", Counts(), config=config)
    assert isinstance(made, RsgiAdapter)
    assert made._app.config["DEMO"] == (OWN.slug, OWN.digest)
    made.close()


def test_the_front_page_leads_to_the_roles_and_they_to_everything_else(installation: Installation) -> None:
    fill(installation)
    assert 'href="/demo"' in installation.client.get("/").text
    links = {one.attributes["href"] for one in parse(installation.client.get("/demo").text).all("a", href=None)}
    assert {"/s/campus", "/s/campus/privacy", "/results/campus", "/console", "/demo/administrator"} <= links
    for link in links:
        assert installation.client.get(link, follow_redirects=True).status_code == 200, link


@pytest.mark.parametrize("path", PAGES)
def test_they_set_no_cookie_run_no_script_and_ask_nobody_else(installation: Installation, path: str) -> None:
    fill(installation)
    answer = installation.client.get(path)
    assert "Set-Cookie" not in answer.headers and answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")
    assert "<script" not in answer.text and "http" not in answer.text


def test_nothing_is_shown_that_the_results_do_not_show(installation: Installation) -> None:
    published = fill(installation)
    shown = {id.hex() for id, _ in installation.store.visible_reports(published, b"", 1000)}
    assert len(shown) == 2 * STEP
    seen: set[str] = set()
    row = "00" * 16
    for _ in range(len(shown) // (pages.ROWS - 1) + 1):
        page = installation.client.get(f"/demo/administrator?row={row}").text
        assert f"Some of {2 * STEP} rows" in page
        seen |= {*ids(page)} | {*re.findall(r"\b[0-9a-f]{32}\b", page)} - {"00" * 16}
        row = ids(page)[-1]
    assert seen == shown, "all rows outside pending, and none of another survey"


def test_before_the_first_step_no_row_is_shown(installation: Installation, golden: Golden) -> None:
    published, _ = demo_survey.prepare(installation.store)
    for made in demo_survey.simulate_submissions(published, 2 * STEP - 1):
        installation.store.write(made.copy)
    page = installation.client.get("/demo/administrator").text
    assert ids(page) == [] and not parse(page).all("section", aria_labelledby="row")
    assert parse(page).all("section", aria_labelledby="attack")
    golden(parse(page).one("p", class_="notice").text)


def test_a_row_is_told_bit_by_bit_byte_by_byte_and_for_the_suspicion_that_was_chosen(
    installation: Installation,
) -> None:
    published = fill(installation)
    ((id, bits),) = installation.store.visible_reports(published, b"", 1)
    page = parse(installation.client.get(f"/demo/administrator?row={id.hex()}&suspicion=2").text)
    assert page.one("a", aria_current="true").text == id.hex()
    assert f"{int.from_bytes(bits, 'big'):0{8 * len(bits)}b}"[: OWN.width] in page.text
    assert id.hex(" ") in page.text and bits.hex(" ") in page.text and "how many bytes follow" in page.text
    field, value = next(pair for pair in zip(OWN.fields, unpack(OWN, bits), strict=True) if pair[1] is not None)
    assert value is not None and describe(field, value) in page.text
    told = [f"{math.ceil(100 * float(one.after) - 1e-9)} in 100" for one in suspicions(field, value, Fraction(1, 2))]
    table = page.one("div", aria_labelledby="after-caption").one("table")
    assert [row.all("td")[0].text for row in table.all("tr")[1:]] == [*told, "50 in 100"]
    bound = page.one("section", aria_labelledby="suspicion").all("b")[-1].text
    assert re.findall(r"\d+ in 100", bound) == ["50 in 100", "89 in 100"]  # e²/(1 + e²) = 0.8808, never written smaller
    assert page.one("input", checked=None).attributes["value"] == "2"


def test_the_file_holds_the_bytes_that_are_shown(installation: Installation) -> None:
    fill(installation)
    page = parse(installation.client.get("/demo/administrator").text)
    (command,) = (one.text for one in page.all("code") if one.text.startswith("od "))
    told = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True).stdout
    assert told.split() == [command.split()[-1]]


def test_a_report_that_comes_changes_nothing_on_the_page(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does the server's tidying up after it: a visitor who reloads must not see a single one arrive."""
    published = fill(installation)
    ((id, _),) = installation.store.visible_reports(published, b"", 1)
    monkeypatch.setattr(np.random, "default_rng", lambda: np.random.Generator(np.random.PCG64(1)))  # the same people
    seen = []
    for step in (
        lambda: None,
        lambda: installation.store.write(next(demo_survey.simulate_submissions(published, 1)).copy),
        installation.store.tidy,
    ):
        step()
        seen.append(installation.client.get(f"/demo/administrator?row={id.hex()}").text)
    assert seen[0] == seen[1] == seen[2]


def test_the_attack_is_of_new_people_each_time_with_n_and_interval(installation: Installation) -> None:
    fill(installation)
    tables = []
    for _ in range(2):
        page = parse(installation.client.get("/demo/administrator").text)
        table = page.one("div", aria_label="Guesses").one("table")
        tables.append([row.text for row in table.all("tr")[1:]])
    assert tables[0] != tables[1] and len(tables[0]) == len(OWN.questions)
    assert all(re.search(r"n = [\d,]+ ([\d.]+% [\d.]+% to [\d.]+% ?){2}$", row) for row in tables[0]), tables[0]


@pytest.mark.parametrize(
    ("query", "status"),
    [("row=x", 404), ("row=00", 404), ("row=" + "ff" * 16, 200), ("row=" + "00" * 16, 200), ("suspicion=x", 200)],
)
def test_an_address_that_was_typed_is_answered(installation: Installation, query: str, status: int) -> None:
    fill(installation)
    assert installation.client.get(f"/demo/administrator?{query}").status_code == status


def test_private_or_deleted_there_is_nothing_to_see(installation: Installation) -> None:
    published = fill(installation)
    installation.store.set_terms(published, Terms(public=False))
    assert installation.client.get("/demo/administrator").status_code == 401
    installation.store.delete_survey(OWN.slug)
    gone = installation.client.get("/demo")
    assert gone.status_code == 404 and "Start candor demo again" in gone.text


@pytest.mark.essential
def test_a_newcomer_takes_the_roles_without_scripts(tmp_path: Path, browser: Browser) -> None:
    with contextlib.closing(Site(tmp_path, DEMO=(OWN.slug, OWN.digest))) as site:
        fill(site.installation)
        with visit(browser, java_script_enabled=False) as device:
            page = device.page
            page.goto(f"{site.origin}/demo")
            page.get_by_role("link", name="Open the database").click()
            page.get_by_role("link", name="Next row").click()
            chosen = page.locator("[aria-current=true]").inner_text()
            page.get_by_label("1 in 5").check()
            page.get_by_role("button", name="Look at the row").press("Enter")
            expect(page.locator("#after-caption")).to_contain_text("20 in 100")
            assert page.locator("[aria-current=true]").inner_text() == chosen
            page.get_by_role("link", name="Back to the three roles").click()
            expect(page.get_by_role("heading", name="Three roles")).to_be_visible()
        with visit(browser) as device:
            for path in PAGES:
                device.page.goto(f"{site.origin}{path}")
                for look, rules in (("phone-light", ()), ("desktop-dark", BY_LOOK)):
                    apply_look(device.page, look)
                    assert violations(device.page, *rules) == [], (path, look)
                    assert overflows(device.page) == [], (path, look)
            assert device.complaints == []
