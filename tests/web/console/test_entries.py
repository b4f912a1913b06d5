"""Sections, batteries, mixed options, thanks and completion in the editor, without scripts."""

import re
from pathlib import Path

from flask.testing import FlaskClient

from survey_app.authoring.diagnostics import check
from survey_app.kinds.planning_assumptions import OPTION_SHARE, SKIP_SHARE, YES_SHARE
from tests.console import EXAM, change, draft, post, publish, read_draft

EXAMPLE = (Path(__file__).parents[3] / "examples" / "wellbeing.yaml").read_bytes()


def test_a_survey_with_a_battery_sections_and_an_end_is_written_in_forms(ada: FlaskClient) -> None:
    key = draft(ada, EXAM)
    path = f"/console/drafts/{key}"
    change(ada, key, "add:battery")
    assert "Statements, one a line" in ada.get(f"{path}?edit=1").text
    typed = {"text": "How?", "points": "no\nyes", "statements": "calm: Calm.\ntense: Tense."}
    change(ada, key, "done:1", 1, was="", **typed)
    change(ada, key, "add:choice")  # what follows a battery needs a section, which comes with it
    assert "has no heading yet" in ada.get(path).text
    change(ada, key, "delete:2")
    assert "shuffle" in ada.get(f"{path}?edit=2").text
    change(ada, key, "save:2", 2, text="Which?", options="a\nb", shuffle="true")
    assert "put a section above it" in ada.get(path).text
    said = re.findall(r'<p class="error"[^>]*>([^<]+)', ada.get(f"{path}?edit=2").text)
    assert len([one for one in said if "follows a battery" in one]) == 1
    change(ada, key, "head:2", 2)
    change(ada, key, "done:2", 2, section="The rest", text="Nearly done.")
    change(ada, key, "add:number")
    assert len(check(read_draft(ada, key)).content.questions) == 5  # type: ignore[union-attr]
    change(ada, key, "save:4", 4, text="How much?")
    bounds = check(read_draft(ada, key)).faults[0]
    assert (bounds.key, bounds.reason) == ("min", "is empty; write the least and the most that can be answered")
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
    assert "Battery of 2 statements · ε" in page and "The rest" in page and b"# kept too" in read_draft(ada, key)


def test_every_page_shows_a_file_with_everything_and_a_form_that_changes_nothing_leaves_it(ada: FlaskClient) -> None:
    key = draft(ada, EXAMPLE)
    for place in range(6):
        answer = ada.get(f"/console/drafts/{key}?edit={place}")
        assert answer.status_code == 200 and "no known type" not in answer.text
    for path in ("/settings", "/yaml", "/languages?language=de", "/try?people=5", "/publish"):
        assert ada.get(f"/console/drafts/{key}{path}").status_code == 200, path
    told = "Asked only if <code>bullied</code> is yes: people who are not asked count as “no answer”."
    assert ada.get(f"/console/drafts/{key}/try?people=50").text.count(told) == 1
    assert "only if: I was tired when I woke up. (tired)" in ada.get(f"/console/drafts/{key}?edit=5").text
    for do in ("up:3", "down:2"):
        change(ada, key, do)
    assert read_draft(ada, key) == EXAMPLE


def test_what_a_new_battery_lacks_is_told_in_words_of_its_form(ada: FlaskClient) -> None:
    key = draft(ada, EXAM)
    change(ada, key, "add:battery")
    page = ada.get(f"/console/drafts/{key}?edit=1").text
    assert "there are no statements yet" in page
    assert "mapping" not in page


def test_the_line_of_a_question_tells_what_was_written_and_every_margin(ada: FlaskClient) -> None:
    """A follow-up is not optional by being one, and statements in two blocks have two margins."""
    page = ada.get(f"/console/drafts/{draft(ada, EXAMPLE)}").text
    hints = re.findall(r'<p class="hint">((?:Single choice|Battery|Number)[^<]*)', page)
    assert len(hints) == 3
    assert "optional" not in hints[0] and hints[0].endswith("only if bullied")
    assert re.search(r"of 3 statements · ε 4.00 · ±0.\d+ or ±0.\d+$", hints[1])
    assert hints[2].endswith("optional")


def test_a_battery_in_several_blocks_says_that_nobody_sees_all_of_it_and_no_other_does(ada: FlaskClient) -> None:
    told = "Nobody sees the whole battery: its statements are in "
    assert ada.get(f"/console/drafts/{draft(ada, EXAMPLE)}").text.count(told) == 1
    for ask in (b"all", b"auto"):
        source = re.sub(rb"(?m)^ask: \w+", b"ask: " + ask, EXAMPLE)
        assert (told in ada.get(f"/console/drafts/{draft(ada, source)}").text) == (ask == b"auto")


def test_a_survey_is_published_with_a_text_for_an_e_mail_in_each_language_that_we_speak(ada: FlaskClient) -> None:
    publish(ada, draft(ada, EXAMPLE))
    page = ada.get("/console/wellbeing").text
    assert "You can answer openly" not in page, "at ε = 4 a report can make something likely"
    assert 'id="mail-de"' in page and "Guten Tag," in page and 'id="mail-en"' not in page


def test_before_publishing_all_languages_are_named_and_a_preview_says_that_it_draws(ada: FlaskClient) -> None:
    key = draft(ada, EXAMPLE)
    assert "<dt>Languages</dt><dd>English, Deutsch</dd>" in ada.get(f"/console/drafts/{key}/publish").text
    drawn = "the device draws anew which it asks"
    assert drawn in ada.get(f"/console/drafts/{key}/s/wellbeing").text
    key = draft(ada, EXAM)
    assert "<dt>Language</dt><dd>English</dd>" in ada.get(f"/console/drafts/{key}/publish").text
    assert drawn not in ada.get(f"/console/drafts/{key}/s/exam").text


def test_the_people_of_a_trial_are_told_as_they_are_drawn(ada: FlaskClient) -> None:
    page = ada.get(f"/console/drafts/{draft(ada, EXAM)}/try").text
    assert f"{YES_SHARE:.0%} say yes, {OPTION_SHARE:.0%} tick each option" in page
    assert SKIP_SHARE == 0.1 and "one in ten leaves an optional question out" in " ".join(page.split())
