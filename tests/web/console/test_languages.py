"""The languages of a draft: every text beside the original, without scripts; comments of the author survive."""

import re
from html import unescape
from pathlib import Path

from flask.testing import FlaskClient
from playwright.sync_api import Browser

from survey_app.authoring.diagnostics import check
from tests.browser import Site, visit
from tests.console import EVIL, EXAM, draft, notices, post, read_draft, sign_in_by_keyboard
from tests.golden_files import Golden, page_text
from tests.sign_in import find_user

EXAMPLE = (Path(__file__).parents[3] / "examples" / "wellbeing.yaml").read_bytes()


def own(page: str) -> str:
    found = re.search(r'name="own" value="(\w+)"', page)
    assert found is not None
    return found[1]


def test_a_language_is_added_and_translated_and_what_is_missing_is_named(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAM)
    path = f"/console/drafts/{key}/languages"
    assert 'aria-current="page">' in ada.get(path).text
    refused = post(ada, path, do="add", tag="German")
    assert refused.status_code == 409 and 'value="German"' in refused.text
    golden(notices(refused.text), "no tag")
    added = post(ada, path, do="add", tag="", known="de")
    assert added.headers["Location"].endswith("language=de")
    page = ada.get(f"{path}?language=de").text
    assert re.findall(r'data-missing="(\d+)"', page) == ["2"] and "Did you copy?" in page
    assert page.count('class="pair lacking"') == 2
    golden(
        re.sub(r"(?s)\nAdd a language\n.*?\nAnother", "\nAnother", page_text(page, '<div class="editing">', "<aside")),
        "begun",
    )
    assert f'href="/console/drafts/{key}/languages?language=de"' in ada.get(f"/console/drafts/{key}").text
    typed = {"title": EVIL, "questions.cheated.text": "Hast du abgeschrieben?"}
    assert post(ada, path, do="save:de", own=own(page), **typed).status_code == 302
    source = read_draft(ada, key)
    assert source.startswith(EXAM) and b"# kept too" in source
    built = check(source).built
    assert built and built.survey.translations[0].questions[0].text == "Hast du abgeschrieben?"
    shown = ada.get(f"{path}?language=de").text
    assert re.findall(r'data-missing="(\d+)"', shown) == ["0"] and "lacking" not in shown
    assert EVIL not in shown and EVIL in unescape(shown)
    golden(page_text(shown, '<ul class="spoken">', "</ul>"), "complete")


def test_what_another_window_translated_is_not_overwritten(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAMPLE)
    path = f"/console/drafts/{key}/languages"
    mine = own(ada.get(f"{path}?language=de").text)
    post(ada, path, do="save:de", own=mine, title="Erstes")
    late = post(ada, path, do="save:de", own=mine, title="Zweites")
    assert late.status_code == 409 and 'value="Zweites"' in late.text
    golden(notices(late.text))
    assert b"title: Erstes\n" in read_draft(ada, key)


def test_a_language_is_taken_out_after_a_question(ada: FlaskClient, eve: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAMPLE)
    path = f"/console/drafts/{key}/languages"
    asked = ada.get(f"{path}?language=de&remove=de").text
    assert 'name="do" value="remove:de"' in asked and b"translations" in read_draft(ada, key)
    golden(page_text(asked, '<div class="ask"', "</div>"))
    assert eve.get(path).status_code == post(eve, path, do="remove:de").status_code == 404
    post(ada, path, do="remove:de")
    assert b"translations" not in read_draft(ada, key)
    assert post(ada, path, do="nothing").status_code == 400


def test_the_draft_is_checked_while_a_translation_is_typed(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAMPLE)
    checked = post(ada, f"/console/drafts/{key}/check", spoken="de", title="", thanks="Danke.")
    assert re.findall(r'<li data-field="([\w-]+)"', checked.text) == ["s-translations"]
    assert read_draft(ada, key) == EXAMPLE
    golden(page_text(checked.text, '<div id="problems">', "</section>"))


def test_the_outlook_stays_while_a_language_is_not_finished_and_publishing_waits(
    ada: FlaskClient, golden: Golden
) -> None:
    key = draft(ada, EXAMPLE)
    post(ada, f"/console/drafts/{key}/languages", do="add", known="fr")
    page = ada.get(f"/console/drafts/{key}").text
    assert re.findall(r'<li data-field="([\w-]+)"', page) == ["s-translations"]
    golden(page_text(page, '<div id="problems">', "</section>"), "no texts")  # the first three are named
    assert 'id="for-you"' in page and re.search(r'data-type="battery".*\n?.*ε', page)
    assert 'name="digest"' not in ada.get(f"/console/drafts/{key}/publish").text
    broken = draft(ada, EXAM + b"translations: 5\n")
    page = ada.get(f"/console/drafts/{broken}").text
    assert re.findall(r'<li data-field="([\w-]+)"', page) == ["s-translations"]
    golden(page_text(page, '<div id="problems">', "</section>"), "no mapping")
    assert ada.get(f"/console/drafts/{broken}/languages?language=de").status_code == 200


def test_with_scripts_what_is_typed_is_checked_and_kept_when_one_goes_elsewhere(site: Site, browser: Browser) -> None:
    user = find_user(site.store, "ada")
    key = site.store.save_draft(user.key, EXAMPLE)
    with visit(browser) as device:
        page = sign_in_by_keyboard(device, site)
        page.goto(f"{site.origin}/console/drafts/{key}/languages?language=de")
        page.fill("[name=title]", "")
        page.locator("#problems [data-field=s-translations]").wait_for()
        page.fill("[name=title]", "Wohl")
        page.locator(f".steps a[href='/console/drafts/{key}']").click()
        page.locator("[value='add:battery']").wait_for()
    found = site.store.draft(user.key, key)
    assert found is not None and found.source == EXAMPLE.replace(b"Wohlbefinden bei der Arbeit", b"Wohl")
