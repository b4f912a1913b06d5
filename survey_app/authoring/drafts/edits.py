"""An author's file while it is written: its text is the only truth, and every edit changes as little of it as it can.

`write` spells values, `splice` changes a text in place, `form` holds what the fields of the editor mean, `faults` finds
what authoring would refuse, `following` moves along what refers to a question. The edits here know what a survey is;
each is checked before it is returned (`place`).
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from survey_app.authoring.authored_question import BATTERY
from survey_app.authoring.diagnostics import ids_of
from survey_app.authoring.drafts import splice
from survey_app.authoring.drafts.checked_edit import EditError, finish, merge, put
from survey_app.authoring.drafts.form_fields import OWN_KEYS
from survey_app.authoring.drafts.references import rearrange, rename
from survey_app.authoring.drafts.yaml_text import entry, inline, item, scalar
from survey_app.authoring.yaml_source import Content, Plain, content_of
from survey_app.kinds.question_kind import AuthorValue

TOP_ORDER = (
    "slug", "title", "description", "consent", "contact", "language", "thanks", "completion", "results", "opens",
    "closes", "max_reports", "deletes", "invitations", "epsilon", "accept_weak_privacy", "ask", "groups", "questions",
    "joint", "translations",
)  # fmt: skip


def _own_keys(*values: AuthorValue) -> list[str]:
    """Return the keys of all types under which an author writes such values."""
    return [key for key, value in OWN_KEYS.items() if value in values]


QUESTION_ORDER = (
    "section", "id", "type", "text", *_own_keys(AuthorValue.LIST, AuthorValue.SWITCH), "statements",
    *_own_keys(AuthorValue.TEXT), "optional", "show_if", *_own_keys(AuthorValue.DESIGN), "epsilon", "weight",
)  # fmt: skip
EMPTY = """\
slug: {slug}
title: {title}
results: private
epsilon: 2
ask: auto
questions: []
"""


def empty(slug: str, title: str = "", language: str = "") -> bytes:
    """A file to begin with."""
    file = EMPTY.format(slug=slug, title=scalar(title, flow=False)).encode()
    return set_survey(file, {"language": language}) if language else file


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
    text, rest = _statements(text, position, question, changes)
    done = finish(source, put(text, _question(position), rest, QUESTION_ORDER), expected)
    before, after = ids_of(question), ids_of(cast(list[Plain], expected["questions"])[position])
    taken = [name for other in content.questions for name in ids_of(other)]
    for old, new in zip(before, after, strict=False):
        if len(before) == len(after) and old != new and taken.count(old) == 1:
            done = rename(done, old, new)
    return done


def _statements(
    text: str, position: int, question: Mapping[str, Plain], changes: Mapping[str, Plain | None]
) -> tuple[str, dict[str, Plain | None]]:
    """The text with other statements, one by one where their order stays, and the changes that are left."""
    old, new = question.get("statements"), changes.get("statements")
    if not (isinstance(old, dict) and isinstance(new, dict) and old and new):
        return text, {**changes}
    if [name for name in old if name in new] != [name for name in new if name in old]:
        return text, {**changes}
    text = merge(text, ["questions", position, "statements"], old, new, lambda _: [*new])
    return text, {key: value for key, value in changes.items() if key != "statements"}


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
    question, own_ids = _copied(content, content.question(position))
    sequence = _list(splice.compose(content.text))
    start, stop = splice.chunks(content.text, sequence)[position]
    own = content.text[start:stop]
    if not sequence.flow_style:
        while own.lstrip().startswith("#"):  # comments above stay with the first
            own = own[splice.next_line(own, 0) :]
    text = splice.insert_item(content.text, sequence, position, lambda _: own, lambda: own)
    text = put(text, _question(position + 1), own_ids, QUESTION_ORDER)
    questions = [*content.questions[: position + 1], question, *content.questions[position + 1 :]]
    done = finish(source, text, {**content.said, "questions": questions})
    old = [*enumerate(content.questions)]
    return rearrange(done, content.questions, [*old[: position + 1], (None, question), *old[position + 1 :]])


def _copied(content: Content, question: dict[str, Plain]) -> tuple[dict[str, Plain], dict[str, Plain | None]]:
    """A copy of an entry, and what is its own in it: ids that nobody else has."""
    statements = question.get("statements")
    own: dict[str, Plain | None] = {}
    if question.get("type") == BATTERY and isinstance(statements, dict):
        own = {"statements": {free_id(content, name): text for name, text in statements.items()}}
    elif "section" not in question:
        own = {"id": free_id(content, _id(question))}
    return {**question, **{key: value for key, value in own.items() if value is not None}}, own


def move_question(source: bytes, position: int, to: int) -> bytes:
    """A question at another place; the others keep their order."""
    content = content_of(source)
    count = len(content.questions)
    if not (0 <= position < count and 0 <= to < count):
        raise EditError("There is no such place.")
    order = [one for one in range(count) if one != position]
    order.insert(to, position)
    text = splice.reorder(content.text, _list(splice.compose(content.text)), order)
    done = finish(source, text, {**content.said, "questions": [content.questions[one] for one in order]})
    return rearrange(done, content.questions, [(one, content.questions[one]) for one in order])


def delete_question(source: bytes, position: int) -> bytes:
    """One question less."""
    content = content_of(source)
    if not 0 <= position < len(content.questions):
        raise EditError("There is no such question any more.")
    left = [(i, one) for i, one in enumerate(content.questions) if i != position]
    if left:
        text = splice.delete_item(content.text, _list(splice.compose(content.text)), position)
        done = finish(source, text, {**content.said, "questions": [one for _, one in left]})
    else:
        done = set_survey(source, {"questions": []})
    return rearrange(done, content.questions, left, ids_of(content.questions[position]))


def free_id(content: Content, like: str) -> str:
    """An id that no question has: help-2 for a copy of help."""
    taken, place = {name for one in content.questions for name in ids_of(one)}, 2
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
