"""The edits of an author's file: each changes as little of its text as possible, since only the text is stored.

`yaml_text` formats values, `splice` changes a text in place, `form_fields` converts values to and from the editor's
forms, `diagnostics` finds errors, and `references` updates references to a question. The edits in this module know the
structure of a survey. Each is checked before it is returned (`checked_edit`).
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from survey_app.authoring.authored_question import BATTERY
from survey_app.authoring.diagnostics import ids_of
from survey_app.authoring.drafts import splice
from survey_app.authoring.drafts.checked_edit import EditError, merge, set_values, verify_edit
from survey_app.authoring.drafts.form_fields import OWN_KEYS
from survey_app.authoring.drafts.references import rearrange, rename
from survey_app.authoring.drafts.yaml_text import format_entry, format_inline, format_item, format_scalar
from survey_app.authoring.yaml_source import Content, Plain, read_content
from survey_app.kinds.question_kind import AuthorValue

TOP_ORDER = (
    "slug", "title", "description", "consent", "contact", "language", "thanks", "completion", "results", "opens",
    "closes", "max_reports", "deletes", "invitations", "epsilon", "accept_weak_privacy", "ask", "groups", "questions",
    "joint", "translations",
)  # fmt: skip


def _own_keys(*values: AuthorValue) -> list[str]:
    """Return the keys of all types under which an author writes values of these kinds."""
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


def make_empty_draft(slug: str, title: str = "", language: str = "") -> bytes:
    """Return the file of a survey without questions."""
    file = EMPTY.format(slug=slug, title=format_scalar(title, flow=False)).encode()
    return set_survey(file, {"language": language}) if language else file


def set_survey(source: bytes, changes: Mapping[str, Plain | None]) -> bytes:
    """Set keys of the survey, and return the new file. None as a value removes the key."""
    content = read_content(source)
    expected = _apply_changes(content.data, changes)
    return verify_edit(source, set_values(content.text, _find_root, changes, TOP_ORDER), expected)


def set_question(
    source: bytes, position: int, changes: Mapping[str, Plain | None], renames: Mapping[str, str] | None = None
) -> bytes:
    """Rename keys of a question, set others, and return the new file.

    If the id of the question changes, references to it change too.
    """
    content = read_content(source)
    question = content.question(position)
    renamed_question = {(renames or {}).get(key, key): value for key, value in question.items()}
    expected = {**content.data, "questions": [*content.questions]}
    cast(list[Plain], expected["questions"])[position] = _apply_changes(renamed_question, changes)
    text = content.text
    if renames:
        node = _question_finder(position)(splice.compose(text))
        text = splice.apply_cuts(text, [splice.rename_key(text, node, *pair) for pair in renames.items()])
    text, other_changes = _merge_statements(text, position, question, changes)
    new_source = verify_edit(
        source, set_values(text, _question_finder(position), other_changes, QUESTION_ORDER), expected
    )
    before, after = ids_of(question), ids_of(cast(list[Plain], expected["questions"])[position])
    ids = [name for entry in content.questions for name in ids_of(entry)]
    for old, new in zip(before, after, strict=False):
        if len(before) == len(after) and old != new and ids.count(old) == 1:
            new_source = rename(new_source, old, new)
    return new_source


def _merge_statements(
    text: str, position: int, question: Mapping[str, Plain], changes: Mapping[str, Plain | None]
) -> tuple[str, dict[str, Plain | None]]:
    """Change the statements one by one if their order stays the same.

    Return the new text and the changes that remain.
    """
    old, new = question.get("statements"), changes.get("statements")
    if not (isinstance(old, dict) and isinstance(new, dict) and old and new):
        return text, {**changes}
    if [name for name in old if name in new] != [name for name in new if name in old]:
        return text, {**changes}
    text = merge(text, ["questions", position, "statements"], old, new, lambda _: [*new])
    return text, {key: value for key, value in changes.items() if key != "statements"}


def add_question(source: bytes, question: dict[str, Plain]) -> bytes:
    """Add a question at the end, and return the new file."""
    content = read_content(source)
    expected = {**content.data, "questions": [*content.questions, question]}
    root = splice.compose(content.text)
    if not content.questions:
        return verify_edit(source, _insert_first_question(content.text, root, question), expected)
    newline = splice.newline_of(content.text)
    text = splice.insert_item(
        content.text,
        _question_list(root),
        len(content.questions) - 1,
        lambda column: format_item(question, column, newline),
        lambda: format_inline(question),
    )
    return verify_edit(source, text, expected)


def copy_question(source: bytes, position: int) -> bytes:
    """Insert a copy of a question after it, with its own id, and return the new file."""
    content = read_content(source)
    question, new_ids = _copy_entry(content, content.question(position))
    sequence = _question_list(splice.compose(content.text))
    start, stop = splice.item_spans(content.text, sequence)[position]
    copied_text = content.text[start:stop]
    if not sequence.flow_style:
        while copied_text.lstrip().startswith("#"):  # comments above stay with the first
            copied_text = copied_text[splice.next_line(copied_text, 0) :]
    text = splice.insert_item(content.text, sequence, position, lambda _: copied_text, lambda: copied_text)
    text = set_values(text, _question_finder(position + 1), new_ids, QUESTION_ORDER)
    questions = [*content.questions[: position + 1], question, *content.questions[position + 1 :]]
    new_source = verify_edit(source, text, {**content.data, "questions": questions})
    old = [*enumerate(content.questions)]
    return rearrange(new_source, content.questions, [*old[: position + 1], (None, question), *old[position + 1 :]])


def _copy_entry(content: Content, question: dict[str, Plain]) -> tuple[dict[str, Plain], dict[str, Plain | None]]:
    """Return a copy of an entry, and the keys that differ from the original: ids that no other entry has."""
    statements = question.get("statements")
    new_ids: dict[str, Plain | None] = {}
    if question.get("type") == BATTERY and isinstance(statements, dict):
        new_ids = {"statements": {find_free_id(content, name): text for name, text in statements.items()}}
    elif "section" not in question:
        new_ids = {"id": find_free_id(content, _id_of(question))}
    return {**question, **{key: value for key, value in new_ids.items() if value is not None}}, new_ids


def move_question(source: bytes, position: int, to: int) -> bytes:
    """Move a question to another position, and return the new file. The other questions keep their order."""
    content = read_content(source)
    count = len(content.questions)
    if not (0 <= position < count and 0 <= to < count):
        raise EditError("unknown_place", "This position does not exist.")
    order = [i for i in range(count) if i != position]
    order.insert(to, position)
    text = splice.reorder(content.text, _question_list(splice.compose(content.text)), order)
    new_source = verify_edit(source, text, {**content.data, "questions": [content.questions[i] for i in order]})
    return rearrange(new_source, content.questions, [(i, content.questions[i]) for i in order])


def delete_question(source: bytes, position: int) -> bytes:
    """Delete a question, and return the new file. Raise EditError if it does not exist."""
    content = read_content(source)
    if not 0 <= position < len(content.questions):
        raise EditError("unknown_question", "This question no longer exists.")
    remaining = [(i, question) for i, question in enumerate(content.questions) if i != position]
    if remaining:
        text = splice.delete_item(content.text, _question_list(splice.compose(content.text)), position)
        new_source = verify_edit(source, text, {**content.data, "questions": [question for _, question in remaining]})
    else:
        new_source = set_survey(source, {"questions": []})
    return rearrange(new_source, content.questions, remaining, ids_of(content.questions[position]))


def find_free_id(content: Content, base: str) -> str:
    """Return an id that no question has: help-2 for a copy of help."""
    ids, number = {name for question in content.questions for name in ids_of(question)}, 2
    stem = base[:56] or "q"
    while f"{stem}-{number}" in ids:
        number += 1
    return f"{stem}-{number}"


def _id_of(question: Plain) -> str:
    name = question.get("id") if isinstance(question, dict) else None
    return name if isinstance(name, str) else ""


def _apply_changes(data: Mapping[str, Plain], changes: Mapping[str, Plain | None]) -> dict[str, Plain]:
    merged: dict[str, Plain | None] = {**data, **changes}
    return {key: value for key, value in merged.items() if value is not None}


def _find_root(node: Any) -> Any:
    return node


def _question_list(root: Any) -> Any:
    return splice.entries_of(root)["questions"][1]


def _question_finder(position: int) -> Callable[[Any], Any]:
    return lambda root: _question_list(root).value[position]


def _insert_first_question(text: str, root: Any, question: dict[str, Plain]) -> str:
    if root.flow_style:
        return set_values(text, _find_root, {"questions": [question]}, TOP_ORDER)
    newline = splice.newline_of(text)
    question_text = newline + format_item(question, 2, newline)
    if "questions" not in splice.entries_of(root):
        text = set_values(text, _find_root, {"questions": []}, TOP_ORDER)
        root = splice.compose(text)
    name, old = splice.entries_of(root)["questions"]
    colon = text.index(":", name.end_mark.index) + 1
    stop = splice.end_of(old, text)
    ending = splice.line_end(text, stop)
    return splice.apply_cuts(text, [splice.Cut(colon, ending, text[stop:ending].rstrip() + question_text)])


__all__ = [
    "EditError",
    "add_question",
    "copy_question",
    "delete_question",
    "find_free_id",
    "format_entry",
    "make_empty_draft",
    "move_question",
    "read_content",
    "set_question",
    "set_survey",
    "set_values",
    "verify_edit",
]  # fmt: skip
