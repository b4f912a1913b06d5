"""The tests' own browser: what one visit leaves the next does not find, although they share a renderer; and axe finds."""

from playwright.sync_api import Browser

from tests.browser import CAMPUS, PHONE, Site, stop_the_clock, violations, visit

FILL = """async () => { localStorage.x = sessionStorage.x = 1; document.cookie = "x=1; path=/; max-age=999";
    await caches.open("x"); await new Promise((done) => (indexedDB.open("x").onsuccess = done)); }"""
LEFT = """async () => [{...localStorage}, {...sessionStorage}, document.cookie, await caches.keys(),
    (await indexedDB.databases()).length, String(setTimeout).includes("[native code]"), innerWidth]"""
EMPTY = [{}, {}, "", [], 0, True]


def test_a_visit_finds_nothing_of_the_one_before(site: Site, browser: Browser) -> None:
    link = site.link(site.add(CAMPUS))
    with visit(browser) as first:
        first.open(link).evaluate(FILL)
        context = first.page.context
        assert first.page.evaluate(LEFT) != [*EMPTY, 1280]
        with visit(browser) as beside:
            assert beside.page.context is not context, "two devices at once"
            assert beside.open(link).evaluate(LEFT) == [*EMPTY, 1280]
    site.requests.clear()
    with visit(browser, **PHONE) as second:
        assert second.open(link).evaluate(LEFT) == [*EMPTY, 360]
        assert len(second.requests) == len(site.requests), "nothing comes from a cache, and every request is noted"
        stop_the_clock(second.page)
    with visit(browser) as third:
        assert third.open(link).evaluate(LEFT) == [*EMPTY, 1280], "a clock goes with its visit"
        third.page.evaluate("document.body.append(new Image())")
        assert any(one.startswith("image-alt") for one in violations(third.page))
