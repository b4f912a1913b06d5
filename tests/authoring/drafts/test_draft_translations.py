"""Translations typed in a form go to their place in the file, and leave everything else where it was."""

import re
from pathlib import Path

import pytest

from survey_app.authoring.diagnostics import check
from survey_app.authoring.drafts import draft_translations
from survey_app.authoring.drafts.edits import EditError, read_content
from tests.golden_files import Golden

EXAMPLE = (Path(__file__).parents[3] / "examples" / "wellbeing.yaml").read_bytes()
PLAIN = (
    b"slug: s\ntitle: T # kept\nepsilon: 4\nquestions: # kept too\n"
    b"- {section: You, text: Be frank.}\n"
    b"- {id: c, type: choice, text: C?, options: [x, y]}\n"
    b"- section: More\n"
    b"- {id: a, type: yes_no, text: A?}\n"
)


def lines_that_differ(old: bytes, new: bytes) -> list[str]:
    return [line for line in new.decode().splitlines() if line not in old.decode().splitlines()]


def test_every_text_is_there_to_be_translated_and_a_battery_has_its_points_once() -> None:
    content = read_content(EXAMPLE)
    named = {text.name: text for part in draft_translations.list_text_groups(content) for text in part.texts}
    assert named["questions.calm.points.3"].original == "always" and "questions.tense.points.0" not in named
    assert named["description"].is_long and named["contact"].optional
    assert draft_translations.list_missing_texts(content, "de") == []
    assert draft_translations.read_translated_texts(content, "de")["sections.1.title"] == "Wie haben Sie sich gefühlt?"


def test_parts_have_the_numbers_and_names_of_the_editor(golden: Golden) -> None:
    battery = b"- {type: battery, text: B?, points: [x, y], statements: {b1: One., b2: Two.}}\n"
    content = read_content(PLAIN.replace(b"- section: More\n", battery + b"- section: More\n"))
    titles = [part.title for part in draft_translations.list_text_groups(content)]
    assert [re.findall(r" (\d)(?:: (\w+))?$", title) for title in titles] == [
        [], [("1", "")], [("2", "c")], [("3", "")], [("3", "b1")], [("3", "b2")], [("4", "")], [("5", "a")],
    ]  # fmt: skip
    golden("\n".join(titles))


def test_one_text_changes_one_line() -> None:
    typed = {"questions.who.options.1": "Chefin", "questions.tense.text": "Neu: hier", "sections.0.title": "Arbeit"}
    new = draft_translations.set_texts(EXAMPLE, "de", typed)
    assert lines_that_differ(EXAMPLE, new) == [
        "      - {title: Arbeit, text: Denken Sie an die letzten vier Wochen.}",
        "      who: {text: Von wem vor allem?, options: [Kollegin oder Kollege, Chefin, Kundschaft]}",
        '      tense: "Neu: hier"',
    ]
    assert check(new).faults == () and draft_translations.set_texts(EXAMPLE, "de", {}) == EXAMPLE


def test_a_language_is_added_translated_and_taken_out_again() -> None:
    new = draft_translations.add_language(PLAIN, "pt-BR")
    assert [one.path for one in check(new).faults] == ["translations.pt-BR"]
    partly = draft_translations.set_texts(
        new, "pt-BR", {"questions.c.options.1": "ípsilon", "sections.1.title": "Mais"}
    )
    lacking = [text.name for text in draft_translations.list_missing_texts(read_content(partly), "pt-BR")]
    assert lacking == [
        "title", "sections.0.title", "sections.0.text", "questions.c.text", "questions.c.options.0", "questions.a.text",
    ]  # fmt: skip
    (fault,) = check(partly).faults
    assert "questions.c.options[0]" in fault.reason and "sections[1]" not in fault.reason
    whole = draft_translations.set_texts(partly, "pt-BR", dict.fromkeys(lacking, "Sim"))
    assert check(whole).built and whole.startswith(PLAIN)
    emptied = draft_translations.set_texts(whole, "pt-BR", {"questions.a.text": "  "})
    assert [text.name for text in draft_translations.list_missing_texts(read_content(emptied), "pt-BR")] == [
        "questions.a.text"
    ]
    assert draft_translations.remove_language(whole, "pt-BR") == PLAIN
    second = draft_translations.add_language(EXAMPLE, "fr")
    assert draft_translations.remove_language(second, "fr") == EXAMPLE


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("", "bad_language"),
        ("German", "bad_language"),
        ("en", "duplicate"),
        ("de", "duplicate"),
        ("x y", "bad_language"),
    ],
)
def test_a_language_that_is_none_or_there_already_is_refused(tag: str, code: str, golden: Golden) -> None:
    with pytest.raises(EditError) as refused:
        draft_translations.add_language(EXAMPLE, tag)
    assert refused.value.code == code
    golden(refused.value)


def test_a_language_that_is_gone_takes_no_texts_and_a_broken_file_shows_what_it_can(golden: Golden) -> None:
    with pytest.raises(EditError) as refused:
        draft_translations.set_texts(EXAMPLE, "fr", {"title": "x"})
    assert refused.value.code == "unknown_language"
    golden(refused.value)
    for source in (b"title: T\n", b"title: T\nquestions: 5\n", b"title: T\nquestions: [{}, 5, {id: a, text: [b]}]\n"):
        (part,) = draft_translations.list_text_groups(read_content(source))
        assert [text.path for text in part.texts] == [("title",)]
