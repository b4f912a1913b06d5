"""Private results by a link: the secret is shown once, kept as a hash, in no address, and ends when it is withdrawn."""

import re

from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page

from survey_app.accounts import hash_secret, new_token
from survey_app.authoring.terms import Terms
from survey_app.store import EventCode, Member, Role
from tests.browser import BY_LOOK, LOOKS, PHONE, Site, apply_look, overflows, violations, visit
from tests.console import post, sign_in_by_keyboard
from tests.definitions import simple, survey
from tests.fixtures import Installation
from tests.sign_in import find_user, read_all_files, signed_in
from tests.tree import parse

KEPT = re.compile(r"candor_link_([\w-]+)=([\w-]{43}); HttpOnly; Path=/results; SameSite=Lax")


def made(browser: FlaskClient, slug: str = "exam") -> str:
    """The secret of a new link."""
    shown = post(browser, f"/console/{slug}/links", label=" the  works council ")
    assert (shown.status_code, shown.headers["Cache-Control"]) == (200, "no-store")
    found = re.search(rf'value="http://localhost/results/{slug}/link#key=([\w-]{{43}})"', shown.text)
    assert found and "for the works council" in shown.text
    return found[1]


def follow(browser: FlaskClient, key: str, slug: str = "exam") -> int:
    return browser.post(f"/results/{slug}/link", data={"key": key}).status_code


def test_a_link_opens_the_results_and_nothing_else_until_it_is_withdrawn(installation: Installation) -> None:
    installation.publish(public=False)
    ada, guest = signed_in(installation.app), installation.app.test_client()
    key = made(ada)
    assert key.encode() not in read_all_files(installation.store.path)
    assert key not in ada.get("/console/exam").text
    assert guest.get("/results/exam").headers["Location"].startswith("/login")

    entered = guest.post("/results/exam/link", data={"key": f"http://localhost/results/exam/link#key={key}"})
    assert (entered.status_code, entered.headers["Location"]) == (303, "/results/exam")
    assert KEPT.fullmatch(entered.headers["Set-Cookie"])
    page = guest.get("/results/exam")
    assert page.status_code == 200 and "Set-Cookie" not in page.headers
    assert page.headers["Referrer-Policy"] == "no-referrer" and page.headers["Cache-Control"] == "no-store"
    assert "/api/surveys/exam/results" not in page.text and "reports.csv" not in page.text
    assert guest.get("/results/exam/count").json == {"reports": 0, "state": "open", "text": "fewer than 40"}
    assert guest.get("/results/exam.csv").status_code == 200
    assert guest.get("/api/surveys/exam/results").status_code == 401
    assert "Set-Cookie" not in guest.get("/s/exam").headers

    link = re.search(r'name="link" value="(\w{8})"', ada.get("/console/exam").text)
    assert link
    post(ada, "/console/exam/links/withdraw", link=link[1])
    gone = guest.get("/results/exam")
    assert gone.status_code == 404 and "was withdrawn" in gone.text and "slip" not in gone.text
    assert follow(guest, key) == 404
    events = installation.store.events(installation.owner.key)[:2]
    assert [event.code for event in events] == [EventCode.LINK_WITHDRAWN, EventCode.LINK_MADE]
    assert {event.data.label for event in events} == {"the works council"}


def test_a_link_that_opens_nothing_says_so_and_tells_no_survey_from_another(installation: Installation) -> None:
    installation.publish(public=False)
    guest = installation.app.test_client()
    pages = {slug: guest.get(f"/results/{slug}/link") for slug in ("exam", "nothing")}
    assert pages["exam"].text == pages["nothing"].text.replace("nothing", "exam") and pages["exam"].status_code == 200
    alerts: dict[bool, set[str]] = {}
    for key in ("", "x", new_token(), hash_secret(new_token()).hex(), "x" * 5000):
        refused = guest.post("/results/exam/link", data={"key": key})
        assert refused.status_code == 404
        alerts.setdefault(len(key) == len(new_token()), set()).add(parse(refused.text).one("div", role="alert").text)
        assert "Set-Cookie" not in refused.headers
    assert [len(texts) for texts in alerts.values()] == [1, 1] and alerts[True] != alerts[False]
    guest.set_cookie("candor_link_exam", "x", path="/results")
    assert guest.get("/results/exam").status_code == 404
    assert guest.get("/results/%20/link").status_code == 404


def test_a_link_to_one_survey_opens_no_other(installation: Installation) -> None:
    for slug in ("exam", "other"):
        installation.publish(simple() | {"slug": slug}, public=False)
    key, guest = made(signed_in(installation.app)), installation.app.test_client()
    assert guest.post("/results/other/link", data={"key": key}).headers["Location"] == "/results/exam"
    guest.set_cookie("candor_link_other", key, path="/results")
    assert guest.get("/results/other").status_code == 404


def test_a_link_rests_while_its_owner_is_disabled_and_goes_with_the_survey(installation: Installation) -> None:
    installation.publish(public=False)
    key, guest = made(signed_in(installation.app)), installation.app.test_client()
    ada = find_user(installation.store, "ada")
    for disabled, status in ((True, 404), (False, 303)):
        installation.store.set_disabled(ada, disabled)
        assert follow(guest, key) == status
    installation.store.delete_survey("exam")
    assert follow(guest, key) == 404


def test_a_link_to_a_study_opens_all_its_groups(installation: Installation) -> None:
    groups = [survey(simple() | {"slug": f"all-{one}", "study": "all", "group": one}) for one in ("north", "south")]
    installation.store.add_surveys([Member(one, Terms()) for one in groups], owner=installation.owner.key)
    key, guest = made(signed_in(installation.app), "all"), installation.app.test_client()
    assert guest.post("/results/all/link", data={"key": key}).headers["Location"] == "/results/all"
    for slug in ("all", "all-north", "all-south"):
        assert guest.get(f"/results/{slug}").status_code == 200


def check_looks(page: Page) -> None:
    for look in LOOKS:
        apply_look(page, look)
        assert violations(page, *(BY_LOOK if look != "phone-light" else ())) == [], look
        assert overflows(page) == [], look


def test_in_a_browser_the_secret_is_in_no_address_that_is_sent(site: Site, browser: Browser) -> None:
    site.add(simple(), public=False)
    key = new_token()
    published = site.store.newest_version("exam")
    assert published is not None
    site.store.add_link(published, "the works council", hash_secret(key))
    with visit(browser, **PHONE) as device:
        page = device.page
        page.goto(f"{site.origin}/results/exam/link#key={key}")
        page.wait_for_url(f"{site.origin}/results/exam")
        assert [request for request in site.requests if key in request.path] == []
        assert not any("referer" in request.headers for request in site.requests)
        (posted,) = site.requests_of("POST")
        assert posted.body == f"key={key}".encode()
        page.go_back()
        assert key not in page.url
        site.store.withdraw_link(published, hash_secret(key).hex()[:8])
        page.goto(f"{site.origin}/results/exam")
        assert "was withdrawn" in (page.text_content("main") or "")
        page.goto(f"{site.origin}/results/exam/link#key={key}")
        page.wait_for_selector("div[role=alert]")
        check_looks(page)
        site.store.share(published, find_user(site.store, "eve"), Role.EDITOR)
        site.store.add_link(published, "the works council", hash_secret(key))
        sign_in_by_keyboard(device, site).goto(f"{site.origin}/console/exam")
        check_looks(page)
        page.get_by_role("button", name="Make eve reader").click()
        page.wait_for_selector("#said .said.status:has-text('eve')")
        page.fill("#link-label", "the board")
        page.get_by_role("button", name="Make a link").click()
        page.wait_for_selector("#secret")
        check_looks(page)
