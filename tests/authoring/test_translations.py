"""What respondents see beside the questions: sections, batteries, a thank-you, another language; and every fault of it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from survey_app.authoring import build, build_file
from survey_app.authoring.diagnostics import check
from survey_app.authoring.yaml_source import AuthoringError
from tests.authoring.fault_words import describe
from tests.golden_files import Golden

EXAMPLE = Path(__file__).parents[2] / "examples" / "wellbeing.yaml"
HEAD = "slug: s\ntitle: T\nepsilon: 4\nquestions:\n"
YES_NO = "- {id: a, type: yes_no, text: A?}\n"
BATTERY = "- {type: battery, text: How?, points: [no, yes], statements: {calm: Calm., tense: Tense.}}\n"


def definition(source: str) -> dict[str, Any]:
    return dict(json.loads(build(source.encode()).survey.source))


def refusal(source: str) -> AuthoringError:
    with pytest.raises(AuthoringError) as raised:
        build(source.encode())
    return raised.value


def told(source: str) -> list[tuple[str, int | None]]:
    found = check(source.encode())
    assert found.built is None
    return [(one.path, one.line) for one in found.faults]


def test_the_example_has_sections_a_battery_a_shuffle_a_condition_a_second_language_and_an_end() -> None:
    survey = build_file(EXAMPLE).survey
    assert [(one.first, one.grid) for one in survey.sections] == [("bullied", False), ("calm", True), ("hours", False)]
    assert {one.id for one in survey.questions if one.shuffle} == {"who"}
    assert [one.id for one in survey.questions if one.show_if] == ["who"]
    assert survey.completion == "WB-2026" and survey.thanks.startswith("Thank you.")
    (german,) = survey.translations
    assert german.language == "de" and german.questions[3].labels == ("nie", "manchmal", "oft", "immer")
    assert "\u2029" in german.description and german.sections[1] == ("Wie haben Sie sich gefühlt?", "")


def test_a_battery_is_a_grid_of_scales_each_a_question_of_its_own() -> None:
    shared = "scores: [0, 2], show_if: {question: a, is: [yes]}, weight: 2"
    made = definition(HEAD + YES_NO + BATTERY.replace("statements", f"{shared}, statements"))
    condition = {"question": "a", "is": ["yes"]}
    scale = {"type": "scale", "points": ["no", "yes"], "scores": [0, 2], "show_if": condition}
    assert made["questions"][1:] == [
        {"id": "calm", "text": "Calm."} | scale,
        {"id": "tense", "text": "Tense."} | scale,
    ]
    assert made["sections"] == [{"first": "calm", "title": "How?", "grid": True}]
    assert [one["questions"] for one in made["fields"]] == [["a"], ["calm"], ["tense"]]


def test_statements_can_be_joint_and_asked_in_blocks() -> None:
    made = definition(HEAD.replace("epsilon", "ask: auto\njoint: [[a, tense]]\nepsilon") + YES_NO + BATTERY)
    assert any({"a", "tense"} <= {*one["questions"]} for one in made["fields"])


def test_under_a_section_what_a_battery_asks_ends_the_introduction() -> None:
    made = definition(HEAD + "- {section: You, text: Be frank.}\n" + BATTERY)
    assert made["sections"] == [{"first": "calm", "title": "You", "text": "Be frank.\u2029How?", "grid": True}]


MISTAKES = [
        (BATTERY + YES_NO, "questions[1]", 6, "no_section"),
        (YES_NO + "- section: End\n", "questions[1]", 6, "empty_section"),
        ("- section: One\n- section: Two\n" + YES_NO, "questions[0]", 5, "empty_section"),
        ("- {section: One, title: x}\n" + YES_NO, "questions[0].title", 5, "unknown_key"),
        ("- {section: One, text: ''}\n" + YES_NO, "questions[0].text", 5, "empty"),
        ('- {section: "a\\u0007"}\n' + YES_NO, "questions[0].section", 5, "bad_value"),
        (YES_NO + BATTERY.replace("[no, yes]", "[no, no]"), "questions[1].points", 6, "bad_value"),
        (YES_NO + BATTERY.replace("tense:", "a:"), "questions[1].statements.a", 6, "bad_value"),
        (YES_NO + BATTERY.replace("tense:", "T:"), "questions[1].statements.T", 6, "bad_value"),
        (YES_NO + BATTERY.replace("Tense.", "''"), "questions[1].statements.tense", 6, "empty"),
        (YES_NO + BATTERY.replace("{calm: Calm., tense: Tense.}", "[Calm.]"), "questions[1].statements", 6, "not_a_mapping"),
        (YES_NO + BATTERY.replace("{calm: Calm., tense: Tense.}", "{}"), "questions[1].statements", 6, "empty"),
        (YES_NO + BATTERY.replace("How?", '"\\u0007"'), "questions[1].text", 6, "bad_value"),
        (YES_NO.replace("yes_no", "matrix"), "questions[0].type", 5, "unknown_word"),
        (YES_NO.replace("A?", "A?, shuffle: true"), "questions[0].shuffle", 5, "unknown_key"),
]  # fmt: skip


@pytest.mark.parametrize(("questions", "path", "line", "code"), MISTAKES)
def test_a_fault_of_sections_and_batteries_is_told_where_its_author_wrote_it(
    questions: str, path: str, line: int, code: str
) -> None:
    error = refusal(HEAD + questions)
    assert (error.path, error.line, error.code) == (path, line, code)
    assert told(HEAD + questions) == [(path, line)]


def test_what_is_wrong_with_sections_and_batteries_in_words(golden: Golden) -> None:
    sources = [HEAD + questions for questions, *_ in MISTAKES]
    golden("\n".join(describe(source.encode(), refusal(source)) for source in sources))


def test_sections_beside_the_questions_are_shown_their_place(golden: Golden) -> None:
    error = refusal(HEAD + YES_NO + "sections: [{first: a, title: A}]\n")
    assert (error.path, error.code) == ("sections", "misplaced_section")
    golden(error)


@pytest.mark.parametrize("completion", ["http://panel.example/done", "ftp://x", "https://a b"])
def test_a_completion_is_a_code_or_an_https_address(completion: str) -> None:
    error = refusal(f"{HEAD}{YES_NO}completion: {completion}\n")
    assert (error.path, error.code) == ("completion", "bad_value")
    made = definition(f"{HEAD}{YES_NO}completion: https://panel.example/done?code=7\n")
    assert made["completion"] == "https://panel.example/done?code=7"


TRANSLATED = (
    "slug: s\ntitle: T\nthanks: Thanks.\ncontact: me@example.org\nepsilon: 4\nquestions:\n"
    "- {section: You, text: Be frank.}\n"
    "- {id: c, type: choice, text: C?, options: [x, y]}\n"
    "- {id: n, type: number, text: N?, min: 0, max: 9, unit: h}\n" + BATTERY + "translations:\n"
)
GERMAN = (
    "  de:\n    title: D\n    thanks: Danke.\n    sections: [{title: Du, text: Sei offen.}, Wie?]\n    questions:\n"
    "      c: {text: C-de?, options: [u, v]}\n      n: {text: N-de?, unit: Std.}\n"
    "      calm: {text: Ruhig., points: [nein, ja]}\n      tense: Angespannt.\n"
)


def test_a_translation_has_the_keys_of_the_original() -> None:
    made = definition(TRANSLATED + GERMAN)["translations"]["de"]
    assert made["sections"] == [{"title": "Du", "text": "Sei offen."}, {"title": "Wie?"}]
    assert made["questions"]["tense"] == {"text": "Angespannt.", "points": ["nein", "ja"]}
    assert "contact" not in made, "an address may be the same"


def test_every_missing_translation_is_named_with_its_line_and_every_unknown_one_where_it_stands(
    golden: Golden,
) -> None:
    source = TRANSLATED + (
        "  de:\n    title: D\n    consent: Ja.\n    questions:\n      c: {text: C-de?, options: [u], unit: h}\n"
        "      calm: Ruhig.\n      gone: Weg?\n"
    )
    assert told(source) == [
        ("translations.de", 13),
        ("translations.de.consent", 14),
        ("translations.de.questions.gone", 18),
        ("translations.de.questions.c.unit", 16),
        ("translations.de.questions.c.options", 16),
    ]
    faults = check(source.encode()).faults
    assert [fault.code for fault in faults] == [
        "not_translated",
        "not_in_original",
        "unknown_question",
        "not_in_original",
        "entry_count",
    ]
    missing = [
        ("thanks", 3), ("questions.n.text", 9), ("questions.n.unit", 9), ("questions.calm.points", 10),
        ("questions.tense.text", 10), ("sections[0].title", 7), ("sections[0].text", 7), ("sections[1].title", 10),
    ]  # fmt: skip
    assert re.findall(r"([a-z.]+(?:\[\d\][.a-z]+)?) \(line (\d+)\)", faults[0].reason) == [
        (path, str(line)) for path, line in missing
    ]
    golden("\n".join(f"line {fault.line}, {fault.path}: {fault.reason}" for fault in faults))


@pytest.mark.parametrize(
    ("old", "new", "path", "code"),
    [
        ("  de:", "  German:", "translations.German", "bad_language"),
        ("  de:", "  en:", "translations.en", "own_language"),
        ("[u, v]", "[u, u]", "translations.de.questions.c.options", "duplicate"),
        ("Wie?]", "Wie?, Noch?]", "translations.de.sections", "entry_count"),
        ("Danke.", '"\\u0007"', "translations.de.thanks", "bad_value"),
        ("Danke.", "[Danke.]", "translations.de.thanks", "not_text"),
        ("[{title: Du, text: Sei offen.}, Wie?]", "Du", "translations.de.sections", "not_a_list"),
    ],
    ids=["tag", "own", "twice", "sections", "control", "list", "text"],
)
def test_what_is_wrong_with_a_translation_is_told(old: str, new: str, path: str, code: str, golden: Golden) -> None:
    faults = check((TRANSLATED + GERMAN.replace(old, new)).encode()).faults
    assert (path, code) in [(fault.path, fault.code) for fault in faults]
    golden("\n".join(f"line {fault.line}, {fault.path}: {fault.reason}" for fault in faults))


def test_what_is_empty_is_missing() -> None:
    source = TRANSLATED + GERMAN.replace("Danke.", "").replace("[u, v]", "['', v]").replace("Wie?", "''")
    assert told(source) == [("translations.de", 13)]
    reason = check(source.encode()).faults[0].reason
    assert re.findall(r"thanks|questions\S+|sections\S+", reason)[:3] == [
        "thanks",
        "questions.c.options[0]",
        "sections[1].title",
    ]


def test_no_translation_at_all_is_left_out() -> None:
    assert told(TRANSLATED.replace("translations:", "translations: {}")) == [("translations", 11)]


def test_faults_of_questions_sections_and_translations_are_told_together() -> None:
    source = (
        "slug: s s\ntitle: T\nepsilon: 4\nquestions:\n"
        + BATTERY.replace("[no, yes]", "[no]")
        + "- {id: b, type: yes_no, text: B?, show_if: {question: calm, is: [yes]}}\n"
        + "- {id: c, type: choice, text: C?}\n- section: End\n"
        + "joint: [[b, tense]]\ntranslations:\n  de: {questions: {b: B-de?}}\n"
    )
    paths = [path for path, _ in told(source)]
    assert {"slug", "questions[0].points", "questions[1]", "questions[2]", "questions[3]", "translations.de"} == {
        *paths
    }
    assert len(paths) == 6
