"""Groups in the editor: rows of a form, and a file in which nothing else moves."""

import pytest

from survey_app.authoring.drafts.edits import EditError
from survey_app.authoring.drafts.group_rows import GroupRow, parse_rows, set_groups, show_groups
from survey_app.authoring.yaml_source import read_content
from tests.golden_files import Golden

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
    GroupRow("north", "north", "North", "12000"),
    GroupRow("south", "south", "South", "8000"),
    GroupRow("west", "west", "", ""),
)


def fields(source: bytes, **changes: str) -> dict[str, str]:
    return {
        **show_groups(read_content(source).data),
        **{name.replace("_", "-"): text for name, text in changes.items()},
    }


def test_a_form_that_is_sent_back_changes_nothing() -> None:
    said = read_content(FILE).data
    assert show_groups(said)["groups"] == "5"
    assert parse_rows(said, show_groups(said)) is None
    assert parse_rows(said, {}) is None


def test_rows_are_changed_removed_and_added() -> None:
    sent = fields(
        FILE, group_0_label="Nord", group_1_label="", group_1_name="", group_1_size="", group_3_label="The East", group_4_name="mid"
    )  # fmt: skip
    assert parse_rows(read_content(FILE).data, sent) == [
        GroupRow("north", "north", "Nord", "12000"),
        WEST,
        GroupRow("", "the-east", "The East", ""),
        GroupRow("", "mid", "", ""),
    ]


def test_a_link_is_made_of_a_label_and_is_new() -> None:
    empty = b"slug: exam\ntitle: T\nquestions: []\n"
    sent = fields(empty, group_0_label="Zürich & Genf", group_1_label="zurich genf")
    rows = parse_rows(read_content(empty).data, sent)
    assert rows is not None
    assert [row.name for row in rows] == ["zurich-genf", "zurich-genf-2"]
    sent = fields(empty, group_0_label="東京", group_1_label="大阪")
    assert [row.name for row in parse_rows(read_content(empty).data, sent) or []] == ["group", "group-2"]


def test_only_what_was_changed_moves() -> None:
    rows = [GroupRow("north", "nord", "North", "12500"), GroupRow("south", "south", "The South", "8000"), WEST]
    assert set_groups(FILE, rows) == FILE.replace(b"  north: {", b"  nord: {").replace(b"12000", b"12500").replace(
        b"label: South", b"label: The South"
    )


def test_a_group_without_values_gets_some_and_loses_them() -> None:
    filled = set_groups(FILE, [NORTH, SOUTH, GroupRow("west", "west", "West", "9")])
    assert filled == FILE.replace(b"  west:\n", b"  west: {label: West, size: 9}\n")
    bare = set_groups(filled, [NORTH, SOUTH, WEST])
    assert bare == FILE.replace(b"  west:\n", b"  west: {}\n")


def test_groups_swap_their_links() -> None:
    swapped = set_groups(FILE, [NORTH._replace(name="south"), SOUTH._replace(name="north"), WEST])
    assert read_content(swapped).data["groups"] == {
        "south": {"label": "North", "size": "12000"}, "north": {"label": "South", "size": "8000"}, "west": "",
    }  # fmt: skip


def test_groups_come_and_go() -> None:
    assert set_groups(FILE, [SOUTH, GroupRow("", "east", "East: far", "")]).endswith(
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
    assert set_groups(none, [GroupRow("", "a", "A", "1"), GroupRow("", "b", "", "")]) == none.replace(
        b"questions", b"groups: {a: {label: A, size: 1}, b: {}}\nquestions"
    )
    many = set_groups(none, [GroupRow("", f"g{i}", f"Group {i}", "") for i in range(9)])
    assert b"groups:\n  g0: {label: Group 0}\n  g1:" in many


def test_groups_in_brackets_are_changed_in_brackets() -> None:
    flow = b"{slug: exam, title: T, groups: {a: {label: A}, b: , c: {}}, questions: []}"
    rows = [GroupRow("a", "a", "A", "4"), GroupRow("b", "x", "B", ""), GroupRow("", "d", "D", "")]
    assert set_groups(flow, rows) == (
        b"{slug: exam, title: T, groups: {a: {label: A, size: 4}, x: {label: B}, d: {label: D} }, questions: []}"
    )


def test_two_groups_have_two_links(golden: Golden) -> None:
    with pytest.raises(EditError) as refused:
        set_groups(FILE, [NORTH, SOUTH._replace(name="north")])
    assert refused.value.code == "duplicate"
    golden(refused.value)


@pytest.mark.parametrize(
    "groups", ["[a, b]", "{a: {label: [x]}, b: }", "{a: {size: 1, more: 2}, b: }", "{a: North, b: }"]
)
def test_what_a_form_cannot_show_it_does_not_touch(groups: str) -> None:
    said = read_content(f"slug: exam\ntitle: T\ngroups: {groups}\nquestions: []\n".encode()).data
    assert show_groups(said) == {}
    assert parse_rows(said, {"groups": "2", "group-0-label": "A"}) is None
