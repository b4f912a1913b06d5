"""The form's page: its words, its weight, its looks, its languages, and an author's text that stays text."""

import gzip
import re
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from candor_client import Survey, description
from candor_client import randomize as draw
from candor_client.report import unpack
from survey_app.languages import LANGUAGES, Words
from survey_app.store import PublishedSurvey
from survey_app.web.assets import build_form_script
from tests.browser import BY_LOOK, CAMPUS, DESKTOP, PHONE, ROOT, Site, Visit, apply_look, overflows, violations, visit
from tests.definitions import COIN, define, drawn, encode, field, geometric, number, scale, subset, yes_no
from tests.display_survey import study
from tests.form_browser import (
    MARKS,
    NO,
    NUMBER,
    YES,
    all_types_survey,
    button,
    fill,
    option,
    options,
    randomize,
    send,
    text,
    title,
    tokens,
)
from tests.replay import REPORTS
from tests.translated_survey import add_translations
from tests.words import word

FORM = ROOT / "static" / "form"


# protection, in words


def test_the_odds_are_those_of_the_integers(site: Site, browser: Browser) -> None:
    asked = yes_no("cheated"), yes_no("again", show_if={"question": "cheated", "is": ["yes"]})
    published = site.add(define([*asked], [field(COIN, "cheated"), field(subset(3, 1), "again")], epsilon=10))
    with visit(browser) as device:
        page = device.open(site.link(published))
        raised = word("form.total", part=49, whole=100, epsilon="2.9")  # ln 3 + ln 6 = ln 18: 18/37
        assert raised in device.text()
        text(page, "protection").first.click()
        assert word("form.odds_blind", p=50, people=100, other=f"{YES} or {NO}") in device.text()
        expect(text(page, "costs").locator("visible=true")).to_have_text(word("form.costs", epsilon="1.1"))
        linked, open_now = word("form.depends", epsilon="2.9"), text(page, "depends").locator("visible=true")
        expect(open_now).to_have_text([linked])
        option(page, YES).first.check()
        text(page, "protection").last.click()  # what follows tells about what went before
        expect(open_now).to_have_text([linked, linked])


MORE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (define([number("n", max=2, levels=3, unit="h")], [field(geometric(3, 2**62), "n")]), {"n": 1}),
    (
        define([number("n", min="-1234567.5", max="7654321.25", step="0.25", bins=7)], [field(subset(7, 3), "n")]),
        {"n": "0.25"},
    ),
    (
        define([number("n", min="-1.001", max="0.002", step="0.001", levels=8)], [field(subset(8, 4), "n")]),
        {"n": "-0.5"},
    ),
    (
        define([yes_no()], [field({"kind": "flip", "one": str(2**63), "zero": str(2**64 // 10)}, "cheated")]),
        {"cheated": True},
    ),
    (
        define([yes_no()], [field({"kind": "flip", "one": str(2**63), "zero": str(2**64 * 51 // 10000)}, "cheated")]),
        {"cheated": True},
    ),
    (define([yes_no()], [field({"kind": "flip", "one": str(2**64 - 1), "zero": "1"}, "cheated")]), {"cheated": True}),
    (
        define([yes_no()], [field({"kind": "flip", "one": str(5 * 2**61), "zero": str(3 * 2**61)}, "cheated")]),
        {"cheated": True},
    ),
    (define([number("n", max=60, levels=61, unit="h")], [field(geometric(61, 2**63 + 2**62), "n")]), {"n": 12}),
    (define([number("n", max=91, levels=4, unit="h")], [field(subset(4, 2), "n")]), {"n": 12}),
    (define([number("n", max=10, bins=4, min=1)], [field(subset(4, 1), "n")]), {"n": 5}),
    (
        define([options("c", "choice", *"abcdefghijklmnopqrst")], [field(subset(20, 14), "c")]),
        {"c": "f"},
    ),
    (define([scale("s"), yes_no("y", optional=True)], [field(subset(9, 1), "s", "y")]), {"s": "Agree"}),
    (
        define([yes_no()], [field({"kind": "flip", "one": str(2**64 - 2**52), "zero": str(2**52)}, "cheated")]),
        {"cheated": True},
    ),
]


@pytest.fixture
def speech(site: Site, browser: Browser) -> Any:
    """The form's own words for a definition and bits."""
    published = site.add(all_types_survey())
    script = """async ([source, all]) => {
        const { Survey } = await import("/client/js/index.js");
        const { unpack } = await import("/client/js/report.js");
        const { describe, oddsSentence } = await import("/client/js/description.js");
        const { speech } = await import("/static/form/strings.js");
        const survey = Survey.fromJson(new TextEncoder().encode(source));
        const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
        const told = (field, part) => part && describe(field, part, speech);
        const odds = survey.fields.map((field) => oddsSentence(field, speech));
        return [odds, all.map((hex) => unpack(survey, bytes(hex)).map((part, i) => told(survey.fields[i], part)))];
    }"""
    with visit(browser) as device:
        device.open(site.link(published))
        yield lambda source, all_bits: device.page.evaluate(
            script, [source.decode(), [bits.hex() for bits in all_bits]]
        )


def figures(text: str) -> list[str]:
    """The numbers of a sentence; a terminal groups the digits of people, a browser those of every number."""
    return re.findall(r"[\d.]*\d", re.sub(r"(\d),(\d)", r"\1\2", text))


def test_the_form_says_what_the_terminal_says(speech: Any) -> None:
    cases = [
        (vector["source"].encode(), [bytes.fromhex(case["bits"]) for case in vector["cases"]]) for vector in REPORTS
    ]
    for definition, answers in MORE:
        survey = Survey.from_json(encode(definition))
        cases.append((survey.source, [draw(survey, answers).bits for _ in range(20)]))
    for source, all_bits in cases:
        survey = Survey.from_json(source)
        odds, told = speech(source, all_bits)
        for one, sentence in zip(survey.fields, odds, strict=True):
            expected = figures(description.odds_sentence(one))
            assert figures(sentence)[-len(expected) :] == expected, sentence
        for bits, spoken in zip(all_bits, told, strict=True):
            for one, part, words in zip(survey.fields, unpack(survey, bits), spoken, strict=True):
                assert (part is None) == (words is None)
                if part is not None:
                    assert tokens(words, survey) == tokens(description.describe(one, part), survey)


# the page itself


def test_the_page_weighs_little_and_asks_nobody_else(site: Site, browser: Browser, tmp_path: Path) -> None:
    """With tickets, profiles and all; everything that is loaded, headers included, as it came over the wire."""
    weights = {}
    surveys = {"all of them": site.add(add_translations(study(), de="«de»", es="«es»", fr="«fr»"))}
    for language in LANGUAGES:
        source = tmp_path / f"{language}.yaml"
        source.write_text(CAMPUS.read_text().replace("slug: campus", f"slug: campus-{language}\nlanguage: {language}"))
        surveys[language] = site.add(source)
    for language, published in surveys.items():
        with visit(browser, **DESKTOP) as device:
            bodies: dict[str, float] = {}

            def weigh(event: dict[str, Any], bodies: dict[str, float] = bodies) -> None:
                bodies[event["requestId"]] = event["encodedDataLength"]

            network = device.page.context.new_cdp_session(device.page)
            network.on("Network.loadingFinished", weigh)
            network.send("Network.enable")
            device.open(site.link(published))
            device.page.wait_for_load_state("networkidle")
            assert device.page.locator("fieldset").count() == len(published.survey.questions)
            assert len(bodies) == len(device.requests) == 4
            assert all(request.url.startswith(site.origin) for request in device.requests)
            assert device.complaints == []
            weights[language] = sum(bodies.values())
            assert weights[language] > 10_000, "headers and bodies, as they came over the wire"
    assert max(weights.values()) <= 62_300, weights


def test_what_the_form_loads_is_what_the_vectors_run_against(site: Site, browser: Browser) -> None:
    """tests/assure/test_script_bundle.py runs them against the blocks of this script."""
    with visit(browser) as device:
        device.open(site.link(site.add(all_types_survey())))
        scripts = {request.url for request in device.requests if request.resource_type == "script"}
        assert scripts == {f"{site.origin}/static/form/form.js"}
    assert ask(f"{site.origin}/static/form/form.js")[2].decode() == build_form_script()


def ask(url: str, **headers: str) -> tuple[int, Any, bytes]:
    """Status, headers and body of an answer, as they are on the wire."""
    asked = urllib.request.Request(url, headers={key.replace("_", "-"): value for key, value in headers.items()})  # noqa: S310
    try:
        answer = urllib.request.urlopen(asked)  # noqa: S310
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.headers, answer.read()


def test_everything_is_served_as_it_is_and_by_gzip_to_those_who_accept_it(site: Site) -> None:
    published = site.add(all_types_survey())
    scripts = [*FORM.rglob("*.js"), *(ROOT / "client" / "js").rglob("*.js")]
    expected = {f"/{file.relative_to(ROOT)}": file.read_bytes() for file in scripts}
    expected |= {f"/static/{name}.css": (ROOT / "static" / f"{name}.css").read_bytes() for name in ("style", "explain")}
    expected["/static/form/form.js"] = build_form_script().encode()
    expected["/s/exam"] = ask(f"{site.origin}/s/exam")[2]
    for path, body in expected.items():
        url = site.origin + path
        _, plain, whole = ask(url)
        _, packed, small = ask(url, Accept_Encoding="br, gzip;q=0.5")
        assert (whole, plain["Content-Encoding"]) == (body, None), path
        assert (gzip.decompress(small), packed["Content-Encoding"]) == (body, "gzip"), path
        assert ask(url, Accept_Encoding="gzip;q=0")[2] == body
        assert plain["Content-Type"] == packed["Content-Type"]
        assert plain["ETag"] != packed["ETag"]
        for headers in (plain, packed):
            assert "Accept-Encoding" in headers["Vary"].split(", ")
            assert headers["Cache-Control"] == "no-cache"
        assert ask(url, If_None_Match=plain["ETag"])[::2] == (304, b"")
        assert ask(url, If_None_Match=packed["ETag"], Accept_Encoding="gzip")[::2] == (304, b"")
        assert ask(url, If_None_Match=packed["ETag"])[2] == body
    _, headers, body = ask(f"{site.origin}/api/surveys/exam", Accept_Encoding="gzip")  # its ETag is its digest
    assert (headers["Content-Encoding"], headers["ETag"]) == (None, f'"{published.survey.digest}"')
    assert body == published.survey.source
    for page in ("privacy", "paper", "enter"):
        _, headers, body = ask(f"{site.origin}/s/exam/{page}", Accept_Encoding="gzip")
        assert (headers["Content-Encoding"], headers["Cache-Control"]) == ("gzip", "no-store")
        assert gzip.decompress(body).endswith(b"</html>")
    for path in ("/login", "/console", "/s/nothing", "/api/surveys/exam/results"):  # may stand beside a secret
        assert ask(site.origin + path, Accept_Encoding="gzip")[1]["Content-Encoding"] is None


def test_the_scripts_make_no_html_of_text_and_draw_nothing_themselves() -> None:
    for file in FORM.rglob("*.js"):
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|Function\(|Math\.random", file.read_text()
        )


def test_every_string_the_scripts_use_is_there_and_every_string_is_used() -> None:
    scripts = [file for file in FORM.rglob("*.js") if file.stem != "enter"]
    spoken = [ROOT / "client" / "js" / "description.js", *(ROOT / "client" / "js").glob("*/*.js")]
    source = "".join(file.read_text() for file in (*scripts, *spoken))
    calls = r"""(?:say|details|heading|notice|problem)\("(\w+)"|(?:textEl|button)\("[\w.]+", "(\w+)\""""
    used = {first or second for first, second in re.findall(calls, source)}
    strings = {
        key for section in ("form", "trouble") for key in Words("en").section(section) if not key.startswith("page_")
    } | {"alone"}  # which is the privacy page's
    assert used <= strings
    codes = set(Words("en").section("trouble"))
    named = {key for key in strings if f'"{key}"' in source or f"strings.{key}" in source}
    assert strings - named - codes == set()


PAYLOADS = [
    '<img src=x onerror="window.pwned=1">', "</script><script>window.pwned=1</script>", "{{7*7}}{% raw %}", "\"'><b>&amp;",
    "</title></textarea></noscript><svg onload=window.pwned=1>", "javascript:window.pwned=1", "${window.pwned=1}",
]  # fmt: skip


def test_an_author_s_text_stays_text(site: Site, browser: Browser) -> None:
    tagged = [f"{i} {payload}" for i, payload in enumerate(PAYLOADS)]
    questions = [
        yes_no() | {"text": tagged[0]},
        options("help", "choice", *tagged, show_if={"question": "cheated", "is": ["yes"]}) | {"text": tagged[1]},
        options("fair", "scale", *tagged) | {"text": tagged[2]},
        options("used", "multiple", *tagged[:3], optional=True) | {"text": tagged[3]},
        number("hours", unit=tagged[4]) | {"text": tagged[5]},
    ]
    fields = [
        field(COIN, "cheated"), field(subset(8, 1, 2**63), "help"), field(subset(7, 1, 2**63), "fair"), field(drawn(4, 1), "used"),
        field(subset(2, 1), "hours"),
    ]  # fmt: skip
    texts = {"title": tagged[1], "description": tagged[0], "consent": tagged[4], "contact": tagged[1]}
    published = site.add(define(questions, fields, epsilon=10, **texts))
    with visit(browser) as device:
        page = device.open(site.link(published))

        def check() -> None:
            assert page.evaluate("() => window.pwned") is None
            assert page.locator("main img, main b:not([class]):has(*), main svg[onload]").count() == 0
            assert page.locator("script").count() == 2

        check()
        assert page.title() == tagged[1]
        for i in (0, 1, 4):
            assert tagged[i] in device.text()
        option(page, word("form.agree")).check()
        page.get_by_label(YES, exact=True).check()
        for question in page.get_by_role("group").filter(has=page.get_by_role("radio")).all()[1:]:
            assert [line.strip() for line in question.locator("label").all_inner_texts()][: len(tagged)] == tagged
            question.get_by_role("radio").nth(1).check()
        page.get_by_role("group", name=tagged[3]).get_by_role("checkbox").nth(1).check()
        page.get_by_role("textbox").fill("nonsense")
        button(page, "randomize").click()
        check()
        page.get_by_role("textbox").fill("3")
        randomize(page)
        check()
        assert tagged[1] in page.locator(".fields").inner_text()
        send(page)
        check()
        assert device.complaints == []


# looks


def states(site: Site, device: Visit, published: PublishedSurvey) -> Any:
    """The form in every state, one after the other."""
    page = device.open(site.link(published))
    option(page, word("form.agree")).check()
    yield "empty"
    for summary in page.locator("form summary:visible").all():
        summary.click()
    yield "protection"
    button(page, "randomize").click()
    yield "errors"
    button(page, "single").click()
    yield "single"
    button(page, "together").click()
    fill(page)
    randomize(page)
    text(page, "bytes").click()
    yield "review"
    site.intercept = lambda request: (503, "text/plain", b"") if request.method == "POST" else None
    button(page, "send").click()
    expect(button(page, "retry")).to_be_enabled()
    yield "failed"
    site.intercept = lambda request: None
    button(page, "retry").click()
    expect(title(page, "receipt")).to_be_focused()
    text(page, "budget").click()
    text(page, "forget").click()
    yield "receipt"


@pytest.mark.essential
def test_axe_finds_nothing_in_any_state_at_any_size_light_or_dark(site: Site, browser: Browser) -> None:
    published = site.add(all_types_survey(description="A sample.", consent="Please read.", contact="ada@example.org"))
    with visit(browser) as device:
        for state in states(site, device, published):
            for look, rules in (("phone-light", ()), ("zoomed-dark", BY_LOOK)):
                apply_look(device.page, look)
                assert violations(device.page, *rules) == [], (state, look)
                assert overflows(device.page) == [], (state, look)


# languages


@pytest.mark.essential
def test_a_german_survey_speaks_german(site: Site, browser: Browser) -> None:
    published = site.add(all_types_survey(language="de", title="Alles"))
    german = Words("de")
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        assert page.get_attribute("html", "lang") == "de"
        assert german("form.rolls") in device.text()
        option(page, german("form.no")).check()
        option(page, MARKS[2]).check()
        option(page, german("form.none")).check()
        page.get_by_role("textbox").fill("1234,5")
        randomize = page.get_by_role("button", name=german("form.randomize"))
        randomize.click()
        assert page.locator(".error:visible").first.inner_text() == german("form.bad_number")
        page.get_by_role("textbox").fill(NUMBER)
        option(page, german("form.no_answer")).last.check()
        randomize.click()
        expect(page.get_by_text(f"{german('form.you')} 738.291 coins → {german('form.sent')}")).to_be_visible()
        send = page.get_by_role("button", name=german("form.send"))
        expect(send).to_be_enabled()
        send.click()
        expect(page.get_by_role("heading", name=german("form.receipt"))).to_be_focused()
        assert len(site.stored_reports(published)) == 1
        assert device.complaints == []


def test_a_survey_from_right_to_left_in_a_language_we_lack(site: Site, browser: Browser) -> None:
    texts = {"title": "استبيان", "description": "هل هذا يعمل؟"}
    asked = [
        yes_no() | {"text": "هل نسخت من أحد؟"},
        options("help", "choice", "لا شيء", "الهاتف") | {"text": "ماذا استخدمت؟"},
    ]
    published = site.add(
        define(asked, [field(COIN, "cheated"), field(subset(2, 1), "help")], epsilon=10, language="ar", **texts)
    )
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        assert page.locator("html[lang=ar][dir=rtl]").count() == 1
        ours = "e => e.closest('[lang]').lang + e.closest('[dir]').dir"
        for place in (button(page, "randomize"), text(page, "protection"), page.get_by_text(word("form.rolls"))):
            assert place.first.evaluate(ours) == "enltr"
        assert page.get_by_text("هل نسخت من أحد؟").evaluate("e => e.closest('[lang]').lang") == "ar"
        box, label = (
            page.locator(".option").first.locator("input").bounding_box(),
            page.locator(".option span").first.bounding_box(),
        )
        assert box is not None
        assert label is not None
        assert box["x"] > label["x"]
        assert overflows(page) == []
        assert violations(page) == []
