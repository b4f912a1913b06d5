"""XLSForms become drafts that build; what cannot be asked with randomized answers is named, with the reason."""

import sys
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from click.testing import CliRunner, Result

from survey_app.authoring import BuiltSurvey, build
from survey_app.authoring.drafts.xlsform import REASONS, Draft, FormError, make_draft, read_form
from survey_app.cli import main
from tests.golden_files import Golden

HEAD = (
    "type",
    "name",
    "label",
    "required",
    "relevant",
    "constraint",
    "parameters",
    "appearance",
    "hint",
    "calculation",
)
CHOICES = [
    ("yn", "1", "Yes"), ("yn", "0", "No"),
    ("why", "time", "No time"), ("why", "fear", "Fear: of failing"), ("why", "dunno", "Don't know, #1"),
    ("same", "a", "Same"), ("same", "b", "Same"), ("one", "a", "Alone"),
]  # fmt: skip
SETTINGS = {"form_title": "Exam honesty", "form_id": "Exam 2026"}


def write_workbook(
    path: Path, rows: list[dict[str, str]], choices: list[tuple[str, ...]] | None = None, **settings: str
) -> Path:
    """An XLSForm of these rows."""
    workbook = openpyxl.Workbook()
    survey = workbook.active
    assert survey is not None
    survey.title = "survey"
    head = [*HEAD, *sorted({key for row in rows for key in row} - set(HEAD))]
    for row in [head, *([row.get(key) for key in head] for row in rows)]:
        survey.append(row)
    sheet = workbook.create_sheet("choices")
    for line in [("list_name", "name", "label"), *CHOICES] if choices is None else choices:
        sheet.append(line)
    last = workbook.create_sheet("settings")
    last.append(list(SETTINGS | settings))
    last.append(list((SETTINGS | settings).values()))
    workbook.save(path)
    return path


def row(kind: str, name: str = "", label: str = "", **more: str) -> dict[str, str]:
    return {"type": kind, "name": name, "label": label, **more}


def imported(tmp_path: Path, *rows: dict[str, str], **more: Any) -> tuple[Draft, BuiltSurvey]:
    """A draft of these rows, which must build."""
    made = make_draft(read_form(write_workbook(tmp_path / "form.xlsx", list(rows), **more)), "form.xlsx")
    return made, build(made.text.encode())


def joined_comments(made: Draft) -> str:
    """Return the comments of a draft as one line."""
    return " ".join(line.strip().removeprefix("#").strip() for line in made.text.splitlines() if "#" in line)


def test_the_types_that_can_be_randomized_are_taken(tmp_path: Path, golden: Golden) -> None:
    made, built = imported(
        tmp_path,
        row("select_one yn", "cheated", "Did you copy?", required="yes"),
        row("select_one why", "why", "Why?", parameters="randomize=true"),
        row("select_one why", "how", "How?", appearance="likert", required="true()"),
        row("select_multiple why", "Reasons", "Which?", required="yes"),
        row("integer", "hours", "Hours?", required="yes", constraint=". >= 0 and . < 61"),
        row("integer", "age", "Age?", required="yes", constraint="(18 <= .) and (. <= 99)"),
        row("decimal", "gpa", "Average?", required="yes", constraint=".>=1.0 and .<=4.5"),
        row("range", "mood", "Mood?", required="yes", parameters="start=0 end=10 step=2"),
    )
    survey = built.survey
    assert made.omissions == ()
    assert (survey.slug, survey.title) == ("exam_2026", "Exam honesty")
    assert [(one.id, one.type, one.optional) for one in survey.questions] == [
        ("cheated", "yes_no", False),
        ("why", "choice", True),
        ("how", "scale", False),
        ("reasons", "multiple", False),
        ("hours", "number", False),
        ("age", "number", False),
        ("gpa", "number", False),
        ("mood", "number", False),
    ]
    why, hours, age, gpa, mood = (survey.questions[i] for i in (1, 4, 5, 6, 7))
    assert why.labels == ("No time", "Fear: of failing", "Don't know, #1") and why.shuffle
    assert [(f"{one.min:f}", f"{one.max:f}", f"{one.step:f}") for one in (hours, age, gpa, mood)] == [
        ("0", "60", "1"),
        ("18", "99", "1"),
        ("1", "4.5", "0.1"),
        ("0", "10", "2"),
    ]
    assert "Reasons" in joined_comments(made), "which has another id now"
    golden(made.text)


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("text", {}), ("date", {}), ("dateTime", {}), ("time", {}), ("geopoint", {}), ("geotrace", {}),
        ("geoshape", {}), ("image", {}), ("audio", {}), ("video", {}), ("file", {}), ("barcode", {}), ("acknowledge", {}),
        ("rank why", {}), ("calculate", {"calculation": "1 + 1"}), ("start", {}), ("today", {}), ("deviceid", {}),
    ],
)  # fmt: skip
def test_what_cannot_be_randomized_is_named_with_its_reason(
    tmp_path: Path, kind: str, more: dict[str, str], golden: Golden
) -> None:
    made, built = imported(
        tmp_path, row(kind, "x", "What else?", **more), row("select_one yn", "a", "A?", required="yes")
    )
    assert made.question_ids == ("a",) and len(built.survey.questions) == 1
    ((name, code, reason),) = made.omissions
    assert name == "x" and (code, reason) in REASONS.values()
    assert reason in joined_comments(made)
    golden(reason)


@pytest.mark.parametrize(
    ("question", "code"),
    [
        (row("integer", "x", "X?"), "no_range"),
        (row("integer", "x", "X?", constraint=". > 3"), "no_range"),
        (row("integer", "x", "X?", constraint=". < 3 or . > 9"), "no_range"),
        (row("integer", "x", "X?", constraint="regex(., '[0-9]')"), "no_range"),
        (row("integer", "x", "X?", constraint=". >= 0 and . <= 9999999999"), "bad_steps"),
        (row("select_one same", "x", "X?"), "same_label"),
        (row("select_one one", "x", "X?"), "one_option"),
        (row("select_one why", "x", "X?", choice_filter="name != 'time'"), "filtered_options"),
        (row("select_one_from_file towns.csv", "x", "X?"), "no_options"),
    ],
)
def test_what_lacks_something_is_left_out_with_what_it_lacks(
    tmp_path: Path, question: dict[str, str], code: str, golden: Golden
) -> None:
    made, _ = imported(tmp_path, question, row("select_one yn", "a", "A?", required="yes"))
    assert made.question_ids == ("a",)
    assert made.omissions[0].code == code
    golden(made.omissions[0].reason)


def test_repeats_and_other_are_left_out_and_groups_are_sections(tmp_path: Path) -> None:
    made, built = imported(
        tmp_path,
        row("begin group", "g", "About exams"),
        row("select_one why or_other", "why", "Why?", required="yes"),
        row("end group"),
        row("begin repeat", "child", "Children"),
        row("integer", "age", "Age?", constraint=". >= 0 and . <= 20"),
        row("end repeat"),
    )
    assert made.question_ids == ("why",)
    assert {omission.name for omission in made.omissions} == {"why_other", "child"}
    assert [(one.first, one.title) for one in built.survey.sections] == [("why", "About exams")]
    assert built.survey.questions[0].labels[-1] == "Other"


@pytest.mark.parametrize(
    ("relevant", "parent", "labels"),
    [
        ("${cheated} = '1'", "cheated", ("yes",)),
        ("${cheated}=1", "cheated", ("yes",)),
        ("(${cheated} = '0')", "cheated", ("no",)),
        ('selected(${why}, "time")', "why", ("No time",)),
        ("${why} = 'time' or ${why} = 'fear'", "why", ("No time", "Fear: of failing")),
    ],
)
def test_an_equality_with_an_earlier_question_becomes_show_if(
    tmp_path: Path, relevant: str, parent: str, labels: tuple[str, ...]
) -> None:
    _, built = imported(
        tmp_path,
        row("select_one yn", "cheated", "Did you?", required="yes"),
        row("select_one why", "why", "Why?", required="yes"),
        row("select_one why", "then", "Then?", required="yes", relevant=relevant),
    )
    condition = built.survey.questions[-1].show_if
    assert condition and (condition.question, condition.labels) == (parent, labels)


@pytest.mark.parametrize(
    "relevant",
    [
        "${cheated} != '1'",
        "${cheated} = '1' and ${why} = 'time'",
        "${cheated} = '1' or ${why} = 'time'",
        "${hours} > 3",
        "${name} = 'Ada'",
        "${why} = 'nothing of the kind'",
    ],
)
def test_any_other_condition_is_told_and_its_question_asked_of_everybody(tmp_path: Path, relevant: str) -> None:
    made, built = imported(
        tmp_path,
        row("text", "name", "Name?"),
        row("integer", "hours", "Hours?", required="yes", constraint=". >= 0 and . <= 60"),
        row("select_one yn", "cheated", "Did you?", required="yes"),
        row("select_one why", "why", "Why?", required="yes"),
        row("select_one yn", "then", "Then?", required="yes", relevant=relevant),
    )
    question = built.survey.questions[-1]
    assert question.show_if is None and question.optional
    assert relevant in joined_comments(made)


def test_a_condition_of_a_group_holds_for_what_is_in_it(tmp_path: Path) -> None:
    made, built = imported(
        tmp_path,
        row("select_one yn", "cheated", "Did you?", required="yes"),
        row("begin group", "g", "More", relevant="${cheated} = '1'"),
        row("select_one why", "why", "Why?", required="yes"),
        row("select_one yn", "again", "Again?", relevant="${why} = 'time'"),
        row("end group"),
    )
    why, again = built.survey.questions[1:]
    assert why.show_if and why.show_if.labels == ("yes",)
    assert again.show_if is None and "(${cheated} = '1') and (${why} = 'time')" in made.text


def test_of_several_languages_the_default_one_is_taken(tmp_path: Path, golden: Golden) -> None:
    lists = [
        ("list_name", "name", "label::English (en)", "label::Deutsch (de)"),
        ("yn", "y", "Yes", "Ja"),
        ("yn", "n", "No", "Nein"),
    ]
    rows = [
        {"type": "select_one yn", "name": "a", "label::English (en)": "Did you?", "label::Deutsch (de)": "Haben Sie?"}
    ]
    made, built = imported(tmp_path, *rows, choices=lists, default_language="Deutsch (de)")
    (question,) = built.survey.questions
    assert (built.survey.language, question.text, question.type) == ("de", "Haben Sie?", "yes_no")
    (english,) = built.survey.translations
    assert (english.language, english.questions[0].text) == ("en", "Did you?")
    assert "title in en" in joined_comments(made), "which is still to be translated"
    golden(made.text)


LIKERT = [
    ("list_name", "name", "label::English (en)", "label::German", "label::Elvish"),
    ("often", "1", "Never", "Nie", "a"), ("often", "2", "Often", "Oft", "b"),
    ("yn", "y", "Yes", "Ja", "c"), ("yn", "n", "No", "Nein", "d"),
]  # fmt: skip


def spoken(kind: str, name: str = "", english: str = "", german: str = "", **more: str) -> dict[str, str]:
    return {"type": kind, "name": name, "label::English (en)": english, "label::German": german, **more}


def test_groups_notes_tables_and_languages_become_sections_introductions_batteries_and_translations(
    tmp_path: Path, golden: Golden
) -> None:
    made, built = imported(
        tmp_path,
        spoken("note", "hello", "Welcome.", "Willkommen."),
        spoken("begin group", "g", "Work", "Arbeit"),
        spoken("note", "think", "Think back.", "Denken Sie zurück."),
        spoken("select_one yn", "a", "Did you?", "Haben Sie?", required="yes"),
        spoken("begin group", "t", "How was it?", "Wie war es?", appearance="table-list"),
        spoken("select_one often", "calm", "Calm.", "Ruhig.", required="yes"),
        spoken("select_one often", "tense", "Tense.", "", required="yes"),
        spoken("end group"),
        spoken("select_one often", "b", "How often?", "Wie oft?", required="yes"),
        spoken("end group"),
        spoken("begin group", "empty", "Names", "Namen"),
        spoken("text", "name", "Name?", "Name?"),
        spoken("end group"),
        spoken("note", "quote", "You said ${a}", "x"),
        spoken("note", "bye", "Thank you.", "Danke."),
        choices=LIKERT,
    )
    survey = built.survey
    assert [(one.first, one.title, one.text, one.grid) for one in survey.sections] == [
        ("a", "Work", "Think back.", False), ("calm", "How was it?", "", True), ("b", "Work", "", False),
    ]  # fmt: skip
    assert (survey.description, survey.thanks) == ("Welcome.", "Thank you.")
    assert [one.type for one in survey.questions] == ["yes_no", "scale", "scale", "choice"]
    assert not any(one.optional for one in survey.questions)
    (german,) = survey.translations
    assert (german.language, german.description, german.thanks) == ("de", "Willkommen.", "Danke.")
    assert german.sections == (("Arbeit", "Denken Sie zurück."), ("Wie war es?", ""), ("Arbeit", ""))
    assert [one.labels for one in german.questions[1:]] == [("Nie", "Oft")] * 3
    assert {(omission.name, omission.code) for omission in made.omissions} == {
        ("name", "free_text"),
        ("quote", "dependent_note"),
    }
    assert "title in de, questions.tense in de" in joined_comments(made)
    assert "Elvish" in joined_comments(made), "which has no tag"
    golden(made.text)


def test_a_table_under_a_heading_that_waits_ends_its_introduction(tmp_path: Path) -> None:
    _, built = imported(
        tmp_path,
        spoken("begin group", "g", "Work", "Arbeit"),
        spoken("begin group", "t", "How was it?", "Wie war es?", appearance="table-list", relevant="1 = 1"),
        spoken("select_one often", "calm", "Calm.", "Ruhig."),
        spoken("select_one often", "tense", "Tense.", "Angespannt."),
        spoken("end group"),
        spoken("end group"),
        choices=LIKERT,
    )
    (section,) = built.survey.sections
    assert (section.title, section.text, section.grid) == ("Work", "How was it?", True)
    assert built.survey.translations[0].sections == (("Arbeit", "Wie war es?"),)
    assert all(one.optional for one in built.survey.questions)


def test_names_that_become_alike_stay_apart_and_evil_text_stays_text(tmp_path: Path, golden: Golden) -> None:
    text = "Is # this: [a] {b} 'c' \"d\"\nor ${A}?"
    made, built = imported(
        tmp_path,
        row("select_one yn", "A", "First", required="yes", hint="Think"),
        row("select_one yn", "a", text, required="yes"),
        row("text", "t", "evil\n- id: x"),
    )
    assert [one.id for one in built.survey.questions] == ["a", "a_2"]
    assert built.survey.questions[1].text == "Is # this: [a] {b} 'c' \"d\" or ${A}?"
    golden(made.text)


def test_a_form_of_nothing_but_text_is_refused_with_the_reasons(tmp_path: Path, golden: Golden) -> None:
    path = write_workbook(tmp_path / "form.xlsx", [row("text", "name", "Your name?")])
    with pytest.raises(FormError) as caught:
        make_draft(read_form(path), "form.xlsx")
    assert caught.value.code == "nothing_to_ask"
    assert REASONS["text"].sentence in str(caught.value)
    golden(caught.value)


def candor(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def test_the_command_writes_a_draft_that_the_next_command_builds(tmp_path: Path, golden: Golden) -> None:
    form = write_workbook(
        tmp_path / "form.xlsx", [row("text", "name", "Name?"), row("select_one yn", "a", "A?", required="yes")]
    )
    said = candor("import", str(form))
    assert said.exit_code == 0, said.output
    assert [line.partition("name: ")[2] for line in said.stderr.splitlines()] == ["", REASONS["text"].sentence]
    golden(said.stderr, "taken")
    target = tmp_path / "draft.yaml"
    assert candor("import", str(form), "-o", str(target)).exit_code == 0
    assert target.read_text() == said.stdout
    built = candor("survey", "build", str(target))
    assert built.exit_code == 0 and '"slug":"exam_2026"' in built.stdout
    again = candor("import", str(form), "-o", str(target))
    assert again.exit_code == 1 and "--force" in again.output
    golden(again.output, "again")


def test_what_is_no_xlsform_is_refused_in_a_sentence(tmp_path: Path, golden: Golden) -> None:
    text, broken = tmp_path / "form.txt", tmp_path / "form.xlsx"
    text.write_text("x")
    broken.write_bytes(b"no workbook")
    bad = write_workbook(tmp_path / "bad.xlsx", [row("select_one nowhere", "x", "X?")])
    for path, status in ((text, 2), (broken, 1), (bad, 1)):
        done = candor("import", str(path))
        assert done.exit_code == status
        assert done.stdout == ""
        if path == text:
            golden(done.output, path.name)
            continue
        with pytest.raises(FormError) as caught:
            read_form(path)
        assert caught.value.code == "not_xlsform"
        reason = " ".join(str(caught.value.__context__).split())  # pyxform's own words change with its version
        assert reason in done.output
        golden(done.output.replace(reason, "REASON"), path.name)


def test_without_pyxform_one_sentence_tells_what_to_install(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    monkeypatch.setitem(sys.modules, "pyxform.xls2json", None)
    with pytest.raises(FormError) as caught:
        read_form(Path("form.xlsx"))
    assert caught.value.code == "no_pyxform"
    golden(caught.value)
