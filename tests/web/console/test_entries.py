"""Sections, batteries, mixed options, thanks and completion in the editor, without scripts."""

import re
from pathlib import Path

from flask.testing import FlaskClient

from survey_app.authoring.diagnostics import check
from survey_app.kinds.planning_assumptions import OPTION_SHARE, SKIP_SHARE, YES_SHARE
from tests.console import EXAM, change, draft, part, post, publish, read_draft
from tests.golden_files import Golden, page_text
from tests.tree import parse

EXAMPLE = (Path(__file__).parents[3] / "examples" / "wellbeing.yaml").read_bytes()


def test_a_survey_with_a_battery_sections_and_an_end_is_written_in_forms(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAM)
    path = f"/console/drafts/{key}"
    change(ada, key, "add:battery")
    page = ada.get(f"{path}?edit=1").text
    assert 'name="statements"' in page
    golden(page_text(page, '<form id="open"', "</form>"), "battery")
    typed = {"text": "How?", "points": "no\nyes", "statements": "calm: Calm.\ntense: Tense."}
    change(ada, key, "done:1", 1, was="", **typed)
    change(ada, key, "add:choice")  # what follows a battery needs a section, which comes with it
    assert re.findall(r'data-field="(q2-\w+)"', ada.get(path).text) == ["q2-section"]
    change(ada, key, "delete:2")
    assert 'name="shuffle"' in ada.get(f"{path}?edit=2").text
    change(ada, key, "save:2", 2, text="Which?", options="a\nb", shuffle="true")
    page = ada.get(f"{path}?edit=2").text
    assert re.findall(r'data-field="(q2-\w+)" data-code="(\w+)"', page) == [
        ("q2-text", "no_epsilon"),
        ("q2-text", "no_section"),
    ]
    golden(page_text(page, '<div id="problems">', "</section>"), "no section")
    change(ada, key, "head:2", 2)
    change(ada, key, "done:2", 2, section="The rest", text="Nearly done.")
    change(ada, key, "add:number")
    assert len(check(read_draft(ada, key)).content.questions) == 5  # type: ignore[union-attr]
    change(ada, key, "save:4", 4, text="How much?")
    bounds = check(read_draft(ada, key)).faults[0]
    assert bounds.key == "min"
    golden(bounds.reason, "no bounds")
    change(ada, key, "delete:4")
    post(ada, f"{path}/settings", epsilon="4", thanks="Thank you.", completion="X-1")
    built = check(read_draft(ada, key)).built
    assert built is not None
    survey = built.survey
    assert [(one.first, one.title, one.text, one.grid) for one in survey.sections] == [
        ("calm", "How?", "", True), ("q1", "The rest", "Nearly done.", False),
    ]  # fmt: skip
    assert (survey.thanks, survey.completion, survey.questions[-1].shuffle) == ("Thank you.", "X-1", True)
    page = ada.get(path).text
    assert b"# kept too" in read_draft(ada, key)
    golden(page_text(page, '<ol class="questions">', "</ol>"), "questions")


def test_every_page_shows_a_file_with_everything_and_a_form_that_changes_nothing_leaves_it(
    ada: FlaskClient, golden: Golden
) -> None:
    key = draft(ada, EXAMPLE)
    for place in range(6):
        answer = ada.get(f"/console/drafts/{key}?edit={place}")
        assert answer.status_code == 200 and 'data-type=""' not in answer.text
    for path in ("/settings", "/yaml", "/languages?language=de", "/try?people=5", "/publish"):
        assert ada.get(f"/console/drafts/{key}{path}").status_code == 200, path
    (condition,) = parse(ada.get(f"/console/drafts/{key}/try?people=50").text).all("p", data_condition=None)
    assert condition.attributes["data-condition"] == "bullied"
    golden(condition.text)
    conditions = ada.get(f"/console/drafts/{key}?edit=5").text.partition('name="show_if"')[2].partition("</select>")[0]
    assert 'value="tired"' in conditions
    for do in ("up:3", "down:2"):
        change(ada, key, do)
    assert read_draft(ada, key) == EXAMPLE


def test_what_a_new_battery_lacks_is_told_in_words_of_its_form(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAM)
    change(ada, key, "add:battery")
    page = ada.get(f"/console/drafts/{key}?edit=1").text
    assert part(page, "q1-statements-error")
    golden(page_text(page, '<div id="problems">', "</section>"))


def test_the_line_of_a_question_tells_what_was_written_and_every_margin(ada: FlaskClient, golden: Golden) -> None:
    """A follow-up is not optional by being one, and statements in two blocks have two margins."""
    page = ada.get(f"/console/drafts/{draft(ada, EXAMPLE)}").text
    lines = {line.attributes["data-type"]: line for line in parse(page).all("p", data_type=None)}
    choice, battery, number = (lines[kind] for kind in ("choice", "battery", "number"))
    assert (choice.attributes.get("data-condition"), "data-optional" in choice.attributes) == ("bullied", False)
    assert re.search(r"\b3\b.* ε 4.00 · ±0.\d+ \w+ ±0.\d+$", battery.text)
    assert "data-optional" in number.attributes
    golden("\n".join(line.text for line in lines.values()))


def test_a_battery_in_several_blocks_says_that_nobody_sees_all_of_it_and_no_other_does(
    ada: FlaskClient, golden: Golden
) -> None:
    (spread,) = parse(ada.get(f"/console/drafts/{draft(ada, EXAMPLE)}").text).all("p", data_blocks=None)
    golden(spread.text)
    for ask in (b"all", b"auto"):
        source = re.sub(rb"(?m)^ask: \w+", b"ask: " + ask, EXAMPLE)
        assert ("data-blocks" in ada.get(f"/console/drafts/{draft(ada, source)}").text) == (ask == b"auto")


def test_a_survey_is_published_with_a_text_for_an_e_mail_in_each_language_that_we_speak(
    ada: FlaskClient, golden: Golden
) -> None:
    publish(ada, draft(ada, EXAMPLE))
    publish(ada, draft(ada, EXAM))
    page = ada.get("/console/wellbeing").text
    assert 'id="mail-en"' not in page
    assert "/s/wellbeing#sha256=" in part(page, "mail") and "/s/wellbeing#sha256=" in part(page, "mail-de")
    golden(part(page, "mail"), "at ε = 4 a report can make something likely")
    golden(part(page, "mail-de"), "German")
    golden(part(ada.get("/console/exam").text, "mail"), "at ε = 1.1 everybody can answer openly")


def test_before_publishing_all_languages_are_named_and_a_preview_says_that_it_draws(
    ada: FlaskClient, golden: Golden
) -> None:
    key = draft(ada, EXAMPLE)
    assert languages(ada, key) == "English, Deutsch"
    page = ada.get(f"/console/drafts/{key}/s/wellbeing").text
    assert "data-draws" in page
    golden(page_text(page, '<p class="preview"', "</p>"))
    key = draft(ada, EXAM)
    assert languages(ada, key) == "English"
    assert "data-draws" not in ada.get(f"/console/drafts/{key}/s/exam").text


def languages(browser: FlaskClient, key: int) -> str:
    return parse(browser.get(f"/console/drafts/{key}/publish").text).one("dd", data_fact="languages").text


def test_the_people_of_a_trial_are_told_as_they_are_drawn(ada: FlaskClient, golden: Golden) -> None:
    page = ada.get(f"/console/drafts/{draft(ada, EXAM)}/try").text
    shares = parse(page).one("p", id="assumptions").all("data")
    assert [float(one.attributes["value"]) for one in shares] == [YES_SHARE, OPTION_SHARE, SKIP_SHARE]
    golden(page_text(page, '<div class="editing">', "<aside"))
