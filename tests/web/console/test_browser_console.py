"""The console in a real browser: by keyboard, on a phone, without scripts, for everybody."""

import re
import threading

import pytest
from playwright.sync_api import Browser, expect

from survey_app.assure.simulation.demo_survey import example_path, simulate_submissions
from tests.browser import (
    CAMPUS,
    COLOURS,
    CORNERS,
    DESKTOP,
    PHONE,
    ROOT,
    ServerRequest,
    Site,
    apply_look,
    overflows,
    violations,
    visit,
)
from tests.console import EXAM, complaints, press, sign_in_by_keyboard, write_all_types
from tests.sign_in import find_user


@pytest.mark.essential
def test_a_survey_of_all_types_is_written_and_published_in_a_browser(site: Site, browser: Browser) -> None:
    with visit(browser, **DESKTOP) as device:
        page = sign_in_by_keyboard(device, site)
        press(page, "Start empty")
        write_all_types(page)
        page.get_by_role("button", name="Move question 1 down").click()  # what was typed last is saved first
        page.wait_for_selector("#q1 a:focus")
        assert page.locator("#q1 h3").inner_text() == "Yes or no, really?"
        assert page.locator("#q4 h3").inner_text() == "Number, really?"
        page.get_by_role("button", name="Duplicate question 2").click()
        page.wait_for_selector("#q5")
        page.get_by_role("button", name="Delete question 3…").click()
        press(page, "Delete it")
        page.wait_for_selector("#q5", state="detached")
        page.get_by_role("link", name="2 Settings").click()
        page.fill("#s-title", "All types")
        page.fill("#s-slug", "no slug")
        page.wait_for_selector("#s-slug-error:not(:empty)")  # checked while one types
        page.fill("#s-slug", "all-types")
        page.wait_for_selector("#s-slug-error:empty", state="attached")
        page.get_by_role("link", name="4 Try it").click()  # saves on the way
        press(page, "Let them answer")
        page.wait_for_selector("svg.chart")
        page.locator("#respondents").focus()
        page.keyboard.press("Control+A")
        page.keyboard.type("4000")
        page.wait_for_selector("text=For you, with 4,000 respondents")  # while one types
        assert page.evaluate("document.activeElement.id") == "respondents"
        page.get_by_role("link", name="5 Publish").click()
        page.wait_for_selector("h1:has-text('All types')")
        page.get_by_role("button", name="Publish").click()
        page.wait_for_url("**/console/all-types")
        published = site.store.newest_version("all-types")
        assert published is not None
        assert [one.type for one in published.survey.questions] == ["choice", "yes_no", "scale", "multiple", "number"]
        box = page.locator("svg.qr").bounding_box()
        assert box is not None
        assert box["width"] > 150
        assert page.input_value("#pinned").endswith(f"/s/all-types#sha256={published.survey.digest}")
        assert complaints(device) == []


SEVERAL = b"slug: s\ntitle: T\nepsilon: 2  # kept\nquestions:\n" + b"".join(
    b"  - {id: q%d, type: yes_no, text: Q%d}\n" % (i, i) for i in range(6)
)


def test_what_each_person_answers_is_chosen_by_keyboard_and_nothing_typed_is_lost(site: Site, browser: Browser) -> None:
    user = find_user(site.store, "ada")
    key = site.store.save_draft(user.key, SEVERAL)
    with visit(browser, **DESKTOP) as device:
        sign_in_by_keyboard(device, site)
        page = device.open(f"{site.origin}/console/drafts/{key}?edit=1")
        expect(page.locator("label[for=ask-all]")).to_contain_text("13,948 people")
        page.fill("#q1-text", "Did you?")
        page.locator("#ask-all").focus()
        page.keyboard.press("ArrowUp")  # around to the last
        page.wait_for_selector("body:has(#ask-auto:checked:focus) #said .said.status:has-text('Saved.')")
        expect(page.locator("#q1-text")).to_have_value("Did you?")
        expect(page.locator("#q1 h3")).to_have_text("Did you?")
        expect(page.locator("td.now").first).to_have_text(re.compile("±11.5"))
        assert page.url.endswith(f"/console/drafts/{key}?edit=1")
        found = site.store.draft(user.key, key)
        assert found is not None
        assert found.source == SEVERAL.replace(b"# kept\n", b"# kept\nask: auto\n").replace(
            b"text: Q1", b"text: Did you?"
        )
        page.get_by_role("link", name="2 Settings").click()
        page.fill("#s-epsilon", "4")
        expect(page.locator("label[for=ask-auto]")).to_contain_text("739 people")  # while one types
        page.get_by_label("Your blocks").check()
        expect(page.locator("#ask-one")).to_be_checked()
        expect(page.locator("#s-epsilon")).to_have_value("4")
        expect(page.locator("label[for=ask-one]")).to_contain_text("1,651 people")
        assert complaints(device) == []


def test_the_text_of_a_new_question_is_what_is_typed_at_once(site: Site, browser: Browser) -> None:
    with visit(browser, **DESKTOP) as device:
        page = sign_in_by_keyboard(device, site)
        page.fill("#new-title", "Colours")
        press(page, "Start empty")
        page.wait_for_selector("text=No questions yet")
        press(page, "Single choice")
        page.wait_for_selector("#q0.open textarea:focus")
        page.keyboard.type("Which one?")
        expect(page.locator("#q0-text")).to_have_value("Which one?")
        page.locator("#q0-options").focus()
        page.keyboard.type("red")
        page.keyboard.press("Enter")
        page.keyboard.type("green")
        expect(page.locator("#q0-options")).to_have_value("red\ngreen")  # what stood there was a placeholder
        expect(page.locator("#q0-optional-hint data")).to_be_visible()  # since it is a survey now
        assert complaints(device) == []


def test_what_is_typed_while_the_server_works_is_saved_too(site: Site, browser: Browser) -> None:
    user = find_user(site.store, "ada")
    key = site.store.save_draft(user.key, EXAM)
    typed = threading.Event()

    def late(request: ServerRequest) -> None:
        if request.method == "POST" and b"add:number" in request.body:
            typed.wait()

    with visit(browser, **DESKTOP) as device:
        sign_in_by_keyboard(device, site)
        page = device.open(f"{site.origin}/console/drafts/{key}?edit=0")
        page.fill("#q0-text", "Did you ever")
        page.fill("#q0-id", "ever")
        site.intercept = late
        page.get_by_role("button", name="Number").click()
        page.fill("#q0-text", "Did you ever copy?")
        typed.set()
        page.wait_for_selector("#q1.open #q1-text:focus")
        expect(page.locator("#q0 h3")).to_have_text("Did you ever copy?")
        found = site.store.draft(user.key, key)
        assert found is not None
        assert b"{id: ever, type: yes_no, text: Did you ever copy?, design: coin}  # kept too" in found.source
        assert complaints(device) == []


def test_what_is_pressed_while_the_server_works_waits_for_its_turn(site: Site, browser: Browser) -> None:
    """Before, it was dropped without a word: a tab that does not open, a choice that jumps back."""
    user = find_user(site.store, "ada")
    key = site.store.save_draft(user.key, EXAM.replace(b"title:", b"epsilon: 4\nask: auto\ntitle:"))
    released = threading.Event()

    def late(request: ServerRequest) -> None:
        if request.method == "POST":
            released.wait()

    with visit(browser, **DESKTOP) as device:
        sign_in_by_keyboard(device, site)
        page = device.open(f"{site.origin}/console/drafts/{key}?edit=0")
        page.fill("#q0-text", "Did you ever copy?")
        site.intercept = late
        add = page.get_by_role("button", name="Number", exact=True)
        add.click()
        add.click()  # twice by a slip: once
        page.get_by_label("Everything split").check()
        page.get_by_role("button", name="Scale", exact=True).click()
        page.get_by_role("link", name="2 Settings").click()
        released.set()
        page.wait_for_selector("#s-title")
        expect(page.get_by_label("Everything split")).to_be_checked()
        found = site.store.draft(user.key, key)
        assert found is not None
        assert b"text: Did you ever copy?" in found.source and b"ask: all" in found.source
        assert found.source.count(b"type: number") == found.source.count(b"type: scale") == 1
        assert complaints(device) == []


SLOWLY = """() => {
    const { text } = Response.prototype;
    Response.prototype.text = async function () {
        const body = await text.call(this);
        if (!this.url.includes("/check")) return body;
        document.body.dataset.arriving = "";
        await new Promise((arrive) => { window.arrive = arrive; });
        return body;
    };
}"""


def test_what_is_said_about_a_page_that_was_left_changes_nothing_on_the_next(site: Site, browser: Browser) -> None:
    """Before, it took away all that stands beside the editor but the number of respondents."""
    key = site.store.save_draft(find_user(site.store, "ada").key, EXAM)
    with visit(browser, **DESKTOP) as device:
        sign_in_by_keyboard(device, site)
        page = device.open(f"{site.origin}/console/drafts/{key}?edit=0")
        page.evaluate(SLOWLY)
        page.fill("#q0-text", "Did you ever copy?")
        page.wait_for_selector("body[data-arriving]")  # the head of the reply is there, and the form still is
        page.get_by_role("link", name="2 Settings").click()
        page.wait_for_selector("#s-title")
        page.evaluate("window.arrive()")
        expect(page.locator("#asking")).to_be_visible()
        expect(page.locator("#for-you")).to_be_visible()
        page.get_by_role("link", name="5 Publish").click()
        with page.expect_download() as dossier:  # before, the script took it for a page
            page.get_by_role("link", name="the dossier").click()
        assert "Did you ever copy?" in dossier.value.path().read_text()
        assert complaints(device) == []


def test_the_answers_of_a_condition_are_those_of_the_question_that_is_chosen(site: Site, browser: Browser) -> None:
    user = find_user(site.store, "ada")
    source = (
        EXAM
        + b"  - {id: help, type: choice, text: What helped?, options: [notes, phone]}\n"
        + (b"  - {id: why, type: yes_no, text: Was it for time?}\n")
    )
    key = site.store.save_draft(user.key, source)
    with visit(browser, **DESKTOP) as device:
        sign_in_by_keyboard(device, site)
        page = device.open(f"{site.origin}/console/drafts/{key}?edit=2")
        page.get_by_text("Privacy and conditions").click()
        page.select_option("#q2-show_if", "cheated")
        page.get_by_label("Yes", exact=True).check()
        page.select_option("#q2-show_if", "help")
        page.get_by_label("phone").check()
        expect(page.get_by_label("Yes", exact=True)).to_have_count(0)
        page.get_by_role("button", name="Save", exact=True).click()
        page.wait_for_selector("#said .said.status:has-text('Saved.')")
        expect(page.get_by_label("phone")).to_be_checked()
        found = site.store.draft(user.key, key)
        assert found is not None
        assert b"show_if: {question: help, is: [phone]}" in found.source
        assert complaints(device) == []


def test_nothing_beside_the_editor_hides_in_a_scroll_of_its_own(site: Site, browser: Browser) -> None:
    key = site.store.save_draft(find_user(site.store, "ada").key, SEVERAL)
    with visit(browser, **DESKTOP) as device:
        sign_in_by_keyboard(device, site)
        page = device.open(f"{site.origin}/console/drafts/{key}?respondents=200")
        page.wait_for_selector("#advice")
        assert page.evaluate(
            "(() => { const one = document.getElementById('beside'); return one.scrollHeight <= one.clientHeight + 1 })()"
        )
        top, beside = page.locator(".editing").bounding_box(), page.locator("#beside").bounding_box()
        assert top and beside and beside["y"] == top["y"]


FOR_THE_EYE = b"""\
  - {type: battery, text: How was it?, points: [bad, good], statements: {fair: It was fair., long: It was long.}}
  - section: You
  - {id: help, type: choice, text: What helped?, options: [notes, luck], shuffle: true, optional: true}
epsilon: 6
consent: I take part freely.
thanks: That was a help.
completion: C1A2B3
"""


def test_the_preview_is_the_real_form_and_sends_and_keeps_nothing(site: Site, browser: Browser) -> None:
    user = find_user(site.store, "ada")
    key = site.store.save_draft(user.key, EXAM + FOR_THE_EYE)
    with visit(browser, **PHONE) as device:
        page = sign_in_by_keyboard(device, site)
        page = device.open(f"{site.origin}/console/drafts/{key}/preview")
        before = len(site.requests)
        assert page.locator("fieldset:visible").count() == 0
        page.get_by_label("I agree").check()
        assert page.locator("form").get_by_role("heading", level=2).all_inner_texts() == ["How was it?", "You"]
        page.get_by_text("Yes", exact=True).click()
        for row in page.locator(".battery fieldset").all():
            row.get_by_label("good").check()
        page.locator("form .primary").click()
        expect(page.get_by_role("heading", name="You left this out.")).to_be_focused()
        page.locator("form .primary").click()
        page.locator("section .primary:not([disabled])").click()
        page.wait_for_selector("a[download]")  # the receipt
        expect(page.get_by_text("That was a help.")).to_be_visible()
        expect(page.get_by_label("Completion code")).to_have_value("C1A2B3")
        assert len(site.requests) == before
        assert page.evaluate("Object.keys(localStorage).length") > 0  # what stands in its place
        page.reload()
        page.wait_for_selector("#form fieldset", state="attached")  # and nobody remembers
        page.locator("#mark a").click()
        page.wait_for_url("**/s/exam/privacy")
        expect(page.locator("p.preview")).to_be_visible()
        assert complaints(device) == []
        assert device.page.context.storage_state()["origins"] == []


@pytest.mark.essential
def test_everything_works_without_scripts(site: Site, browser: Browser) -> None:
    with visit(browser, java_script_enabled=False, **PHONE) as device:
        page = sign_in_by_keyboard(device, site)
        page.locator("button[value=sample]").focus()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Move question 6 up").click()
        page.get_by_role("link", name="What helped you most?").click()
        page.fill("#q4-text", "What helped you?")
        page.fill("#q4-options", "none\nnotes")
        page.get_by_role("button", name="Save and close").click()
        expect(page.locator("#q4 h3")).to_have_text("What helped you?")
        page.get_by_role("button", name="Delete question 7…").click()
        page.get_by_role("button", name="Delete it").click()
        page.get_by_role("link", name="2 Settings").click()
        page.fill("#s-epsilon", "3")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("body")).to_contain_text(re.compile("ε.=.3"))
        page.get_by_label("Your blocks").check()
        page.get_by_role("button", name="Use this").click()
        expect(page.get_by_label("Your blocks")).to_be_checked()
        page.fill("#respondents", "60")
        page.locator("#beside form.expect button").click()
        page.get_by_role("link", name="YAML", exact=True).click()
        expect(page.locator("#source")).to_have_value(re.compile(r"ask: one\n(.|\n)*What helped you?"))
        page.get_by_role("link", name="4 Try it").click()
        page.get_by_role("button", name="Let them answer").click()
        expect(page.locator(".verdict[role=status]")).to_be_visible()
        page.get_by_role("link", name="5 Publish").click()
        expect(page.locator("#doubts")).to_be_visible()  # sixty are too few; and that locks nothing
        page.get_by_role("button", name="Publish").click()
        page.wait_for_url(re.compile("/console/campus-[0-9a-f]{6}$"))
        slug = page.url.rpartition("/")[2]
        assert site.store.newest_version(slug) is not None
        page.get_by_role("link", name="Delete…").click()
        page.fill("#typed", slug)
        page.get_by_role("button", name="Delete it for good").click()
        page.wait_for_url(f"{site.origin}/console")
        assert site.store.newest_version(slug) is None


OF_THE_SURVEYS = ["/login", "/account", "/console", "/console?tour=1", "/console/campus", "/console/campus/close", "/console/campus/delete", "/console/nothing"]  # fmt: skip
OF_A_DRAFT = ["?edit=0", "?edit=7&remove=1", "/settings", "/yaml"]
ON_ITS_WAY = ["/preview", "/try?people=50", "/publish?respondents=60", "/delete"]


@pytest.mark.parametrize("part", ["surveys", "draft", "way"])
def test_every_page_can_be_used_by_everybody(site: Site, browser: Browser, part: str) -> None:
    user = find_user(site.store, "ada")
    site.add(CAMPUS)
    good = site.store.save_draft(user.key, CAMPUS.read_bytes())
    bad = site.store.save_draft(user.key, CAMPUS.read_bytes().replace(b"max: 60", b"max: -60"))
    spoken = (ROOT / "examples" / "wellbeing.yaml").read_bytes().replace(b", options: [Koll", b"} # [Koll")
    rich = site.store.save_draft(user.key, spoken)
    paths = {
        "surveys": OF_THE_SURVEYS,
        "draft": [f"/console/drafts/{good}{page}" for page in OF_A_DRAFT]
        + [f"/console/drafts/{rich}{page}" for page in ("?edit=3", "/languages?language=de")],
        "way": [f"/console/drafts/{good}{page}" for page in ON_ITS_WAY] + [f"/console/drafts/{bad}?edit=4"],
    }
    with visit(browser) as device:
        page = sign_in_by_keyboard(device, site)
        for path in paths[part]:
            page.goto(site.origin + path)
            if path.endswith("/preview"):
                page.get_by_label("I agree").check()
                page.wait_for_selector("#form fieldset")
            page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
            for look, rules in CORNERS.items():
                apply_look(page, look)
                known = (
                    rules == COLOURS and page.locator(".editing").count()
                )  # beside it, they were seen in this scheme
                assert violations(page, *rules, within=".editing" if known else "body") == [], (path, look)
                assert overflows(page) == [], (path, look)
        assert complaints(device) == []


def test_counts_move_in_their_steps_without_a_reload(site: Site, browser: Browser) -> None:
    published = site.add(example_path("campus.yaml"))
    (people,) = simulate_submissions(published, 45)
    with visit(browser, **PHONE) as device:
        device.page.clock.install()
        sign_in_by_keyboard(device, site)
        page = device.open(f"{site.origin}/console/campus")
        count = page.locator("[data-count]")
        assert count.inner_text() == "fewer than 40"
        site.store.write(lambda: people)
        page.clock.run_for(11_000)
        page.wait_for_selector("[data-count]:has-text('25')")
        assert complaints(device) == []


def test_a_lost_server_loses_nothing_that_was_typed(site: Site, browser: Browser) -> None:
    user = find_user(site.store, "ada")
    key = site.store.save_draft(user.key, EXAM)
    with visit(browser, **DESKTOP) as device:
        sign_in_by_keyboard(device, site)
        page = device.open(f"{site.origin}/console/drafts/{key}?edit=0")
        page.fill("#q0-text", "A long text")
        site.intercept = lambda request: (503, "text/html", b"away") if request.method == "POST" else None
        page.get_by_role("button", name="Save", exact=True).click()
        page.wait_for_selector("#said .said.error")
        assert page.input_value("#q0-text") == "A long text"
        site.intercept = lambda request: None
        page.get_by_role("button", name="Save", exact=True).click()
        page.wait_for_selector("#said .said.status:has-text('Saved.')")
        found = site.store.draft(user.key, key)
        assert found is not None
        assert b"text: A long text" in found.source
