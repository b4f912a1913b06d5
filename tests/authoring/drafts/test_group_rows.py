"""Groups in the editor: rows of a form, and a file in which nothing else moves."""

import pytest

from survey_app.authoring.drafts.edits import EditError
from survey_app.authoring.drafts.group_rows import Row, set_groups, show, wanted
from survey_app.authoring.yaml_source import content_of

FILE = b"""\
slug: exam  # kept
title: Exam honesty
groups:
  # the north
  north: {label: North, size: 12000}  # counted in May
  south:
    label: South  # kept too
    size: 8000
  west:
questions: []
"""
NORTH, SOUTH, WEST = (
    Row("north", "north", "North", "12000"),
    Row("south", "south", "South", "8000"),
    Row("west", "west", "", ""),
)


def fields(source: bytes, **changes: str) -> dict[str, str]:
    return {**show(content_of(source).said), **{name.replace("_", "-"): text for name, text in changes.items()}}


def test_a_form_that_is_sent_back_changes_nothing() -> None:
    said = content_of(FILE).said
    assert show(said)["groups"] == "5"
    assert wanted(said, show(said)) is None
    assert wanted(said, {}) is None


def test_rows_are_changed_removed_and_added() -> None:
    sent = fields(
        FILE, group_0_label="Nord", group_1_label="", group_1_name="", group_1_size="", group_3_label="The East", group_4_name="mid"
    )  # fmt: skip
    assert wanted(content_of(FILE).said, sent) == [
        Row("north", "north", "Nord", "12000"),
        WEST,
        Row("", "the-east", "The East", ""),
        Row("", "mid", "", ""),
    ]


def test_a_link_is_made_of_a_label_and_is_new() -> None:
    empty = b"slug: exam\ntitle: T\nquestions: []\n"
    sent = fields(empty, group_0_label="Zürich & Genf", group_1_label="zurich genf")
    rows = wanted(content_of(empty).said, sent)
    assert rows is not None
    assert [row.name for row in rows] == ["zurich-genf", "zurich-genf-2"]
    sent = fields(empty, group_0_label="東京", group_1_label="大阪")
    assert [row.name for row in wanted(content_of(empty).said, sent) or []] == ["group", "group-2"]


def test_only_what_was_changed_moves() -> None:
    rows = [Row("north", "nord", "North", "12500"), Row("south", "south", "The South", "8000"), WEST]
    assert set_groups(FILE, rows) == FILE.replace(b"  north: {", b"  nord: {").replace(b"12000", b"12500").replace(
        b"label: South", b"label: The South"
    )


def test_a_group_without_values_gets_some_and_loses_them() -> None:
    filled = set_groups(FILE, [NORTH, SOUTH, Row("west", "west", "West", "9")])
    assert filled == FILE.replace(b"  west:\n", b"  west: {label: West, size: 9}\n")
    bare = set_groups(filled, [NORTH, SOUTH, WEST])
    assert bare == FILE.replace(b"  west:\n", b"  west: {}\n")


def test_groups_swap_their_links() -> None:
    swapped = set_groups(FILE, [NORTH._replace(name="south"), SOUTH._replace(name="north"), WEST])
    assert content_of(swapped).said["groups"] == {
        "south": {"label": "North", "size": "12000"}, "north": {"label": "South", "size": "8000"}, "west": "",
    }  # fmt: skip


def test_groups_come_and_go() -> None:
    assert set_groups(FILE, [SOUTH, Row("", "east", "East: far", "")]).endswith(
        b"""\
groups:
  # the north
  south:
    label: South  # kept too
    size: 8000
  east: {label: "East: far"}
questions: []
"""
    )
    none = set_groups(FILE, [])
    assert none == b"slug: exam  # kept\ntitle: Exam honesty\nquestions: []\n"
    assert set_groups(none, [Row("", "a", "A", "1"), Row("", "b", "", "")]) == none.replace(
        b"questions", b"groups: {a: {label: A, size: 1}, b: {}}\nquestions"
    )
    many = set_groups(none, [Row("", f"g{i}", f"Group {i}", "") for i in range(9)])
    assert b"groups:\n  g0: {label: Group 0}\n  g1:" in many


def test_groups_in_brackets_are_changed_in_brackets() -> None:
    flow = b"{slug: exam, title: T, groups: {a: {label: A}, b: , c: {}}, questions: []}"
    rows = [Row("a", "a", "A", "4"), Row("b", "x", "B", ""), Row("", "d", "D", "")]
    assert set_groups(flow, rows) == (
        b"{slug: exam, title: T, groups: {a: {label: A, size: 4}, x: {label: B}, d: {label: D} }, questions: []}"
    )


def test_two_groups_have_two_links() -> None:
    with pytest.raises(EditError, match="same link"):
        set_groups(FILE, [NORTH, SOUTH._replace(name="north")])


@pytest.mark.parametrize(
    "groups", ["[a, b]", "{a: {label: [x]}, b: }", "{a: {size: 1, more: 2}, b: }", "{a: North, b: }"]
)
def test_what_a_form_cannot_show_it_does_not_touch(groups: str) -> None:
    said = content_of(f"slug: exam\ntitle: T\ngroups: {groups}\nquestions: []\n".encode()).said
    assert show(said) == {}
    assert wanted(said, {"groups": "2", "group-0-label": "A"}) is None
