"""What refers to the entries of a draft follows them: conditions, joint fields and translations.

Conditions, joint fields and translations of questions name ids. Translations of headings go by the position of the
heading, so that they move, come and go with it.
"""

from collections.abc import Sequence

from survey_app.authoring.authored_question import BATTERY
from survey_app.authoring.drafts import splice
from survey_app.authoring.drafts.checked_edit import Path, at, finish, merge, put
from survey_app.authoring.yaml_source import Plain, content_of

Token = int | None  # where an entry stood before; None for a new one


def rename(source: bytes, old: str, new: str) -> bytes:
    """The file in which whatever named a question by its old id names it by the new one."""
    content = content_of(source)
    text, said = content.text, {**content.said}
    questions = [*content.questions]
    for place, question in enumerate(questions):
        condition = question.get("show_if") if isinstance(question, dict) else None
        if isinstance(question, dict) and isinstance(condition, dict) and condition.get("question") == old:
            text = put(text, at(["questions", place, "show_if"]), {"question": new}, ())
            questions[place] = {**question, "show_if": {**condition, "question": new}}
    said["questions"] = questions
    joint = said.get("joint")
    if isinstance(joint, list) and any(isinstance(group, list) and old in group for group in joint):
        said["joint"] = [
            [new if name == old else name for name in group] if isinstance(group, list) else group for group in joint
        ]
        text = put(text, at([]), {"joint": said["joint"]}, ())
    every = said.get("translations")
    if isinstance(every, dict):
        spoken = {**every}
        for tag, words in every.items():
            translated = words.get("questions") if isinstance(words, dict) else None
            if isinstance(words, dict) and isinstance(translated, dict) and old in translated and new not in translated:
                mapping = at(["translations", tag, "questions"])(splice.compose(text))
                text = splice.apply(text, [splice.rename_key(text, mapping, old, new)])
                others = {new if name == old else name: one for name, one in translated.items()}
                spoken[tag] = {**words, "questions": others}
        said["translations"] = spoken
    return finish(source, text, said)


def rearrange(
    source: bytes, before: Sequence[Plain], after: Sequence[tuple[Token, Plain]], gone: Sequence[str] = ()
) -> bytes:
    """A file whose entries were moved, with translations of its headings in that order, and none of what is gone."""
    content = content_of(source)
    every = content.said.get("translations")
    if not isinstance(every, dict):
        return source
    old, new = _owners([*enumerate(before)]), _owners(after)
    made: dict[str, Plain] = {}
    for tag, words in every.items():
        made[tag] = _followed(words, old, new, gone) if isinstance(words, dict) else words
    if made == every:
        return source
    text = merge(content.text, ["translations"], every, made, _no_order)
    return finish(source, text, {**content.said, "translations": made})


def _followed(words: dict[str, Plain], old: list[Token], new: list[Token], gone: Sequence[str]) -> dict[str, Plain]:
    made = {**words}
    headings = words.get("sections")
    if isinstance(headings, list) and old != new:
        known = dict(zip(old, headings, strict=False))
        moved = [known.get(token, "") if token is not None else "" for token in new]
        while moved and not moved[-1]:
            moved.pop()
        made["sections"] = [*moved]
        if not moved:
            del made["sections"]
    questions = words.get("questions")
    if isinstance(questions, dict) and any(name in questions for name in gone):
        made["questions"] = {name: one for name, one in questions.items() if name not in gone}
        if not made["questions"]:
            del made["questions"]
    return made


def _owners(entries: Sequence[tuple[Token, Plain]]) -> list[Token]:
    """The entries that give a section its heading, in order: a battery under a heading has none of its own."""
    owners: list[Token] = []
    waiting: list[Token] = []
    for token, entry in entries:
        if isinstance(entry, dict) and "section" in entry:
            waiting = waiting if waiting and token is None else [token]  # a copy does not take what its original has
            continue
        if waiting or (isinstance(entry, dict) and entry.get("type") == BATTERY):
            owners.append(waiting[0] if waiting else token)
        waiting = []
    return owners


def _no_order(path: Path) -> Sequence[str]:
    return ()
