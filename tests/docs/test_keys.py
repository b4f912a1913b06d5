"""docs/authoring.md has a row for every key of an author's file, and none for any other; its examples compile.

The compiler itself tells its keys, while it reads a file that has everything: a new key, or a new place for keys,
fails here until it is documented.
"""

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from ruamel.yaml import YAML

from survey_app.authoring import build
from survey_app.authoring.authored_question import COMMON_KEYS, LABELS
from survey_app.authoring.translations import PROSE
from survey_app.authoring.yaml_source import AuthoringError, Node
from tests.module_graph import ROOT

PAGE = (ROOT / "docs" / "authoring.md").read_text()
COLUMNS = "| key | takes | left out | meaning | example |"
EVERYTHING = """
slug: everything
title: Everything
epsilon: 7
groups: {north: {label: North}, south: {label: South}}
invitations: {from: 2026-12-10T00:00Z}
questions:
  - {section: The first}
  - {id: a, type: yes_no, text: "?", design: {forced: {truth: 1/2, yes: 1/2}}}
  - {id: b, type: choice, text: "?", options: [x, y], show_if: {question: a, is: [yes]}}
  - {id: c, type: scale, text: "?", points: [x, y]}
  - {id: d, type: multiple, text: "?", options: [x, y]}
  - {id: e, type: number, text: "?", min: 0, max: 1}
  - {type: battery, text: "?", points: [x, y], statements: {f: "?"}}
"""


def heard(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """For every heading of the page, the keys that the compiler would take there."""
    asked: dict[str, set[str]] = defaultdict(set)
    sites = set[tuple[str, int]]()
    original: Callable[..., dict[str, Node]] = Node.mapping

    def listen(node: Node, required: Iterable[str], optional: Iterable[str]) -> dict[str, Node]:
        caller = inspect.stack()[1]
        sites.add((caller.filename, caller.lineno))
        asked[heading_of(node)] |= {*required, *optional}
        return original(node, required, optional)

    monkeypatch.setattr(Node, "mapping", listen)
    build(EVERYTHING.encode())
    files = ROOT.glob("survey_app/authoring/*.py")
    assert len(sites) == sum(len(re.findall(r"(?<!def )\bmapping\(", file.read_text())) for file in files)
    common = {"id", "type", "text", *COMMON_KEYS}
    for kind in TYPES:
        asked[kind] -= common
    asked["Questions"] |= common
    asked["In several languages"] = {*PROSE, *LABELS, "questions", "sections", "text", "unit"}
    return dict(asked)


TYPES = ("yes_no", "choice", "scale", "multiple", "number", "battery")


def heading_of(node: Node) -> str:
    """Under which heading a mapping of the file is told."""
    steps = re.findall(r"[a-z_]+", node.path)
    if steps[:1] != ["questions"]:
        return {"": "The survey", "invitations": "By invitation", "groups": "Groups"}["".join(steps[:1])]
    if len(steps) > 1:
        return {"show_if": "Questions", "design": "yes_no", "statements": "scale"}[steps[1]]
    members = node.members()
    return str(members["type"].value) if "section" not in members else "Sections and batteries"


def told(page: str) -> dict[str, dict[str, list[str]]]:
    """The rows of the tables of keys, by the heading above them."""
    found: dict[str, dict[str, list[str]]] = {}
    for part in re.split(r"^#{2,3} ", page, flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        if COLUMNS in text:
            rows = re.findall(r"^\| (`\w+` \|.*) \|$", text, re.MULTILINE)
            found[heading] = {cells[0].strip("`"): cells[1:] for cells in (row.split(" | ") for row in rows)}
    return found


def test_every_key_has_a_row_and_every_row_is_of_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {heading: set(rows) for heading, rows in told(PAGE).items()} == heard(monkeypatch)


def test_a_key_without_a_row_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    without = re.sub(r"^\| `deletes`.*\n", "", PAGE, flags=re.MULTILINE)
    assert heard(monkeypatch)["The survey"] - set(told(without)["The survey"]) == {"deletes"}


def test_every_row_tells_all_of_it() -> None:
    cells = [row for rows in told(PAGE).values() for row in rows.values()]
    assert len(cells) > 60 and all(len(row) == 4 and all(cell.strip() for cell in row) for row in cells)


BASE: dict[str, Any] = {
    "slug": "base",
    "title": "Base",
    "epsilon": "4",
    "questions": [
        {"id": "help", "type": "choice", "text": "?", "options": ["none", "notes"]},
        {"id": "fair", "type": "scale", "text": "?", "points": ["Disagree", "Agree"]},
    ],
}
QUESTION: dict[str, dict[str, Any]] = {
    "yes_no": {},
    "choice": {"options": ["a", "b"]},
    "scale": {"points": ["a", "b", "c"]},
    "multiple": {"options": ["a", "b"]},
    "number": {"min": "0", "max": "60"},
    "battery": {"points": ["a", "b", "c"], "statements": {"one": "?"}},
}
FIRST = {"id": "first", "type": "yes_no", "text": "?"}
OF_A_TRANSLATION = "In several languages"  # checked by the examples of the page as a whole


def examples() -> Iterable[Any]:
    for heading, rows in told(PAGE).items():
        for key, cells in rows.items():
            if cells[-1].startswith("`") and heading != OF_A_TRANSLATION:
                yield pytest.param(heading, key, cells[-1].strip("`"), id=f"{heading}: {key}")


def with_example(heading: str, said: dict[str, Any]) -> dict[str, Any]:
    """A file in which an example stands where its table says."""
    if heading == "The survey":
        return BASE | said
    if heading == "By invitation":
        key = {"key": "_" * 511 + "9"} if "issuer" in said else {}
        return BASE | {"invitations": said | key}
    if heading == "Groups":
        other = {"size": "5"} if "size" in said else {}
        return BASE | {"groups": {"north": said, "south": other}}
    if heading == "Sections and batteries":
        return BASE | {"questions": [{"section": "Here"} | said, FIRST]}
    kind = heading if heading in QUESTION else "yes_no"
    named = {} if kind == "battery" else {"id": "it"}
    return BASE | {"questions": [FIRST, named | {"type": kind, "text": "?"} | QUESTION[kind] | said]}


@pytest.mark.parametrize(("heading", "key", "example"), [*examples()])
def test_every_example_compiles(heading: str, key: str, example: str) -> None:
    said: dict[str, Any] = YAML(typ="safe", pure=True).load(example)
    assert key in example and len(said) == 1
    build(_spelled(with_example(heading, said)).encode())


def test_an_example_that_does_not_compile_would_be_found() -> None:
    with pytest.raises(AuthoringError, match="unknown key"):
        build(_spelled(with_example("choice", {"colour": "red"})).encode())


def _spelled(value: Any) -> str:
    """A file in the flow style of YAML, every word quoted."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_spelled(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_spelled, value)) + "]"
    return f'"{value}"'


def test_the_longer_examples_compile() -> None:
    blocks = [re.sub("^    ", "", block, flags=re.MULTILINE) for block in re.findall(r"(?<=\n\n)((?:    .*\n)+)", PAGE)]
    questions, translations, groups = (
        next(block for block in blocks if block.startswith(key))
        for key in ("questions:\n  - {section", "translations:", "groups:")
    )
    build(f"slug: work\ntitle: Work\nepsilon: 4\n{questions}{translations}".encode())
    asked = _spelled(BASE["questions"])
    assert len(build(f"slug: work\ntitle: Work\nepsilon: 4\nquestions: {asked}\n{groups}".encode()).surveys) == 2
