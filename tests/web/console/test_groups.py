"""A study in the console: groups are written, planned, published, shared and closed as one."""

import re

from flask.testing import FlaskClient
from playwright.sync_api import Browser, expect

from survey_app.authoring import build
from survey_app.plan.survey_plan import plan_survey
from survey_app.plan.target import Settings
from survey_app.store import Member, State, Store
from tests.browser import CORNERS, DESKTOP, PHONE, Site, apply_look, overflows, violations, visit
from tests.console import (
    EVIL,
    actions,
    complaints,
    draft,
    key_of,
    notices,
    part,
    post,
    publish,
    read_draft,
    sign_in_by_keyboard,
)
from tests.golden_files import Golden, page_text
from tests.sign_in import find_user
from tests.tree import parse
from tests.web.results.results_fixtures import fill

STUDY = b"""\
slug: work
title: Life at work
results: public
epsilon: 2
groups:
  north: {label: North, size: 12000}  # kept
  south: {label: South, size: 8000}
questions:
  - {id: slept, type: yes_no, text: Did you sleep well?}
"""


def settings(browser: FlaskClient, key: int, **fields: str) -> None:
    page = parse(browser.get(f"/console/drafts/{key}/settings").text)
    shown = {
        one.attributes["name"]: one.attributes["value"]
        for one in page.one("form", data_edit=None).all("input")
        if one.attributes["name"].startswith(("group", "own"))
    }
    typed = {name.replace("_", "-"): text for name, text in fields.items()}
    assert post(browser, f"/console/drafts/{key}/settings", **{**shown, **typed}).status_code == 302


def test_groups_are_written_in_the_settings_and_nothing_else_moves(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, STUDY)
    settings(ada, key)
    assert read_draft(ada, key) == STUDY
    settings(ada, key, group_0_size="12,500", group_2_label="The West", group_2_size="300")
    assert read_draft(ada, key) == STUDY.replace(b"12000", b"12500").replace(
        b"size: 8000}\n", b"size: 8000}\n  the-west: {label: The West, size: 300}\n"
    )
    settings(ada, key, group_0_label="", group_0_name="", group_0_size="", group_2_size="")
    page = ada.get(f"/console/drafts/{key}/settings").text
    assert re.findall(r'<li data-field="([\w-]+)"', page) == ["s-groups"]
    golden(page_text(page, '<div id="problems">', "</section>"))
    settings(ada, key, group_0_name="", group_0_label="", group_1_name="", group_1_label="")
    assert b"groups" not in read_draft(ada, key)


def test_the_plan_beside_a_study_is_that_of_the_command(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, STUDY)
    people = sum(build(STUDY).sizes or ())
    for query, respondents in (("", people), ("?respondents=1000", 1000)):
        text = ada.get(f"/console/drafts/{key}{query}").text
        heading = parse(text).one("h2", id="for-you")
        assert heading.attributes["data-respondents"] == str(respondents)
    beside = parse(text).one("aside", id="beside").text
    assert "North 600" in beside and "South 400" in beside
    plan = plan_survey(STUDY, Settings(respondents=1000, margin=0.05)).study
    assert plan is not None
    assert len(plan.requirements) == 2
    assert all(need in beside for need in plan.requirements)
    for id in ("for-you", "for-groups"):
        golden(page_text(text, f'<section aria-labelledby="{id}"', "</section>"), id)
    tried = parse(ada.get(f"/console/drafts/{key}/try?people=100").text)
    golden(tried.one("p", id="one-group").text, "trial")


def test_a_study_is_published_with_all_its_groups(store: Store, ada: FlaskClient) -> None:
    key = draft(ada, STUDY)
    page = ada.get(f"/console/drafts/{key}/publish").text
    assert "/s/work-north" in page and "/s/work-south" in page
    done = publish(ada, key, advised="yes")
    assert done.headers["Location"] == "/console/work"
    groups = store.study("work")
    assert [(group.survey.slug, group.terms.size, group.state) for group in groups] == [
        ("work-north", 12000, State.OPEN),
        ("work-south", 8000, State.OPEN),
    ]
    assert all(store.source(group) == STUDY for group in groups)
    assert ada.get("/console/work/source.yaml").data == STUDY


def test_what_is_published_is_what_was_shown_of_every_group(store: Store, ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, STUDY)
    found = re.search(r'name="digest" value="(\w{64})"', ada.get(f"/console/drafts/{key}/publish").text)
    assert found is not None
    settings(ada, key, group_1_label="The South")
    refused = post(ada, f"/console/drafts/{key}/publish", digest=found[1], advised="yes")
    assert refused.status_code == 409
    golden(notices(refused.text))
    assert store.study("work") == []


def test_an_address_that_is_taken_is_told_and_nothing_is_published(store: Store, ada: FlaskClient) -> None:
    publish(ada, draft(ada, STUDY.replace(b"slug: work", b"slug: work-south").replace(b"groups:\n", b"groups: {a: , b: }\n").replace(b"  north: {label: North, size: 12000}  # kept\n  south: {label: South, size: 8000}\n", b"")), advised="yes")  # fmt: skip
    assert len(store.study("work-south")) == 2
    refused = publish(ada, draft(ada, STUDY), advised="yes")
    assert (refused.status_code, "work-south" in refused.text) == (409, True)
    assert store.study("work") == []


def published(ada: FlaskClient) -> None:
    assert publish(ada, draft(ada, STUDY), advised="yes").status_code == 302


def test_the_list_has_a_study_once(store: Store, ada: FlaskClient) -> None:
    published(ada)
    for group in store.study("work"):
        fill(store, group, 60)
    page = parse(ada.get("/console").text)
    (card,) = page.all("li", class_="card")
    assert [one.attributes["data-groups"] for one in card.all("span", data_groups=None)] == ["2"]
    reports = sum(store.snapshot(group).reports for group in store.study("work"))
    assert card.one("p", class_="reports").one("b").text == str(reports)
    assert [one.attributes["href"] for one in card.all("a")] == ["/console/work", "/results/work", "/console/work"]
    assert "/console/work" in ada.get("/account").text


def test_one_page_has_a_link_a_code_and_a_text_for_each_group(store: Store, ada: FlaskClient, golden: Golden) -> None:
    published(ada)
    page = parse(ada.get("/console/work").text)
    for place, group in enumerate(store.study("work"), 1):
        box = page.one("section", id=f"group-{place}")
        link = f"http://localhost/s/{group.survey.slug}"
        assert box.one("input", id=f"link-{place}").attributes["value"] == link
        pinned = box.one("input", id=f"pinned-{place}").attributes["value"]
        assert pinned == f"{link}#sha256={group.survey.digest}"
        assert box.one("svg", class_="qr")
        mail = box.one("textarea").text
        assert pinned in mail and group.survey.group in mail
        code = ada.get(f"/console/{group.survey.slug}/qr.svg")
        assert (code.status_code, code.mimetype) == (200, "image/svg+xml")
        assert f"{group.survey.slug}-qr.svg" in code.headers["Content-Disposition"]
    golden(part(ada.get("/console/work").text, "mail-1"), "e-mail")
    one = parse(ada.get("/console/work-north").text).one("p", id="study")
    assert one.one("a").attributes["href"] == "/console/work"
    golden(one.text, "one group")


def test_a_study_waits_opens_closes_and_goes_as_one(store: Store, ada: FlaskClient, golden: Golden) -> None:
    publish(ada, draft(ada, STUDY), advised="yes", state="later")
    assert "open" in actions(ada.get("/console/work").text)
    assert post(ada, "/console/work/open", digest=store.study("work")[0].survey.digest).status_code == 302
    assert {group.state for group in store.study("work")} == {State.OPEN}
    golden(page_text(ada.get("/console/work/close").text))
    assert post(ada, "/console/work/close").headers["Location"] == "/console/work"
    assert {group.state for group in store.study("work")} == {State.CLOSED}
    assert post(ada, "/console/work/delete", typed="work-north").status_code == 400
    assert post(ada, "/console/work-south/delete", typed="work").headers["Location"] == "/console"
    assert store.study("work") == [] and store.newest_version("work-north") is None


def test_terms_and_sizes_of_a_study_change_while_it_runs(store: Store, ada: FlaskClient) -> None:
    published(ada)
    assert post(ada, "/console/work/terms", results="private", max_reports="500").headers["Location"] == "/console/work"
    assert [(group.terms.public, group.terms.max_reports) for group in store.study("work")] == [(False, 500)] * 2
    refused = post(ada, "/console/work/terms", results="public", max_reports="none")
    assert refused.status_code == 409 and 'name="size-work-north"' in refused.text
    sizes = {"size-work-north": "12,500", "size-work-south": "7000"}
    assert post(ada, "/console/work/sizes", **sizes).status_code == 302
    assert [group.terms.size for group in store.study("work")] == [12500, 7000]
    for wrong in ({"size-work-north": ""}, {"size-work-north": "0"}, {"size-work-north": "many"}):
        assert post(ada, "/console/work/sizes", **{**sizes, **wrong}).status_code == 409
    assert [group.terms.size for group in store.study("work")] == [12500, 7000]
    assert post(ada, "/console/work/sizes").status_code == 302
    assert [group.terms.size for group in store.study("work")] == [None, None]
    assert post(ada, "/console/work/pause").status_code == 302
    assert "open" in actions(ada.get("/console/work").text)
    assert {group.state for group in store.study("work")} == {State.PAUSED}


def test_a_new_version_of_a_study_waits_and_takes_all_groups_with_it(
    store: Store, ada: FlaskClient, golden: Golden
) -> None:
    published(ada)
    key = key_of(post(ada, "/console/work/edit"))
    settings(ada, key, group_0_label="", group_0_name="", group_0_size="", group_2_label="East", group_2_size="9")
    assert 'id="earlier"' in ada.get(f"/console/drafts/{key}/publish").text
    refused = publish(ada, key, advised="yes", state="later")
    assert refused.status_code == 409
    golden(notices(refused.text), "one group is the same")
    settings(ada, key, title="Life at work, again")
    assert publish(ada, key, advised="yes", state="later").status_code == 302
    assert [group.survey.group for group in store.study("work")] == ["North", "South"]
    page = parse(ada.get("/console/work").text)
    form = page.one("form", id="newer")
    golden(form.text, "a newer version")
    hidden = form.one("input", name="digest").attributes["value"]
    assert post(ada, form.attributes["action"], digest=hidden).status_code == 302
    assert [group.survey.group for group in store.study("work")] == ["South", "East"]
    (card,) = parse(ada.get("/console").text).all("li", class_="card")
    assert "2 groups" in card.text and "again" in card.text


def test_somebody_elses_study_is_not_ones_own(store: Store, ada: FlaskClient, eve: FlaskClient) -> None:
    published(ada)
    for path in ("/console/work", "/console/work/close", "/console/work-north"):
        assert eve.get(path).status_code == 403
    assert post(eve, "/console/work/close").status_code == 403
    key = draft(eve, STUDY)
    assert 'id="taken"' in eve.get(f"/console/drafts/{key}/publish").text
    assert publish(eve, key, advised="yes").status_code == 409
    assert not parse(eve.get("/console").text).all("li", class_="card")


def test_labels_stay_text(ada: FlaskClient, store: Store) -> None:
    key = draft(ada, STUDY)
    settings(ada, key, group_0_label=EVIL)
    assert publish(ada, key, advised="yes").status_code == 302
    fill(store, store.study("work")[0], 60)
    for path in (
        "/console/work",
        "/console/work-north",
        "/results/work",
        "/results/work-north",
        "/s/work-north/privacy",
    ):
        page = ada.get(path).text
        assert "<img src=x" not in page and "&lt;img src=x" in page
        assert "{{ 7*7 }}" in parse(page).text


# in a browser


def test_a_study_is_written_published_and_read_in_a_browser(site: Site, browser: Browser) -> None:
    key = site.store.save_draft(find_user(site.store, "ada").key, STUDY.replace(STUDY[STUDY.index(b"groups"):STUDY.index(b"questions")], b""))  # fmt: skip
    with visit(browser, **DESKTOP) as device:
        sign_in_by_keyboard(device, site)
        page = device.open(f"{site.origin}/console/drafts/{key}/settings")
        page.fill("[name=group-0-label]", "North")
        page.fill("[name=group-0-size]", "12000")
        page.fill("[name=group-1-label]", "South")
        expect(page.locator("#problems [data-field=s-groups]")).to_be_visible()  # while one types
        page.fill("[name=group-1-size]", "8000")
        expect(page.locator("#for-groups")).to_be_visible()
        page.locator("form[data-edit] button.primary").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#said .status")
        expect(page.locator("[name=group-1-name]")).to_have_value("south")
        page.locator(".steps a[href$='/publish']").click()
        page.locator("form[data-leaves] button.primary").click()
        page.wait_for_url("**/console/work")
        assert page.locator("svg.qr").count() == 2
        groups = site.store.study("work")
        for group in groups:
            fill(site.store, group, 200)
        page.locator("a.primary[href='/results/work']").click()
        page.wait_for_url("**/results/work")
        expect(page.locator("tr[data-total]").first).to_be_visible()
        expect(page.locator("#live-slept-groups svg")).to_be_visible()
        before = page.locator("#live-members tr").first.inner_text()
        fill(site.store, groups[0], 60)
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(page.locator("#news")).not_to_be_empty()
        assert page.locator("#live-members tr").first.inner_text() != before
        assert complaints(device) == []


def test_the_pages_of_a_study_are_for_everybody(site: Site, browser: Browser) -> None:
    """No violation, and nothing wider than the screen; contrast and layout also in the dark."""
    store, user = site.store, find_user(site.store, "ada")
    key = store.save_draft(user.key, STUDY)
    for group in store.add_surveys([Member(*one) for one in build(STUDY).members], owner=user.key, source=STUDY):
        fill(store, group, 200)
    with visit(browser, **PHONE) as device:
        sign_in_by_keyboard(device, site)
        for path in (
            f"/console/drafts/{key}/settings",
            f"/console/drafts/{key}/publish",
            "/console/work",
            "/results/work",
        ):
            page = device.open(f"{site.origin}{path}")
            for look, rules in CORNERS.items():
                apply_look(page, look)
                assert violations(page, *rules) == []
                assert overflows(page) == []
