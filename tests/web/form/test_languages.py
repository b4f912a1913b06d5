"""One survey in several languages: chosen on the device, told to nobody, and the same answers in all of them."""

from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page, expect

from survey_app.languages import Words
from tests.browser import BY_LOOK, DESKTOP, PHONE, Site, apply_look, overflows, violations, visit
from tests.definitions import COIN, define, field, yes_no
from tests.display_survey import study
from tests.fixtures import Installation
from tests.form_browser import YES, button, option, review_line, text, title
from tests.translated_survey import add_translations
from tests.tree import parse
from tests.words import word

MARKS = {"de": "«de»", "ar": "«ع»"}
TEXTS = "h1, h2, #survey > p, .consent p, legend > span:last-child, .option span, .points span"


def switch(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    expect(page.get_by_role("button", name=name, exact=True)).to_be_focused()


def unmarked(page: Page, mark: str) -> set[str]:
    """What is written on the page without the mark of a translation, and is not one of our own strings."""
    told = page.locator(TEXTS).evaluate_all("all => all.map((one) => one.innerText)")
    own = {*Words("de").section("form").values(), *Words("en").section("form").values()}
    return {text for text in told if text and mark not in text} - own


def test_a_survey_speaks_the_reader_s_language_and_switches_with_all_that_was_answered(
    site: Site, browser: Browser
) -> None:
    published = site.add(add_translations(study(description="About exams."), **MARKS))
    german = Words("de")
    with visit(browser, locale="de-AT", **PHONE) as device:
        page = device.open(site.link(published))
        loaded = len(site.requests)
        assert page.locator("html[lang=de][dir=ltr]").count() == 1
        assert page.title() == page.locator("h1").inner_text() == "«de» Exams and you"
        assert page.get_by_role("group", name=german("form.languages")).get_by_role("button").all_inner_texts() == [
            "English", "العربية", "Deutsch",
        ]  # fmt: skip
        expect(page.get_by_role("button", name="Deutsch")).to_have_attribute("aria-pressed", "true")
        page.get_by_label(german("form.agree")).check()
        option(page, german("form.yes")).check()
        page.get_by_role("group", name="«de» I am calm.").get_by_label("«de» Agree", exact=True).check()
        page.get_by_role("textbox").fill("3,")
        drinks = page.get_by_role("group", name="«de» What do you drink?").locator("label").all_inner_texts()
        option(page, "«de» tea").check()
        assert unmarked(page, "«de»") == set()

        switch(page, "العربية")  # which we do not speak
        assert page.locator("html[lang=ar][dir=rtl]").count() == 1
        assert unmarked(page, "«ع»") == set()
        ours = "e => e.closest('[lang]').lang + e.closest('[dir]').dir"
        for key in ("randomize", "agree", "protection"):
            assert text(page, key).first.evaluate(ours) == "enltr"
        assert page.get_by_text("«ع» I am calm.", exact=True).evaluate(ours) == "arrtl"
        expect(page.get_by_role("textbox")).to_have_value("3,")
        for look, rules in (("phone-light", ()), ("desktop-dark", BY_LOOK)):
            apply_look(page, look)
            assert violations(page, *rules) == []
            assert overflows(page) == []

        switch(page, "English")
        assert page.locator("html[lang=en][dir=ltr]").count() == 1
        assert not any(mark in page.locator("main").inner_text() for mark in MARKS.values())
        for label in (word("form.agree"), YES, "tea"):
            expect(option(page, label)).to_be_checked()
        expect(page.get_by_role("group", name="I am calm.").get_by_label("Agree", exact=True)).to_be_checked()
        shuffled = page.get_by_role("group", name="What do you drink?").locator("label").all_inner_texts()
        assert [one.removeprefix("«de» ") for one in drinks[:-1]] == shuffled[:-1], "the order on the screen stays"
        page.get_by_role("textbox").fill("3")
        page.get_by_role("group", name="I feel tense before an exam.").get_by_label("Neither").check()
        button(page, "randomize").click()
        button(page, "randomize").click()  # one statement was left out
        expect(page.get_by_text(review_line("Agree"))).to_be_visible()
        bits = page.locator("pre").text_content()

        switch(page, "Deutsch")
        expect(page.get_by_text(f"{german('form.you')} «de» Agree → {german('form.sent')}")).to_be_visible()
        assert page.locator("pre").text_content() == bits
        assert len(site.requests) == loaded, "no request tells the language"
        expect(page.get_by_role("button", name=german("form.send"))).to_be_enabled()
        page.get_by_role("button", name=german("form.send")).click()
        expect(page.get_by_role("heading", name=german("form.receipt"))).to_be_focused()
        switch(page, "English")
        expect(title(page, "receipt")).to_be_visible()
        expect(page.get_by_text("That was a great help.")).to_be_visible()
        assert [(request.body.decode(), request.headers["accept-language"]) for request in site.requests_of()] == [
            (bits, "*")
        ]
        assert {request.path for request in site.requests[loaded:]} == {f"/api/surveys/{published.survey.slug}/reports"}
        assert device.complaints == []


def test_the_language_is_chosen_by_what_the_reader_prefers(site: Site, browser: Browser) -> None:
    marks = {"pt-BR": "«p»", "xx-12": "«x»"}  # the second is no language
    published = site.add(add_translations(define([yes_no()], [field(COIN, "cheated")], contact="ada"), **marks))
    with visit(browser, locale="fr-CA") as device:
        page = device.open(site.link(published))
        assert page.locator("html[lang=en]").count() == 1, "one that it does not have is no reason to leave its own"
        switch(page, "xx-12")
        switch(page, "português (Brasil)")
        assert page.get_by_text("ada", exact=True).get_attribute("lang") == "en", "a contact need not be translated"
        chosen = page.evaluate(
            """async () => {
                const { languageFor } = await import("/static/form/language.js");
                const offered = ["en", "de", "pt-BR", "pt"];
                return [["de-AT"], ["fr", "de"], ["pt-PT"], ["PT", "en"], ["pt-br"], [], ["x"]]
                    .map((wishes) => languageFor(offered, wishes));
            }"""
        )
        assert chosen == ["de", "de", "pt-BR", "pt", "pt-BR", "en", "en"]


def test_what_is_read_is_what_is_hashed_and_not_what_the_server_writes_around_it(site: Site, browser: Browser) -> None:
    texts = {"title": "Our title", "description": "Our text", "contact": "Our contact", "consent": "Our consent"}
    groups = {"study": "exam", "slug": "exam-north", "group": "Our group"}
    published = site.add(define([yes_no()], [field(COIN, "cheated")], **texts, **groups))
    page_of_the_server = site.installation.app.test_client().get("/s/exam-north").text
    assert all(text in page_of_the_server for text in texts.values()), "for those without scripts"
    forged = page_of_the_server.replace("Our ", "Their ").encode()
    path = f"/s/{published.survey.slug}"
    site.intercept = lambda request: (200, "text/html", forged) if request.path == path else None
    with visit(browser, **DESKTOP) as device:
        page = device.open(site.link(published))
        assert page.title() == "Our title"
        assert "Their" not in device.text()
        for words in (*texts.values(), word("form.group", group="Our group")):
            assert words in device.text()
    with visit(browser, java_script_enabled=False) as device:
        device.page.goto(site.link(published))
        assert "Their title" in device.text()


def test_the_page_that_explains_speaks_the_reader_s_language_at_the_same_address(
    installation: Installation, web: FlaskClient
) -> None:
    installation.publish(add_translations(study(), **MARKS))
    own = "Did you copy?"
    cases = [("de-CH,en;q=0.5", "de", f"«de» {own}"), ("ar", "en", f"«ع» {own}"), ("fr", "en", own), ("", "en", own)]
    for wish, ours, question in cases:
        reply = web.get("/s/exam/privacy", headers={"Accept-Language": wish})
        page = parse(reply.text)
        assert page.one("h1").text == Words(ours)("privacy.title")
        assert page.all("h3")[0].text == question
        assert "Accept-Language" in reply.headers["Vary"]
    paper = web.get("/s/exam/paper", headers={"Accept-Language": "de"}).text
    assert "«de»" not in paper, "sheets are printed once, for everybody"
