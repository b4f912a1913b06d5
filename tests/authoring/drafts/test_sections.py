"""Sections and batteries in the editor: their forms change their lines, and translations follow them about."""

from pathlib import Path
from typing import Any

import pytest

from survey_app.authoring.diagnostics import check
from survey_app.authoring.drafts import draft_translations, edits, form_fields
from survey_app.authoring.drafts.sections import handle_of

EXAMPLE = (Path(__file__).parents[3] / "examples" / "wellbeing.yaml").read_bytes()
SECTION, BULLIED, WHO, BATTERY, HABITS, HOURS = range(6)


def said(source: bytes) -> Any:
    return edits.read_content(source).data


def headings(source: bytes) -> list[Any]:
    return [one if isinstance(one, str) else one["title"] for one in said(source)["translations"]["de"]["sections"]]


def test_a_battery_is_written_in_a_form_and_statements_without_an_id_get_one() -> None:
    empty = edits.make_empty_draft("new", "T")
    battery = form_fields.make_question(edits.read_content(empty), "battery")
    source = edits.add_question(empty, battery)
    sent = {
        "text": "How?",
        "points": "no\nyes",
        "statements": "calm: I am calm.\nI am so tense: now.\n\nI am so tense: x",
    }
    changes, _ = form_fields.question_changes(battery, sent)
    source = edits.set_question(source, 0, changes)
    assert said(source)["questions"][0]["statements"] == {
        "calm": "I am calm.", "i_am_so_tense": "I am so tense: now.", "i_am_so_tense-2": "I am so tense: x",
    }  # fmt: skip
    assert check(source).built
    now = edits.read_content(source).question(0)
    assert form_fields.question_changes(now, form_fields.show_question(now)) == ({}, {})
    assert form_fields.parents_of(edits.read_content(source), 1)["calm"] == "I am calm."
    assert form_fields.answers_of(edits.read_content(source), "calm") == ["no", "yes"]


def test_a_section_is_written_in_a_form() -> None:
    section = form_fields.make_question(edits.read_content(EXAMPLE), "section")
    source = edits.move_question(edits.add_question(EXAMPLE, section), HOURS + 1, WHO)
    changes, _ = form_fields.question_changes(section, {"section": "More", "text": "One.\r\n\r\nTwo."})
    source = edits.set_question(source, WHO, changes)
    assert edits.read_content(source).question(WHO) == {"section": "More", "text": "One.\n\nTwo.\n"}
    assert headings(source) == ["Ihre Arbeit", "", "Wie haben Sie sich gefühlt?", "Ihre Gewohnheiten"]
    assert [text.name for text in draft_translations.list_missing_texts(edits.read_content(source), "de")] == [
        "sections.1.title", "sections.1.text",
    ]  # fmt: skip


def test_one_statement_changes_one_line_and_its_new_id_is_followed() -> None:
    question = edits.read_content(EXAMPLE).question(BATTERY)
    shown = form_fields.show_question(question)["statements"].replace("tense: I was tense.", "nervous: I was nervous.")
    changes, _ = form_fields.question_changes(question, {"statements": f"{shown}\nsad: I was sad."})
    lines = edits.set_question(EXAMPLE, BATTERY, changes).decode().splitlines()
    assert [line.strip() for line in lines if line not in EXAMPLE.decode().splitlines()] == [
        "nervous: I was nervous.", "sad: I was sad.",
    ]  # fmt: skip
    changes, _ = form_fields.question_changes(question, {"statements": shown})
    renamed = said(edits.set_question(EXAMPLE, BATTERY, changes))
    assert renamed["translations"]["de"]["questions"]["nervous"] == "Ich war angespannt."
    joint = EXAMPLE.replace(b"ask: auto\n", b"joint: [[bullied, tense]]\n")
    assert said(edits.set_question(joint, BATTERY, changes))["joint"] == [["bullied", "nervous"]]


def test_translations_follow_what_is_renamed_moved_copied_and_deleted() -> None:
    renamed = edits.set_question(EXAMPLE, WHO, {"id": "by"})
    assert check(renamed).built and "by" in said(renamed)["translations"]["de"]["questions"]
    moved = edits.move_question(EXAMPLE, BATTERY, SECTION)
    assert headings(moved)[:2] == ["Wie haben Sie sich gefühlt?", "Ihre Arbeit"]
    assert check(moved).built and b"# One scale, several statements" in moved
    copied = edits.copy_question(EXAMPLE, BATTERY)
    assert headings(copied) == ["Ihre Arbeit", "Wie haben Sie sich gefühlt?", "", "Ihre Gewohnheiten"]
    assert [*said(copied)["questions"][BATTERY + 1]["statements"]] == ["calm-2", "tense-2", "tired-2"]
    deleted = edits.delete_question(EXAMPLE, BATTERY)
    assert headings(deleted) == ["Ihre Arbeit", "Ihre Gewohnheiten"]
    assert check(deleted).built and "calm" not in said(deleted)["translations"]["de"]["questions"]
    twice = edits.copy_question(EXAMPLE, HABITS)
    assert [one.path for one in check(twice).faults] == ["questions[4]"]


@pytest.mark.parametrize(
    ("entry", "handle"),
    [
        ({"id": "a"}, "a"),
        ({"section": "S"}, "S"),
        ({"type": "battery", "statements": {"x": "X"}}, "x"),
        (5, ""),
        ({}, ""),
    ],
)
def test_an_entry_is_recognized_by_an_id_or_by_its_words(entry: Any, handle: str) -> None:
    assert handle_of(entry) == handle
