"""The texts of a draft with their translations, and the changes in its file when an author enters them.

Each text is named by its place in a translation: `title`, `sections.0.text`, `questions.help.options.1`. A translation
is written to that place only, so that an author's comments and order survive. An emptied text is removed, and then
counts as missing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from candor_client.display import LANGUAGE
from survey_app.authoring.authored_question import LABELS
from survey_app.authoring.drafts.checked_edit import EditError, merge, verify_edit
from survey_app.authoring.drafts.edits import read_content, set_survey
from survey_app.authoring.drafts.form_fields import tidy
from survey_app.authoring.entries import Entries, is_battery, is_section, read_entries
from survey_app.authoring.translations import PARAGRAPHS, PROSE
from survey_app.authoring.yaml_source import AuthoringError, Content, Node, Plain

ORDER = (*PROSE, "sections", "questions")
QUESTION_ORDER = ("text", *LABELS, "unit")
PARAGRAPH = "\u2029"
ENTRY = re.compile(r"questions\[(\d+)\]")

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class SourceText:
    """One text of the survey: its path, its kind, its words, and whether it may have several lines or be omitted."""

    path: Path
    what: str
    original: str
    is_long: bool = False
    optional: bool = False

    @property
    def name(self) -> str:
        """The name of its field in a form."""
        return ".".join(map(str, self.path))


@dataclass(frozen=True)
class TextGroup:
    """Texts of the same part of a survey: the survey itself, a section, or a question."""

    title: str
    texts: tuple[SourceText, ...]


def list_text_groups(content: Content) -> list[TextGroup]:
    """Return every text of a file, in the order in which respondents read them. Unreadable entries are left out."""
    top = content.tree.members()
    texts = [
        SourceText((key,), _capitalize(key), _plain_text(top[key]), key in PARAGRAPHS, optional=key == "contact")
        for key in PROSE
        if key in top and _plain_text(top[key])
    ]
    groups = [TextGroup("The survey", tuple(texts))]
    try:
        entries = read_entries(top["questions"])
    except (KeyError, AuthoringError):
        return groups
    return [*groups, *_group_texts(entries, top["questions"].items())]


def _group_texts(entries: Entries, nodes: Sequence[Node]) -> Iterator[TextGroup]:
    headings = {section.first: (i, section) for i, section in enumerate(entries.sections)}
    inherited = {name for battery in entries.batteries for name in battery[1:]}
    for place, node in enumerate(entries.questions):
        if place in headings:
            i, section = headings[place]
            texts = [SourceText(("sections", i, "title"), "Heading", section.title)]
            if section.text:
                text = section.text.replace(PARAGRAPH, "\n\n")
                texts.append(SourceText(("sections", i, "text"), "Introduction", text, is_long=True))
            yield TextGroup(_name_entry(entries.source_paths[f"sections[{i}]"], nodes), tuple(texts))
        name = _plain_text(node.members()["id"]) if isinstance(node.value, dict) and "id" in node.value else ""
        texts = list(_list_question_texts(node.members(), name, inherited)) if name else []
        if texts:
            yield TextGroup(f"{_name_entry(entries.source_paths[f'questions[{place}]'], nodes)}: {name}", tuple(texts))


def _name_entry(path: str, nodes: Sequence[Node]) -> str:
    """Return the name of an entry of the file, with its number in the editor."""
    match = ENTRY.match(path)
    place = int(match[1]) if match else 0
    kind = "Section" if is_section(nodes[place]) else "Battery" if is_battery(nodes[place]) else "Question"
    return f"{kind} {place + 1}"


def _list_question_texts(members: Mapping[str, Node], name: str, inherited: set[str]) -> Iterator[SourceText]:
    if "text" in members and _plain_text(members["text"]):
        yield SourceText(("questions", name, "text"), "Question", _plain_text(members["text"]))
    for key in LABELS:
        labels = members[key].value if key in members else None
        if isinstance(labels, list) and name not in inherited:
            for i, label in enumerate(labels):
                yield SourceText(("questions", name, key, i), f"{_capitalize(key)[:-1]} {i + 1}", _plain_text(label))
    if "unit" in members:
        yield SourceText(("questions", name, "unit"), "Unit", _plain_text(members["unit"]))


def _plain_text(node: Node) -> str:
    return tidy(node.value) if isinstance(node.value, str) else ""


def _capitalize(key: str) -> str:
    return key.capitalize()


def list_tags(content: Content) -> list[str]:
    """Return the tags of the languages that a file has translations for, complete or not."""
    translations = content.data.get("translations")
    return list(translations) if isinstance(translations, dict) else []


def read_translated_texts(content: Content, tag: str) -> dict[str, str]:
    """Return the translation of each text into a language, by the name of its field; empty where it is missing."""
    translations = content.data.get("translations")
    translation = translations.get(tag) if isinstance(translations, dict) else None
    return {text.name: _text_at(translation, text.path) for group in list_text_groups(content) for text in group.texts}


def _text_at(translation: Plain | None, path: Path) -> str:
    """Return the text at a path. A text that stands for a whole question or section is its text or title."""
    if not path:
        return tidy(translation) if isinstance(translation, str) else ""
    step, *remaining_steps = path
    if isinstance(translation, str):
        return tidy(translation) if path in (("text",), ("title",)) else ""
    if isinstance(translation, list):
        return (
            _text_at(translation[step], tuple(remaining_steps))
            if isinstance(step, int) and step < len(translation)
            else ""
        )
    return _text_at(translation.get(str(step)), tuple(remaining_steps)) if isinstance(translation, dict) else ""


def list_missing_texts(content: Content, tag: str) -> list[SourceText]:
    """Return the texts that are not translated into a language yet."""
    translation_by_name = read_translated_texts(content, tag)
    return [
        text
        for group in list_text_groups(content)
        for text in group.texts
        if not translation_by_name[text.name] and not text.optional
    ]


def add_language(source: bytes, tag: str) -> bytes:
    """Add a language without any texts. Raise EditError if the tag is invalid, or the language exists already."""
    content = read_content(source)
    if not LANGUAGE.fullmatch(tag):
        raise EditError("bad_language", f"“{tag}” is not a language tag. Use one such as de for German or pt-BR.")
    if tag in (content.data.get("language", "en"), *list_tags(content)):
        raise EditError("duplicate", f"The survey already has the language {tag}.")
    translations = content.data.get("translations")
    return _write_translations(source, {**(translations if isinstance(translations, dict) else {}), tag: {}})


def remove_language(source: bytes, tag: str) -> bytes:
    """Remove a language with all its translations."""
    translations = read_content(source).data.get("translations")
    remaining = (
        {name: translation for name, translation in translations.items() if name != tag}
        if isinstance(translations, dict)
        else {}
    )
    return set_survey(source, {"translations": None}) if not remaining else _write_translations(source, remaining)


def set_texts(source: bytes, tag: str, typed: Mapping[str, str]) -> bytes:
    """Set the texts of a language by the names of their fields. Raise EditError if the language does not exist."""
    content = read_content(source)
    translations = content.data.get("translations")
    if not isinstance(translations, dict) or tag not in translations:
        raise EditError("unknown_language", f"The language {tag} no longer exists.")
    old_texts, old = read_translated_texts(content, tag), translations[tag]
    new: dict[str, Plain] = {**old} if isinstance(old, dict) else {}
    for group in list_text_groups(content):
        new_texts = {text: tidy(typed.get(text.name, old_texts[text.name])) for text in group.texts}
        if any(new_text != old_texts[text.name] for text, new_text in new_texts.items()):
            _set_group_texts(new, group, {text.path: new_text for text, new_text in new_texts.items()})
    return _write_translations(source, {**translations, tag: new})


def _set_group_texts(translation: dict[str, Plain], group: TextGroup, texts: Mapping[Path, str]) -> None:
    """Set the texts of one part of the survey in a translation, or remove the empty ones."""
    first = group.texts[0].path
    if first[0] not in ("sections", "questions"):
        for path, text in texts.items():
            _set_or_drop(translation, str(path[0]), text)
        return
    values: dict[str, Plain] = {}
    for path, text in texts.items():
        if len(path) > 3:
            labels = values.setdefault(str(path[2]), [])
            if isinstance(labels, list):
                labels.append(text)
        else:
            values[str(path[2])] = text
    values = {key: value for key, value in values.items() if (any(value) if isinstance(value, list) else value)}
    if first[0] == "questions":
        old_questions = translation.get("questions")
        questions: dict[str, Plain] = {**old_questions} if isinstance(old_questions, dict) else {}
        _set_or_drop(questions, str(first[1]), _shorten(values, questions.get(str(first[1])), "text"))
        _set_or_drop(translation, "questions", questions)
        return
    old_sections = translation.get("sections")
    sections: list[Plain] = [*old_sections] if isinstance(old_sections, list) else []
    place = int(first[1])
    sections += [""] * (place + 1 - len(sections))
    sections[place] = _shorten(values, sections[place], "title")
    while sections and not sections[-1]:
        sections.pop()
    _set_or_drop(translation, "sections", sections)


def _shorten(texts: dict[str, Plain], old: Plain | None, single_key: str) -> Plain:
    """Return a text without a key if it is the only one and had no key before; else a mapping.

    Keys of `old` that are not texts are retained.
    """
    if isinstance(old, dict):
        other_keys = {key: value for key, value in old.items() if key not in ("text", "title", "unit", *LABELS)}
        return {**texts, **other_keys}
    return texts[single_key] if list(texts) == [single_key] else texts or ""


def _set_or_drop(new: dict[str, Plain], key: str, value: Plain) -> None:
    if value:
        new[key] = value
    else:
        new.pop(key, None)


def _write_translations(source: bytes, new: dict[str, Plain]) -> bytes:
    """Write other translations into the file. Unchanged ones stay as they are, character by character."""
    content = read_content(source)
    old = content.data.get("translations")
    if not isinstance(old, dict) or not old:
        return set_survey(source, {"translations": {**new}})
    text = merge(content.text, ["translations"], old, new, _key_order)
    return verify_edit(source, text, {**content.data, "translations": {**new}})


def _key_order(path: Sequence[str | int]) -> Sequence[str]:
    return QUESTION_ORDER if path[2:3] == ["questions"] and len(path) > 3 else ORDER
