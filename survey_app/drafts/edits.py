"""An author's file while it is written: its text is the only truth, and every edit changes as little of it as it can.

`write` spells values, `splice` changes a text in place, `form` holds what the fields of the editor mean, `faults` finds
what authoring would refuse. The edits here know what a survey is. Each is checked before it is returned: the new text,
read again, must say what was asked for and nothing else; if it does not, the edit is refused and the text stays.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from survey_app.authoring.source import AuthoringError, Content, Plain, content_of
from survey_app.drafts import splice
from survey_app.drafts.write import entry, inline, item

BOM = "\ufeff"
TOP_ORDER = (
    "slug", "title", "description", "consent", "contact", "language", "results", "opens", "closes", "max_reports",
    "deletes", "invitations", "epsilon", "accept_weak_privacy", "ask", "groups", "questions", "joint",
)  # fmt: skip
QUESTION_ORDER = (
    "id", "type", "text", "options", "points", "scores", "min", "max", "step", "unit", "bins", "mechanism", "optional",
    "show_if", "design", "epsilon", "weight",
)  # fmt: skip
EMPTY = """\
slug: {slug}
title: Untitled survey
results: private
epsilon: 4
ask: auto
questions: []
"""


class EditError(Exception):
    """An edit that this file does not take; the message says what to do."""


def empty(slug: str) -> bytes:
    """A file to begin with."""
    return EMPTY.format(slug=slug).encode()


def set_survey(source: bytes, changes: Mapping[str, Plain | None]) -> bytes:
    """Other values for keys of the survey; None takes a key away."""
    content = content_of(source)
    expected = _changed(content.said, changes)
    return finish(source, put(content.text, _root, changes, TOP_ORDER), expected)


def set_question(
    source: bytes, position: int, changes: Mapping[str, Plain | None], renames: Mapping[str, str] | None = None
) -> bytes:
    """Other keys, then other values, for a question; if its id changes, what refers to it does too."""
    content = content_of(source)
    question = content.question(position)
    renamed = {(renames or {}).get(key, key): value for key, value in question.items()}
    expected = {**content.said, "questions": [*content.questions]}
    cast(list[Plain], expected["questions"])[position] = _changed(renamed, changes)
    text = content.text
    if renames:
        node = _question(position)(splice.compose(text))
        text = splice.apply(text, [splice.rename_key(text, node, *pair) for pair in renames.items()])
    done = finish(source, put(text, _question(position), changes, QUESTION_ORDER), expected)
    old, new = question.get("id"), changes.get("id")
    if isinstance(old, str) and isinstance(new, str) and sum(_id(other) == old for other in content.questions) == 1:
        done = _refer(done, old, new)
    return done


def add_question(source: bytes, question: dict[str, Plain]) -> bytes:
    """A question at the end."""
    content = content_of(source)
    expected = {**content.said, "questions": [*content.questions, question]}
    root = splice.compose(content.text)
    if not content.questions:
        return finish(source, _first_question(content.text, root, question), expected)
    newline = splice.newline_of(content.text)
    text = splice.insert_item(
        content.text,
        _list(root),
        len(content.questions) - 1,
        lambda column: item(question, column, newline),
        lambda: inline(question),
    )
    return finish(source, text, expected)


def copy_question(source: bytes, position: int) -> bytes:
    """The same question again behind itself, under an id of its own."""
    content = content_of(source)
    question = {**content.question(position), "id": free_id(content, _id(content.question(position)))}
    sequence = _list(splice.compose(content.text))
    start, stop = splice.chunks(content.text, sequence)[position]
    own = content.text[start:stop]
    if not sequence.flow_style:
        while own.lstrip().startswith("#"):  # comments above stay with the first
            own = own[splice.next_line(own, 0) :]
    text = splice.insert_item(content.text, sequence, position, lambda _: own, lambda: own)
    text = put(text, _question(position + 1), {"id": question["id"]}, QUESTION_ORDER)
    questions = [*content.questions[: position + 1], question, *content.questions[position + 1 :]]
    return finish(source, text, {**content.said, "questions": questions})


def move_question(source: bytes, position: int, to: int) -> bytes:
    """A question at another place; the others keep their order."""
    content = content_of(source)
    count = len(content.questions)
    if not (0 <= position < count and 0 <= to < count):
        raise EditError("There is no such place.")
    order = [one for one in range(count) if one != position]
    order.insert(to, position)
    text = splice.reorder(content.text, _list(splice.compose(content.text)), order)
    return finish(source, text, {**content.said, "questions": [content.questions[one] for one in order]})


def delete_question(source: bytes, position: int) -> bytes:
    """One question less."""
    content = content_of(source)
    if not 0 <= position < len(content.questions):
        raise EditError("There is no such question any more.")
    left = [one for i, one in enumerate(content.questions) if i != position]
    if not left:
        return set_survey(source, {"questions": []})
    text = splice.delete_item(content.text, _list(splice.compose(content.text)), position)
    return finish(source, text, {**content.said, "questions": left})


def free_id(content: Content, like: str) -> str:
    """An id that no question has: help-2 for a copy of help."""
    taken, place = {_id(one) for one in content.questions}, 2
    stem = like[:56] or "q"
    while f"{stem}-{place}" in taken:
        place += 1
    return f"{stem}-{place}"


def _id(question: Plain) -> str:
    found = question.get("id") if isinstance(question, dict) else None
    return found if isinstance(found, str) else ""


def _changed(said: Mapping[str, Plain], changes: Mapping[str, Plain | None]) -> dict[str, Plain]:
    merged: dict[str, Plain | None] = {**said, **changes}
    return {key: value for key, value in merged.items() if value is not None}


def put(text: str, find: Callable[[Any], Any], changes: Mapping[str, Plain | None], order: Sequence[str]) -> str:
    """Other values for keys of the mapping that is found in a text; None takes a key away."""
    mapping = find(splice.compose(text))
    there = splice.pairs(mapping)
    given = {key: value for key, value in changes.items() if value is not None}
    cuts = [splice.replace_value(text, mapping, key, value) for key, value in given.items() if key in there]
    new = {key: value for key, value in given.items() if key not in there}
    text = splice.apply(text, [*cuts, *splice.insert_entries(text, mapping, new, order)])
    for key in (key for key, value in changes.items() if value is None and key in there):
        text = splice.apply(text, [splice.drop_entry(text, find(splice.compose(text)), key)])
    return text


def _root(node: Any) -> Any:
    return node


def _list(root: Any) -> Any:
    return splice.pairs(root)["questions"][1]


def _question(position: int) -> Callable[[Any], Any]:
    return lambda root: _list(root).value[position]


def _first_question(text: str, root: Any, question: dict[str, Plain]) -> str:
    if root.flow_style:
        return put(text, _root, {"questions": [question]}, TOP_ORDER)
    newline = splice.newline_of(text)
    written = newline + item(question, 2, newline)
    if "questions" not in splice.pairs(root):
        text = put(text, _root, {"questions": []}, TOP_ORDER)
        root = splice.compose(text)
    name, old = splice.pairs(root)["questions"]
    colon = text.index(":", name.end_mark.index) + 1
    stop = splice.end_of(old, text)
    ending = splice.line_end(text, stop)
    return splice.apply(text, [splice.Cut(colon, ending, text[stop:ending].rstrip() + written)])


def _refer(source: bytes, old: str, new: str) -> bytes:
    """Follow a question to its new id in conditions and joint fields."""
    content = content_of(source)
    for position, question in enumerate(content.questions):
        condition = question.get("show_if") if isinstance(question, dict) else None
        if isinstance(condition, dict) and condition.get("question") == old:
            source = set_question(source, position, {"show_if": {**condition, "question": new}})
    joint = content.said.get("joint")
    if isinstance(joint, list) and any(isinstance(group, list) and old in group for group in joint):
        groups: list[Plain] = [
            [new if name == old else name for name in group] if isinstance(group, list) else group for group in joint
        ]
        source = set_survey(source, {"joint": groups})
    return source


def finish(source: bytes, text: str, expected: Mapping[str, Plain]) -> bytes:
    """The new file, if it says what it should."""
    mark = BOM if source.startswith(BOM.encode()) else ""
    done = (mark + text).encode()
    try:
        read_back: Plain = content_of(done).said
    except AuthoringError as error:
        read_back = str(error)
    if _trimmed(read_back) != _trimmed({**expected}):
        raise EditError(
            "This file is written in a way that the editor cannot change here without touching the rest of it. "
            "Change it in its YAML instead."
        )
    return done


def _trimmed(value: Plain) -> Plain:
    """The value without the space around texts, which authoring does not read."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return [_trimmed(item) for item in value]
    return {key: _trimmed(member) for key, member in value.items()}


__all__ = [
    "EditError",
    "add_question",
    "content_of",
    "copy_question",
    "delete_question",
    "empty",
    "entry",
    "finish",
    "free_id",
    "move_question",
    "put",

    "set_question",
    "set_survey",
]  # fmt: skip
