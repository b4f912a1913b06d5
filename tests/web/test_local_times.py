"""A moment is told in UTC, and where scripts run on the reader's own clock beside it."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import DESKTOP, PHONE, Site, overflows, visit
from tests.console import EXAM, sign_in_by_keyboard
from tests.definitions import simple
from tests.sign_in import find_user

CLOSES = datetime(2045, 1, 31, 23, 30, tzinfo=UTC)
OPENS = datetime(2044, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "own"),
    [
        ("Europe/Berlin", "01 Feb 2045, 00:30 CET"),
        ("America/New_York", "31 Jan 2045, 18:30 GMT-5"),
        ("Asia/Kolkata", "01 Feb 2045, 05:00 GMT+5:30"),
        ("UTC", None),
    ],
)
def test_the_console_shows_moments_on_the_readers_own_clock(
    site: Site, browser: Browser, zone: str, own: str | None
) -> None:
    site.add(simple(), closes=CLOSES)
    with visit(browser, timezone_id=zone, **PHONE) as device:
        sign_in_by_keyboard(device, site)
        page = device.open(f"{site.origin}/console/exam")
        told = page.locator(f"time[datetime='{CLOSES.isoformat()}']").first
        expect(told).to_have_text("31 Jan 2045, 23:30 UTC" + (f" ({own})" if own else ""))
        expect(page.locator(".log .own-clock")).to_have_count(1 if own else 0)
        assert page.input_value("#mail").strip().endswith("The survey closes on 31 Jan 2045, 23:30 UTC.")
        assert overflows(page) == []


def test_without_scripts_utc_stands(site: Site, browser: Browser) -> None:
    site.add(simple(), closes=CLOSES)
    with visit(browser, timezone_id="Europe/Berlin", java_script_enabled=False, **DESKTOP) as device:
        page = sign_in_by_keyboard(device, site)
        expect(page.locator("time").first).to_have_text("31 Jan 2045, 23:30 UTC")


def test_the_results_of_a_survey_that_opens_later_say_when_on_both_clocks(site: Site, browser: Browser) -> None:
    site.add(simple(), opens=OPENS)
    with visit(browser, timezone_id="Europe/Berlin", **DESKTOP) as device:
        page = device.open(f"{site.origin}/results/exam")
        expect(page.locator("time")).to_have_text("01 Jul 2044, 12:00 UTC (01 Jul 2044, 14:00 CEST)")
        assert device.complaints == []


def test_a_draft_that_is_to_be_published_says_when_on_both_clocks(site: Site, browser: Browser) -> None:
    key = site.store.save_draft(find_user(site.store, "ada").key, EXAM + b"closes: 2045-01-31T23:30Z\n")
    with visit(browser, timezone_id="Europe/Berlin", **DESKTOP) as device:
        sign_in_by_keyboard(device, site)
        page = device.open(f"{site.origin}/console/drafts/{key}/publish")
        expect(page.locator("time .own-clock").first).to_have_text("(01 Feb 2045, 00:30 CET)")
        page.get_by_role("link", name="2 Settings").click()  # a part of the page is replaced
        told = page.locator("#s-closes ~ .own-clock")
        expect(told).to_contain_text("01 Feb 2045, 00:30 CET")
        page.fill("#s-closes", "2045-07-31T22:00")
        expect(told).to_contain_text("01 Aug 2045, 00:00 CEST")
        expect(page.locator("#s-opens ~ .own-clock")).to_be_hidden()
        site.add(simple(), closes=CLOSES)
        device.open(f"{site.origin}/console/exam")
        expect(page.locator("#t-closes ~ .own-clock")).to_contain_text("01 Feb 2045, 00:30 CET")
