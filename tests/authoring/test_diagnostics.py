"""Every fault of a file is told, and each once: what takes the place of a faulty part is not complained about."""

import pytest

from survey_app.authoring.diagnostics import check


def told(source: str) -> list[str]:
    return [one.path for one in check(source.encode()).faults]


def test_a_fault_that_the_stand_in_has_too_is_told_once() -> None:
    source = "slug: a\ntitle: b\nepsilon: 100\nquestions:\n- {id: a, type: yes_no, text: A}\n"
    assert told(source) == ["epsilon"], "where it was written, not where it does not work"
    own = source.replace("epsilon: 100\n", "").replace("text: A", "text: A, epsilon: 100")
    assert told(own) == ["questions[0].epsilon"]


def test_where_the_survey_shares_no_epsilon_a_stand_in_brings_its_own() -> None:
    source = "slug: a\ntitle: b\ncloses: soon\nquestions:\n- {id: a, type: yes_no, text: '', design: coin}\n"
    assert sorted(told(source)) == ["closes", "questions[0].text"]


@pytest.mark.parametrize("questions", ["", "questions: []\n", "questions:\n"])
def test_a_file_without_questions_is_checked_all_the_same(questions: str) -> None:
    assert sorted(told(f"slug: x y\ntitle: ''\njoint: [[a, b]]\n{questions}")) == ["questions", "slug", "title"]


def test_everything_that_is_missing_is_told() -> None:
    source = "closes: soon\nquestions:\n- {id: a, type: yes_no, text: A, design: coin}\n"
    faults = check(source.encode()).faults
    assert [(fault.code, fault.path) for fault in faults] == [
        ("missing_key", ""),
        ("missing_key", ""),
        ("not_a_timestamp", "closes"),
    ]
    assert [key in fault.reason for fault, key in zip(faults, ("slug", "title"), strict=False)] == [True, True]
