"""What is shown is what is sent, once, and nothing else leaves the device."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import Site, Visit, visit
from tests.form_browser import (
    MARKS,
    NUMBER,
    all_types_survey,
    button,
    fill,
    randomize,
    send,
    shown_bytes,
    text,
    title,
)
from tests.javascript import QUIET_CHROMIUM, find_chromium
from tests.words import word

ANSWERS = ".fields b:not(.sent)"  # what the respondent said, beside what is sent
SENT = re.compile(r"/(s/[\w-]+|static/style\.css|static/form/form\.js|api/surveys/[\w-]+)")


# what leaves the device


def traffic(site: Site, device: Visit) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """What the browser says it asked for, and what the server was asked for."""
    told = Counter(
        (request.method, request.url.removeprefix(site.origin).partition("#")[0]) for request in device.requests
    )
    return told, Counter((request.method, request.path) for request in site.requests)


def check_nothing_leaks(site: Site, device: Visit) -> None:
    told, heard = traffic(site, device)
    assert heard == told
    assert all(SENT.fullmatch(path) for method, path in heard if method == "GET")
    for request in site.requests:
        for mark in (*MARKS, NUMBER, "Did you", "coins", "Disagree"):
            assert mark not in request.as_text, request.as_text
        assert not {"cookie", "referer", "authorization"} & set(request.headers)


@pytest.mark.essential
def test_the_only_thing_that_leaves_is_the_report(site: Site, browser: Browser) -> None:
    published = site.add(all_types_survey())
    with visit(browser) as device:
        page = device.open(site.link(published))
        loaded = len(site.requests)
        fill(page)
        randomize(page)
        shown = shown_bytes(page)
        assert len(site.requests) == loaded == len(device.requests), "no request while somebody answers"
        send(page)
        page.reload()
        device.settle()
        page.goto("about:blank")
        device.open(site.link(published))  # whatever was sent while leaving has arrived before this
        check_nothing_leaks(site, device)
        assert [request.body.decode() for request in site.requests_of()] == [shown]
        assert [request.post_data for request in device.requests_of()] == [shown]
        assert page.context.cookies() == []
        assert page.evaluate("() => Object.keys(localStorage).sort()") == ["candor-changes/2", "candor-ledger/2"]
        kept = page.evaluate("() => JSON.stringify([localStorage, document.cookie])")
        assert not any(mark in kept for mark in (*MARKS, NUMBER))
        assert device.complaints == []


def test_a_beacon_on_leaving_would_be_seen(site: Site, browser: Browser) -> None:
    """The check above has teeth: the server's record holds what a page sends while it is left."""
    published = site.add(all_types_survey())
    spy = f"addEventListener('pagehide', () => navigator.sendBeacon('/s/exam', '{MARKS[0]}'))"
    with visit(browser, init=spy) as device:
        device.open(site.link(published))
        device.page.goto("about:blank")
        device.open(site.link(published))
        with pytest.raises(AssertionError):
            check_nothing_leaks(site, device)


# once and for all


@pytest.mark.essential
def test_reload_back_and_double_click_send_the_same_bytes_once(site: Site, browser: Browser) -> None:
    published = site.add(all_types_survey())
    with visit(browser) as device:
        page = device.open(site.link(published))
        fill(page)
        button(page, "randomize").dblclick()
        expect(button(page, "send")).to_be_enabled()
        assert not site.requests_of()
        shown = shown_bytes(page)
        page.reload()
        expect(text(page, "review_again")).to_be_visible()
        assert page.locator(ANSWERS).count() == 0
        page.goto(f"{site.link(published)}/privacy")
        page.go_back()
        device.settle()
        assert shown_bytes(page) == shown
        sending = button(page, "send")
        expect(sending).to_be_enabled()
        sending.dblclick()
        expect(page.get_by_role("link", name=word("form.save"))).to_be_visible()
        page.goto("about:blank")
        page.go_back()
        expect(title(page, "answered")).to_be_visible()
        page.reload()
        expect(title(page, "answered")).to_be_visible()
        assert page.locator("form").count() == 0
        assert [request.body.decode() for request in site.requests_of()] == [shown]
        assert site.stored_reports(published) == [json.loads(shown)]


def test_a_second_tab_cannot_draw_again(site: Site, browser: Browser) -> None:
    published = site.add(all_types_survey())
    with visit(browser) as device:
        first = device.open(site.link(published))
        second = first.context.new_page()
        second.goto(site.link(published))
        for page in (second, first):
            page.bring_to_front()
            fill(page)
        randomize(first)
        second.bring_to_front()
        expect(title(second, "review")).to_be_visible()  # by itself
        assert shown_bytes(second) == shown_bytes(first)
        assert second.locator(ANSWERS).count() == 0  # those answers were not used
        first.bring_to_front()
        assert first.locator(ANSWERS).count() == 6
        send(first)
        expect(title(second, "answered")).to_be_visible()
        second.bring_to_front()
        text(second, "forget").click()
        button(second, "forget_yes").click()
        for page in (first, second):
            expect(title(page, "forgotten")).to_be_visible()


@pytest.fixture
def remembering(browser: Browser) -> Iterator[Browser]:
    """A browser that brings pages back as they were left; under automation it usually does not."""
    running = browser.browser_type.launch(
        executable_path=find_chromium(whole=True),
        args=QUIET_CHROMIUM,
        chromium_sandbox=os.geteuid() != 0,
        ignore_default_args=["--disable-back-forward-cache"],
    )
    yield running
    running.close()


@pytest.mark.parametrize("left_at", ["questions", "review"])
def test_the_back_button_shows_nobody_what_was_answered(site: Site, remembering: Browser, left_at: str) -> None:
    published = site.add(all_types_survey())
    with visit(remembering) as device:
        page = device.open(site.link(published))
        page.evaluate("() => addEventListener('pageshow', ({ persisted }) => (window.persisted = persisted))")
        fill(page)
        if left_at == "review":
            randomize(page)
        page.get_by_role("link", name=word("form.mixed")).click()
        page.get_by_role("link", name=word("privacy.back")).last.click()
        device.settle()
        if left_at == "questions":
            fill(page)
            randomize(page)
        expect(button(page, "send")).to_be_enabled()
        send(page)
        page.go_back(wait_until="commit")
        page.go_back(wait_until="commit")
        if left_at == "questions":  # a page that has just written something is not kept
            page.wait_for_function("() => window.persisted")
        expect(title(page, "answered")).to_be_visible()
        assert page.locator("form, input:checked").count() == 0
        assert page.locator(ANSWERS).count() == 0


def test_a_page_that_was_left_half_filled_in_comes_back_empty(site: Site, remembering: Browser) -> None:
    published = site.add(all_types_survey())
    with visit(remembering) as device:
        page = device.open(site.link(published))
        page.evaluate("() => addEventListener('pageshow', ({ persisted }) => (window.persisted = persisted))")
        fill(page)
        page.get_by_role("link", name=word("form.mixed")).click()
        page.wait_for_url("**/privacy")
        page.go_back(wait_until="commit")
        page.wait_for_function("() => window.persisted")
        assert page.locator("input:checked").count() == 0
        assert page.get_by_role("textbox").input_value() == ""


def test_failure_keeps_the_report_also_over_a_reload(site: Site, browser: Browser) -> None:
    published = site.add(all_types_survey())
    with visit(browser) as device:
        page = device.open(site.link(published))
        fill(page)
        randomize(page)
        down = (503, "application/problem+json", b'{"code":"unavailable"}')
        site.intercept = lambda request: down if request.method == "POST" else None
        button(page, "send").click()
        expect(title(page, "unreachable")).to_be_focused()
        button(page, "retry").click()
        expect(title(page, "unreachable")).to_be_focused()
        page.reload()
        expect(button(page, "send")).to_be_enabled()
        site.intercept = lambda request: None
        send(page)
        bodies = [request.body for request in site.requests_of()]
        assert len(bodies) == 3
        assert len(set(bodies)) == 1
        assert len(site.stored_reports(published)) == 1


def test_the_receipt_is_a_file(site: Site, browser: Browser, tmp_path: Path) -> None:
    published = site.add(all_types_survey())
    with visit(browser) as device:
        page = device.open(site.link(published))
        fill(page)
        randomize(page)
        send(page)
        with page.expect_download() as saving:
            page.get_by_role("link", name=word("form.save")).click()
        assert saving.value.suggested_filename == "receipt-exam.json"
        saving.value.save_as(tmp_path / "receipt.json")
        receipt = json.loads((tmp_path / "receipt.json").read_text())
        (stored,) = site.stored_reports(published)
        assert (receipt["survey"], receipt["bits"]) == (stored["survey"], stored["bits"])
        assert set(receipt) == {"slug", "survey", "bits", "epsilon", "day"}  # and not which row it is
        assert device.complaints == []
