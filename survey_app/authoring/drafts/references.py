"""The references to the entries of a draft, updated after an edit: conditions, joint fields and translations.

Conditions, joint fields and translations of questions contain ids. Translations of headings go by the position of the
heading, so they are moved, inserted and removed with it.
"""

from collections.abc import Sequence

from survey_app.authoring.authored_question import BATTERY
from survey_app.authoring.drafts import splice
from survey_app.authoring.drafts.checked_edit import Path, make_finder, merge, set_values, verify_edit
from survey_app.authoring.yaml_source import Plain, read_content

Token = int | None  # the position of an entry before; None for a new entry


def rename(source: bytes, old: str, new: str) -> bytes:
    """Replace the old id of a question by the new one in all references to it, and return the new file."""
    content = read_content(source)
    text, data = content.text, {**content.data}
    questions = [*content.questions]
    for place, question in enumerate(questions):
        condition = question.get("show_if") if isinstance(question, dict) else None
        if isinstance(question, dict) and isinstance(condition, dict) and condition.get("question") == old:
            text = set_values(text, make_finder(["questions", place, "show_if"]), {"question": new}, ())
            questions[place] = {**question, "show_if": {**condition, "question": new}}
    data["questions"] = questions
    joint = data.get("joint")
    if isinstance(joint, list) and any(isinstance(group, list) and old in group for group in joint):
        data["joint"] = [
            [new if name == old else name for name in group] if isinstance(group, list) else group for group in joint
        ]
        text = set_values(text, make_finder([]), {"joint": data["joint"]}, ())
    translations = data.get("translations")
    if isinstance(translations, dict):
        new_translations = {**translations}
        for tag, translation in translations.items():
            questions_by_id = translation.get("questions") if isinstance(translation, dict) else None
            if (
                isinstance(translation, dict)
                and isinstance(questions_by_id, dict)
                and old in questions_by_id
                and new not in questions_by_id
            ):
                mapping = make_finder(["translations", tag, "questions"])(splice.compose(text))
                text = splice.apply_cuts(text, [splice.rename_key(text, mapping, old, new)])
                new_questions = {new if name == old else name: texts for name, texts in questions_by_id.items()}
                new_translations[tag] = {**translation, "questions": new_questions}
        data["translations"] = new_translations
    return verify_edit(source, text, data)


def rearrange(
    source: bytes, before: Sequence[Plain], after: Sequence[tuple[Token, Plain]], deleted_ids: Sequence[str] = ()
) -> bytes:
    """Return a file whose entries were moved, with the translations of its headings in the new order.

    Translations of deleted questions are removed.
    """
    content = read_content(source)
    translations = content.data.get("translations")
    if not isinstance(translations, dict):
        return source
    old, new = _list_heading_owners([*enumerate(before)]), _list_heading_owners(after)
    new_translations: dict[str, Plain] = {}
    for tag, translation in translations.items():
        new_translations[tag] = (
            _reorder_translation(translation, old, new, deleted_ids) if isinstance(translation, dict) else translation
        )
    if new_translations == translations:
        return source
    text = merge(content.text, ["translations"], translations, new_translations, _no_order)
    return verify_edit(source, text, {**content.data, "translations": new_translations})


def _reorder_translation(
    translation: dict[str, Plain], old: list[Token], new: list[Token], deleted_ids: Sequence[str]
) -> dict[str, Plain]:
    new_translation = {**translation}
    headings = translation.get("sections")
    if isinstance(headings, list) and old != new:
        heading_by_token = dict(zip(old, headings, strict=False))
        new_headings = [heading_by_token.get(token, "") if token is not None else "" for token in new]
        while new_headings and not new_headings[-1]:
            new_headings.pop()
        new_translation["sections"] = [*new_headings]
        if not new_headings:
            del new_translation["sections"]
    questions = translation.get("questions")
    if isinstance(questions, dict) and any(name in questions for name in deleted_ids):
        new_translation["questions"] = {name: texts for name, texts in questions.items() if name not in deleted_ids}
        if not new_translation["questions"]:
            del new_translation["questions"]
    return new_translation


def _list_heading_owners(entries: Sequence[tuple[Token, Plain]]) -> list[Token]:
    """Return the entries that give a section its heading, in order. A battery under a heading has none of its own."""
    owners: list[Token] = []
    pending: list[Token] = []
    for token, entry in entries:
        if isinstance(entry, dict) and "section" in entry:
            pending = (
                pending if pending and token is None else [token]
            )  # a copy does not take the heading of its original
            continue
        if pending or (isinstance(entry, dict) and entry.get("type") == BATTERY):
            owners.append(pending[0] if pending else token)
        pending = []
    return owners


def _no_order(path: Path) -> Sequence[str]:
    return ()
