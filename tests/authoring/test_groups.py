"""Groups in an author's file: one definition each, alike but for slug and group, and every mistake with its line."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from candor_client import verify
from candor_client.definition import Survey
from survey_app.authoring import build
from survey_app.authoring.diagnostics import check
from survey_app.authoring.groups import Group
from survey_app.authoring.yaml_source import AuthoringError
from survey_app.cli import main
from tests.authoring.fault_words import describe
from tests.golden_files import Golden

HEAD = "slug: exam\ntitle: Exam honesty\nepsilon: 2\nquestions:\n  - {id: a, type: yes_no, text: Did you?}\n"


def study(groups: str) -> bytes:
    return f"{HEAD}groups:{groups}\n".encode()


TWO = study("\n  north: {label: North, size: 12000}\n  south: {label: South, size: 8000}")


def error(source: bytes) -> AuthoringError:
    with pytest.raises(AuthoringError) as caught:
        build(source)
    return caught.value


def test_a_group_is_a_survey_of_its_own_that_differs_in_slug_and_group_alone() -> None:
    built = build(TWO)
    assert built.slug == "exam"
    assert [survey.slug for survey in built.surveys] == ["exam-north", "exam-south"]
    assert built.survey is built.surveys[0]
    definitions = [json.loads(survey.source) for survey in built.surveys]
    named = [{key: one.pop(key) for key in ("slug", "study", "group")} for one in definitions]
    assert named == [
        {"slug": "exam-north", "study": "exam", "group": "North"},
        {"slug": "exam-south", "study": "exam", "group": "South"},
    ]
    alone = json.loads(build(HEAD.encode()).survey.source)
    assert alone.pop("slug") == "exam"
    assert definitions == [alone, alone]
    for survey in built.surveys:
        assert Survey.from_json(survey.source) == survey
        assert verify(survey) == verify(built.survey)


def test_sizes_are_no_part_of_a_definition() -> None:
    built = build(TWO)
    assert built.sizes == (12000, 8000)
    assert built.groups == (Group("north", "North", 12000), Group("south", "South", 8000))
    assert all(b"12000" not in survey.source for survey in built.surveys)
    other = build(TWO.replace(b"12000", b"13000"))
    assert other.surveys == built.surveys


def test_a_label_is_the_name_unless_it_is_written() -> None:
    built = build(study("\n  a:\n  b: {}\n  c: {label: Third}"))
    assert [survey.group for survey in built.surveys] == ["a", "b", "Third"]
    assert built.sizes is None


def test_a_file_without_groups_is_one_survey() -> None:
    built = build(HEAD.encode())
    assert (built.slug, built.groups, built.sizes, len(built.surveys)) == ("exam", (), None, 1)
    assert built.survey.study == ""


MISTAKES = [
        (" {a: {}}", 6, "groups", "group_count"),
        (" {}", 6, "groups", "group_count"),
        (" [a, b]", 6, "groups", "not_a_mapping"),
        ("\n  a: {}\n  B: {}", 8, "groups.B", "bad_name"),
        ("\n  a: {}\n  -b: {}", 8, "groups.-b", "bad_name"),
        ("\n  a: {size: 3}\n  b: {}", 8, "groups.b", "size_missing"),
        ("\n  a: {}\n  b: {size: 3}", 7, "groups.a", "size_missing"),
        ("\n  a: {size: 0}\n  b: {size: 3}", 7, "groups.a.size", "not_an_integer"),
        ("\n  a: {size: 2.5}\n  b: {size: 3}", 7, "groups.a.size", "not_an_integer"),
        ("\n  a: {label: North}\n  b: {label: North}", 8, "groups.b", "duplicate"),
        ("\n  a: {label: b}\n  b: {}", 8, "groups.b", "duplicate"),
        ("\n  a: {label: Ｎorth}\n  b: {label: nORTH}", 8, "groups.b", "duplicate"),
        ("\n  a: {label: Straße}\n  b: {label: STRASSE}", 8, "groups.b", "duplicate"),
        ("\n  a: {label: North  East}\n  b: {label: North\u00a0East}", 8, "groups.b", "duplicate"),
        ("\n  a: {label: North\u200e}\n  b: {label: North\ufe0e}", 8, "groups.b", "duplicate"),
        ("\n  a: {label: North\u2065}\n  b: {label: North\ufff0}", 8, "groups.b", "duplicate"),
        ("\n  a: {label: North\U0001d173}\n  b: {label: North\U000e0fff}", 8, "groups.b", "duplicate"),
        ("\n  a: {label: \u0645\u06cc\u200c\u062e}\n  b: {label: \u0645\u06cc\u062e}", 8, "groups.b", "duplicate"),
        ("\n  a: {label: North}\n  b: {label: North\u200b}", 8, "groups.b.label", "invisible_character"),
        ("\n  a: {name: North}\n  b: {}", 7, "groups.a.name", "unknown_key"),
        ('\n  a: {label: "x\\u202ey"}\n  b: {}', 7, "groups.a.label", "bad_value"),
        ("\n  a: {}\n  a: {}", 8, "groups", "duplicate_key"),
        (f"\n  a: {{}}\n  {'b' * 59}: {{}}", 8, f"groups.{'b' * 59}", "too_long"),
]  # fmt: skip


@pytest.mark.parametrize(("groups", "line", "path", "code"), MISTAKES)
def test_groups_that_cannot_be_are_refused_with_their_line(groups: str, line: int, path: str, code: str) -> None:
    found = error(study(groups))
    assert (found.line, found.path, found.code) == (line, path, code)


def test_what_is_wrong_with_groups_in_words(golden: Golden) -> None:
    golden("\n".join(describe(study(groups), error(study(groups))) for groups, *_ in MISTAKES))


def test_the_longest_slug_and_the_most_groups_are_taken() -> None:
    names = ["b" * 58, *(f"g{i}" for i in range(199))]
    built = build(study("".join(f"\n  {name}:" for name in names)))
    assert (len(built.surveys), len(built.survey.slug)) == (200, 63)
    assert error(study("".join(f"\n  g{i}:" for i in range(201)))).code == "group_count"


def test_a_bad_study_is_told_where_its_slug_is() -> None:
    found = error(TWO.replace(b"slug: exam", b"slug: Exam"))
    assert (found.line, found.path) == (1, "slug")


def test_a_fault_of_groups_does_not_hide_the_others() -> None:
    faults = check(study("\n  a: {}").replace(b"type: yes_no", b"type: maybe")).faults
    assert [fault.path for fault in faults] == ["groups", "questions[0].type"]
    assert faults[0].key == "groups"


def test_the_command_writes_one_definition_a_line(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_bytes(TWO)
    done = CliRunner().invoke(main, ["survey", "build", str(file)])
    assert done.exit_code == 0
    assert done.stdout_bytes == b"".join(survey.source + b"\n" for survey in build(TWO).surveys)
