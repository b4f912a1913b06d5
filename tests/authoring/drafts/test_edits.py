"""Edits of an author's file: what was asked for happens, and nothing else, to the byte."""

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from survey_app.authoring import build
from survey_app.authoring.diagnostics import check
from survey_app.authoring.drafts import edits, form_fields
from survey_app.authoring.drafts.edits import EditError
from survey_app.authoring.drafts.yaml_text import format_inline, format_scalar
from survey_app.authoring.yaml_source import AuthoringError, parse_source
from survey_app.kinds import KINDS
from tests.golden_files import Golden

CAMPUS = (Path(__file__).parents[2] / "campus.yaml").read_bytes()
COMMENTED = b"""\
# A study of 2027.
slug: exam          # in every link
title: 'Exam honesty'

description: >
  Folded text
  on two lines.

# what it costs
epsilon: 4   # advised
questions:
  # the sensitive one
  - id: cheated    # first
    type: yes_no
    text: Did you copy
      from somebody?
    design: coin

  # two comments,
  # one question
  - {id: help, type: choice, text: "What did you use?", options: [none, notes, phone]}   # flow
  - id: fair
    type: scale
    text: |
      The exam was fair.
    points:
    # worst first
    - Disagree   # no
    - Neutral
    # best last
    - Agree
# at the end
joint: [[help, fair]]
# the last line has no end"""
FILES = {
    "campus": CAMPUS,
    "commented": COMMENTED,
    "windows": COMMENTED.replace(b"\n", b"\r\n"),
    "with a mark": b"\xef\xbb\xbf" + COMMENTED,
    "json": b'{"slug":"exam","title":"Exam","epsilon":"2","questions":[{"id":"a","type":"yes_no","text":"A?"},'
    b'{"id":"b","type":"choice","text":"B?","options":["x","y"]}]}',
}


def said(source: bytes) -> dict[str, Any]:
    return edits.read_content(source).data


def lines_changed(before: bytes, after: bytes) -> tuple[list[str], list[str]]:
    found = list(difflib.ndiff(before.decode().splitlines(), after.decode().splitlines()))
    return [line[2:] for line in found if line[0] == "-"], [line[2:] for line in found if line[0] == "+"]


def comments(source: bytes) -> list[str]:
    return sorted(line.partition("#")[2] for line in source.decode().splitlines() if "#" in line)


# what stays


@pytest.mark.parametrize("name", FILES)
def test_an_edit_to_what_is_there_already_changes_no_byte(name: str) -> None:
    source = FILES[name]
    assert (
        edits.set_survey(source, form_fields.survey_changes(said(source), form_fields.show_survey(said(source))))
        == source
    )
    for place, question in enumerate(said(source)["questions"]):
        changes, renames = form_fields.question_changes(question, form_fields.show_question(question))
        assert (changes, renames) == ({}, {})
        assert edits.set_question(source, place, changes) == source
        assert edits.move_question(source, place, place) == source


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "change",
    [
        {"title": "Another: title"},
        {"title": "# no comment"},
        {"description": "One paragraph.\n\nAnd another."},
        {"description": None},
        {"consent": "New text."},
        {"epsilon": "3.5", "ask": "auto", "contact": "a@b.example, or: nobody"},
        {"opens": "2027-01-01T00:00Z", "closes": "2027-02-01T00:00Z"},
        {"joint": None},
        {"joint": [["cheated", "help"]]},
        {"slug": ""},
    ],
)
def test_a_key_of_the_survey_changes_alone(name: str, change: dict[str, Any]) -> None:
    source = FILES[name]
    done = edits.set_survey(source, change)
    assert set(comments(source)) <= set(comments(done))
    expected = {key: value for key, value in {**said(source), **change}.items() if value is not None}
    assert said(done).keys() == expected.keys()
    for key, value in expected.items():
        assert said(done)[key] == value if not isinstance(value, str) else said(done)[key].strip() == value.strip()
    if name != "json":
        kept = {line for key, value in said(source).items() if key not in change for line in _lines_of(source, key)}
        assert kept <= set(done.decode().splitlines())


def _lines_of(source: bytes, key: str) -> list[str]:
    return [line for line in source.decode("utf-8-sig").splitlines() if line.startswith(f"{key}:")]


def test_edits_touch_only_their_lines() -> None:
    cases: list[tuple[Callable[[bytes], bytes], list[str], list[str]]] = [
        (
            lambda source: edits.set_survey(source, {"slug": "exam-2"}),
            ["slug: exam          # in every link"],
            ["slug: exam-2          # in every link"],
        ),
        (
            lambda source: edits.set_question(source, 0, {"design": "die"}),
            ["    design: coin"],
            ["    design: die"],
        ),
        (lambda source: edits.set_question(source, 0, {"design": None}), ["    design: coin"], []),
        (
            lambda source: edits.set_question(source, 0, {"text": "Did you?"}),
            ["    text: Did you copy", "      from somebody?"],
            ["    text: Did you?"],
        ),
        (
            lambda source: edits.set_question(source, 2, {"points": ["Disagree", "So so", "Agree"]}),
            ["    - Neutral"],
            ["    - So so"],
        ),
        (
            lambda source: edits.set_question(source, 2, {"points": ["Disagree", "Neutral", "Agree", "Love it"]}),
            [],
            ["    - Love it"],
        ),
        (
            lambda source: edits.set_question(source, 2, {"points": ["Hate it", "Disagree", "Neutral", "Agree"]}),
            [],
            ["    - Hate it"],
        ),
        (lambda source: edits.set_question(source, 2, {"points": ["Disagree", "Neutral"]}), ["    - Agree"], []),
        (lambda source: edits.set_question(source, 1, {"optional": "true", "options": ["a, b", "c"]}), [
            '  - {id: help, type: choice, text: "What did you use?", options: [none, notes, phone]}   # flow'
        ], ['  - {id: help, type: choice, text: "What did you use?", options: ["a, b", c], optional: true}   # flow']),
        (lambda source: edits.set_question(source, 2, {"scores": ["-1", "0", "1"]}), [], ["    scores: [-1, 0, 1]"]),
        (
            lambda source: edits.add_question(source, {"id": "q", "type": "yes_no", "text": "Q: yes?"}),
            [],
            ["  - id: q", "    type: yes_no", '    text: "Q: yes?"'],
        ),
    ]  # fmt: skip
    for edit, gone, come in cases:
        done = edit(COMMENTED)
        assert lines_changed(COMMENTED, done) == (gone, come)


def test_a_question_moves_with_the_comments_above_it() -> None:
    done = edits.move_question(COMMENTED, 1, 0).decode()
    assert done.index("two comments") < done.index("one question\n  - {id: help") < done.index("the sensitive one")
    assert done.index("the sensitive one\n  - id: cheated") < done.index("id: fair")
    assert edits.move_question(done.encode(), 1, 0) == COMMENTED


@pytest.mark.parametrize("name", FILES)
def test_questions_are_added_copied_moved_and_deleted(name: str) -> None:
    source = FILES[name]
    questions = said(source)["questions"]
    new = form_fields.make_question(edits.read_content(source), "choice")
    assert said(edits.add_question(source, new))["questions"] == [*questions, new]
    for place in range(len(questions)):
        copied = said(edits.copy_question(source, place))["questions"]
        twin = {**questions[place], "id": f"{questions[place]['id']}-2"}
        assert copied == [*questions[: place + 1], twin, *questions[place + 1 :]]
        left = edits.delete_question(source, place)
        assert said(left)["questions"] == [*questions[:place], *questions[place + 1 :]]
        for to in {0, place, len(questions) - 1}:
            moved = edits.move_question(source, place, to)
            assert said(moved)["questions"][to] == questions[place]
            assert comments(moved) == comments(source)
            assert edits.move_question(moved, to, place) == source
    while said(source)["questions"]:
        source = edits.delete_question(source, 0)
    assert said(edits.add_question(source, new))["questions"] == [new]


def test_a_new_id_is_followed_by_conditions_and_joint_fields() -> None:
    done = said(edits.set_question(CAMPUS, 0, {"id": "copied"}))
    assert done["questions"][-1]["show_if"] == {"question": "copied", "is": ["yes"]}
    assert said(edits.set_question(CAMPUS, 1, {"id": "aid"}))["joint"] == [["aid", "fair"]]


@pytest.mark.parametrize("place", [-1, 3, 10**9])
def test_a_question_that_is_gone_is_not_edited(place: int) -> None:
    attempts: list[Callable[[], bytes]] = [
        lambda: edits.set_question(COMMENTED, place, {"text": "x"}),
        lambda: edits.copy_question(COMMENTED, place),
        lambda: edits.delete_question(COMMENTED, place),
        lambda: edits.move_question(COMMENTED, place, 0),
        lambda: edits.move_question(COMMENTED, 0, place),
    ]
    for attempt in attempts:
        try:
            attempt()
        except (AuthoringError, EditError) as error:
            assert error.code in ("unknown_question", "unknown_place")
        else:
            pytest.fail("edited")


# any text, any layout

TEXTS = st.text(min_size=1, max_size=40).filter(
    lambda text: text.strip() and not any("\ud800" <= c <= "\udfff" for c in text)
)
WORDS = st.one_of(
    st.sampled_from(["yes", "no", "1:30", "- x", "# y", "a: b", "a,b", "{x}", "[x]", "'", '"', "&a", "*a", "!t", "%", "|", ">", "?", "null", "~", "é", "日本", "a #b", "x:", "..." , "---", "\u2028", "\x85", "\ufeff", "\x00"]),
    TEXTS,
)  # fmt: skip


@given(WORDS)
def test_any_text_is_read_back_as_it_was_typed(text: str) -> None:
    for source in (
        f"key: {format_scalar(text, flow=False)}",
        f"{{key: {format_scalar(text, flow=True)}}}",
        f"key: {format_inline([text])}",
    ):
        found = parse_source(source.encode()).plain()
        assert found in ({"key": text}, {"key": [text]})


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A file in some layout: block or flow, with comments and blank lines, either kind of line break."""
    layout = draw(st.lists(st.sampled_from(["block", "flow"]), min_size=1, max_size=4))
    noise = st.sampled_from(["", "", "\n", "# a comment\n", "  # indented\n", "\n  # apart\n\n", "    # deep\n"])
    comment = st.sampled_from(["", "", "  # why", "   #"])
    column = draw(st.sampled_from([0, 2, 4]))
    text = draw(noise) + "slug: exam" + draw(comment) + "\n" + draw(noise)
    text += draw(
        st.sampled_from(
            ["title: Exam\n", "title: 'It''s'\n", 'title: "A\\tB"\n', "title: >-\n  two\n  lines\n", "title: a\n  b\n"]
        )
    )
    text += (
        draw(st.sampled_from(["", "\n", "# a comment\n"]))
        + "epsilon: 4"
        + draw(comment)
        + "\nquestions:"
        + draw(comment)
        + "\n"
    )
    for place, how in enumerate(layout):
        text += draw(noise)
        margin = " " * column
        labels = draw(st.lists(WORDS, min_size=2, max_size=4, unique=True))
        if how == "flow":
            text += f"{margin}- {{id: q{place}, type: choice, text: {format_scalar(draw(WORDS), flow=True)}, options: {format_inline([*labels])}}}"
            text += draw(comment) + "\n"
        else:
            text += f"{margin}- id: q{place}{draw(comment)}\n{margin}  type: choice\n"
            text += f"{margin}  text: {format_scalar(draw(WORDS), flow=False)}\n{draw(noise)}{margin}  options:{draw(comment)}\n"
            text += "".join(f"{margin}    - {format_scalar(label, flow=False)}{draw(comment)}\n" for label in labels)
    text += draw(noise) + draw(st.sampled_from(["", "max_reports: 9", "contact: me\n", "joint: [[q0, q1]]\n# end\n"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))).encode()


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, dict[str, Any], dict[str, Any]]:
    keys: dict[str, st.SearchStrategy[Any]] = {
        "text": WORDS,
        "options": st.lists(WORDS, max_size=5),
        "unit": st.none() | WORDS,
        "weight": st.sampled_from(["2", "x"]),
    }
    question = {key: draw(keys[key]) for key in draw(st.lists(st.sampled_from(sorted(keys)), unique=True))}
    tops: dict[str, st.SearchStrategy[Any]] = {
        "title": WORDS,
        "description": st.none() | TEXTS,
        "epsilon": st.none() | WORDS,
        "contact": st.none() | WORDS,
        "joint": st.none() | st.just([["q0", "q1"]]),
    }
    survey = {key: draw(tops[key]) for key in draw(st.lists(st.sampled_from(sorted(tops)), unique=True))}
    return draw(st.sampled_from(["survey", "question", "add", "copy", "move", "delete"])), survey, question


def _edited(source: bytes, name: str, place: int, to: int, survey: dict[str, Any], question: dict[str, Any]) -> bytes:
    if name == "survey":
        return edits.set_survey(source, survey)
    if name == "question":
        return edits.set_question(source, place, question)
    if name == "add":
        return edits.add_question(source, {"id": "new", "type": "yes_no", "text": "x"})
    if name == "copy":
        return edits.copy_question(source, place)
    return edits.move_question(source, place, to) if name == "move" else edits.delete_question(source, place)


@settings(max_examples=100)
@given(files(), st.lists(changes(), min_size=1, max_size=3), st.data())
def test_edits_do_what_they_say_in_any_layout(source: bytes, chosen: list[Any], data: st.DataObject) -> None:
    try:
        edits.read_content(source)
    except AuthoringError:
        assume(False)
    for name, survey, question in chosen:
        questions = said(source)["questions"]
        if not questions:
            break
        place, to = (data.draw(st.integers(0, len(questions) - 1)) for _ in range(2))
        done = _edited(source, name, place, to, survey, question)  # each edit checks itself, and nothing else happens
        if name == "move":
            assert edits.move_question(done, to, place) == source
        if name in ("survey", "question", "add", "move"):
            for comment in (b"# a comment", b"# indented", b"# apart", b"# deep"):
                assert done.count(comment) == source.count(comment)
        if name in ("add", "move"):
            assert done.count(b"# why") == source.count(b"# why")
        source = done


# forms


WRITTEN: dict[str, dict[str, Any]] = {
    "yes_no": {},
    "choice": {"options": ["red", "green"]},
    "scale": {"points": ["low", "high"]},
    "multiple": {"options": ["red", "green", "blue"]},
    "number": {"min": "0", "max": "9"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_question_says_nothing_that_nobody_wrote_and_is_no_survey_until_somebody_does(
    kind: str, golden: Golden
) -> None:
    begun = edits.make_empty_draft("new", "New")
    question = form_fields.make_question(edits.read_content(begun), kind)
    assert not any(value for key, value in question.items() if key not in ("id", "type"))
    source = edits.add_question(begun, question)
    (fault,) = check(source).faults
    assert (fault.question, fault.key, fault.code) == (0, "text", "empty")
    golden(fault.reason)
    changes = {"text": "Is it?", **WRITTEN[kind]}
    built = build(edits.set_question(source, 0, changes))
    assert built.survey.questions[0].type == kind
    assert built.design.ask == "auto", "the fewest respondents, unless somebody wants otherwise"


@pytest.mark.parametrize("old", KINDS)
@pytest.mark.parametrize("new", KINDS)
def test_a_question_of_one_type_becomes_one_of_another(old: str, new: str) -> None:
    begun = edits.make_empty_draft("new", "New")
    question = form_fields.make_question(edits.read_content(begun), old) | WRITTEN[old]
    source = edits.add_question(begun, question)
    source = edits.set_question(source, 0, *form_fields.question_changes(question, {"type": new, "text": "Is it?"}))
    (made,) = said(source)["questions"]
    assert (made["type"], made["text"]) == (new, "Is it?")
    labels = WRITTEN[old].get("options") or WRITTEN[old].get("points")
    kept = made.get("options") or made.get("points") or None
    assert kept == (labels if new in ("choice", "scale", "multiple") else None)
    faults = {fault.key for fault in check(source).faults}
    missing = {"choice": "options", "scale": "points", "multiple": "options", "number": "min"}.get(new)
    assert faults == (set() if kept or old == new or missing is None else {missing})


def test_a_condition_keeps_no_answers_of_another_question() -> None:
    old: dict[str, Any] = {"id": "c", "type": "yes_no", "text": "C?", "show_if": {"question": "a", "is": ["yes"]}}
    shown = form_fields.show_question(old)
    assert form_fields.question_changes(old, shown | {"show_if_is": "yes\nno"})[0] == {
        "show_if": {"question": "a", "is": ["yes", "no"]}
    }
    chosen = shown | {"show_if": "b"}
    assert form_fields.question_changes(old, chosen)[0] == {"show_if": {"question": "b", "is": []}}
    ticked = chosen | {"show_if_of": "b", "show_if_is": "red"}
    assert form_fields.question_changes(old, ticked)[0] == {"show_if": {"question": "b", "is": ["red"]}}
    assert form_fields.question_changes(old, shown | {"show_if": ""})[0] == {"show_if": None}


def test_a_language_is_chosen_or_named_by_another_tag() -> None:
    assert form_fields.survey_changes({}, {"language": "de", "language_tag": ""}) == {"language": "de"}
    assert form_fields.survey_changes({"language": "de"}, {"language": "de", "language_tag": "pt-BR"}) == {
        "language": "pt-BR"
    }
    assert form_fields.survey_changes({"language": "de"}, {"language": ""}) == {"language": None}
    assert edits.read_content(edits.make_empty_draft("new", "Neu: ja?", "de")).data["title"] == "Neu: ja?"
    assert edits.read_content(edits.make_empty_draft("new", "Neu", "de")).data["language"] == "de"


def test_every_key_of_a_question_has_a_field() -> None:
    cases: list[tuple[str, dict[str, str], dict[str, Any]]] = [
        ("yes_no", {"design": "coin"}, {"design": "coin"}),
        ("yes_no", {"design": "warner", "design_p": "0.7"}, {"design": {"warner": "0.7"}}),
        ("yes_no", {"design": "gamma", "design_p": "1/4"}, {"design": {"gamma": "1/4"}}),
        ("yes_no", {"design": "forced", "design_p": "2/3", "design_yes": "1/2"}, {"design": {"forced": {"truth": "2/3", "yes": "1/2"}}}),
        ("yes_no", {"epsilon": "1", "optional": "true"}, {"epsilon": "1", "optional": "true"}),
        ("choice", {"options": "a\r\nb, c\r\n\r\nd\r\n"}, {"options": ["a", "b, c", "d"]}),
        ("scale", {"points": "a\nb", "scores": "-1\n1", "weight": "2"}, {"points": ["a", "b"], "scores": ["-1", "1"], "weight": "2"}),
        ("multiple", {"id": "used"}, {"id": "used"}),
        ("number", {"min": "-5", "max": "5", "step": "0.5", "unit": "°C", "bins": "4"}, {"min": "-5", "max": "5", "step": "0.5", "unit": "°C", "bins": "4"}),
        ("number", {"mechanism": "laplace"}, {"mechanism": "laplace"}),
        ("choice", {"show_if": "first", "show_if_is": "yes"}, {"show_if": {"question": "first", "is": ["yes"]}}),
    ]  # fmt: skip
    for kind, sent, wanted in cases:
        question = form_fields.make_question(edits.read_content(edits.make_empty_draft("new")), kind)
        source = edits.add_question(edits.make_empty_draft("new"), {**question})
        changes, renames = form_fields.question_changes(question, sent)
        assert changes == wanted
        source = edits.set_question(source, 0, changes, renames)
        now = said(source)["questions"][0]
        shown = form_fields.show_question(now)
        assert form_fields.question_changes(now, shown) == ({}, {})
        back, _ = form_fields.question_changes(now, {**form_fields.show_question(question), "type": kind})
        assert said(edits.set_question(source, 0, back))["questions"][0] == question


def test_what_no_field_can_show_no_form_touches() -> None:
    odd: dict[str, Any] = {
        "id": "a",
        "type": "choice",
        "text": ["x"],
        "options": [["a"], "b"],
        "show_if": ["x"],
        "epsilon": {"a": "1"},
    }
    shown = form_fields.show_question(odd)
    assert not {"text", "options", "show_if", "epsilon"} & set(shown)
    sent = {"text": "new", "options": "a\nb", "show_if": "x", "epsilon": "2", "weight": "3"}
    assert form_fields.question_changes(odd, sent) == ({"weight": "3"}, {})


def test_moments_are_picked_in_utc_and_kept_as_they_were_written() -> None:
    there: dict[str, Any] = {"opens": "2027-01-01T01:00+01:00", "closes": "soon"}
    shown = form_fields.show_survey(there)
    assert (shown["opens"], shown["closes"]) == ("2027-01-01T00:00", "soon")
    assert form_fields.survey_changes(there, shown) == {}
    assert form_fields.survey_changes(there, {**shown, "opens": "2027-01-02T00:00"}) == {"opens": "2027-01-02T00:00Z"}
    assert form_fields.survey_changes(there, {"closes": ""}) == {"closes": None}


def test_joint_fields_are_lines_of_ids() -> None:
    assert form_fields.show_survey({"joint": [["a", "b"], ["c", "d"]]})["joint"] == "a, b\nc, d"
    assert form_fields.survey_changes({}, {"joint": "a, b\r\n\r\nc d,\r\n"}) == {"joint": [["a", "b"], ["c", "d"]]}


# faults


def test_all_faults_are_told_each_where_it_is(golden: Golden) -> None:
    source = b"""\
slug: Exam
title: Exam
epsilon: 4
closes: tomorrow
questions:
  - {id: a, type: choice, text: A?, options: [x]}
  - {id: b, type: yes_no, text: B?, show_if: {question: a, is: [x]}}
  - {id: c, type: number, text: C?, min: 9, max: 1}
  - {id: d, type: yes_no, text: '', weight: 2}
joint: [[a, b], [d, e]]
"""
    found = check(source)
    assert found.built is None
    places = {(one.question, one.key, one.line) for one in found.faults}
    assert {(0, "options", 6), (2, "max", 8), (3, "text", 9), (None, "slug", 1), (None, "closes", 4)} <= places
    assert not found.faults_in(1)  # its only fault is that it refers to one
    assert found.faults_in(0, "options")[0].code == "too_few"
    golden("\n".join(f"line {fault.line}, {fault.path}: {fault.reason}" for fault in found.faults))


@pytest.mark.parametrize(
    ("source", "line"),
    [(b"a: [", 1), (b"\xff", None), (b"slug: a\nslug: b", 2), (b"- a", 1), (b"", None), (b"a: &x b", 1), (b"x: " + b"[" * 50, 1)],
)  # fmt: skip
def test_rubbish_is_one_fault_and_says_nothing(source: bytes, line: int | None) -> None:
    found = check(source)
    assert found.built is None
    assert found.content is None
    assert [one.line for one in found.faults] == [line] or not line


def test_a_good_file_has_no_faults(golden: Golden) -> None:
    found = check(CAMPUS)
    assert found.built is not None
    assert not found.faults
    (fault,) = check(edits.make_empty_draft("new", "New")).faults
    assert (fault.path, fault.code) == ("questions", "empty")
    golden(fault.reason)


def test_who_may_answer_is_chosen_in_the_form_and_the_rest_of_the_file_stays() -> None:
    source = b"slug: a  # mine\ntitle: T\nepsilon: 2\nquestions: []\n"
    begin = "2026-12-10T00:00"
    for sent, value in [
        ({"invitations": "own"}, "true"),
        ({"invitations": "phases", "invitations_from": begin}, {"from": f"{begin}Z"}),
        ({"invitations": "phases", "invitations_from": "soon"}, {"from": "soon"}),
        ({"invitations": "own", "invitations_from": ""}, "true"),
        ({"invitations": "", "invitations_from": ""}, None),
    ]:
        changes = form_fields.survey_changes(said(source), sent)
        assert changes == {"invitations": value}
        source = edits.set_survey(source, changes)
        shown = form_fields.show_survey(said(source))
        assert shown["invitations"] == sent["invitations"]
        assert form_fields.survey_changes(said(source), shown) == {}
    assert source == b"slug: a  # mine\ntitle: T\nepsilon: 2\nquestions: []\n"


def test_another_issuer_is_written_in_the_file_and_no_form_touches_it() -> None:
    there: dict[str, Any] = {"invitations": {"issuer": "https://council.example", "key": "n"}}
    assert "invitations" not in form_fields.show_survey(there)
    assert form_fields.survey_changes(there, {"invitations": "own", "invitations_from": ""}) == {}
    assert form_fields.show_survey({"invitations": "false"})["invitations"] == ""
