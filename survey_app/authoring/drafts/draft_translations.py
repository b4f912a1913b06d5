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
from survey_app.authoring.drafts.checked_edit import EditError, finish, merge
from survey_app.authoring.drafts.edits import content_of, set_survey
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
class Text:
    """One text of the survey: its path, its kind, its words, and whether it may have several lines or be omitted."""

    path: Path
    what: str
    original: str
    long: bool = False
    optional: bool = False

    @property
    def name(self) -> str:
        """The name of its field in a form."""
        return ".".join(map(str, self.path))


@dataclass(frozen=True)
class Part:
    """Texts of the same part of a survey: the survey itself, a section, or a question."""

    title: str
    texts: tuple[Text, ...]


def parts(content: Content) -> list[Part]:
    """Return every text of a file, in the order in which respondents read them. Unreadable entries are left out."""
    top = content.tree.members()
    texts = [
        Text((key,), _word(key), _plain(top[key]), key in PARAGRAPHS, optional=key == "contact")
        for key in PROSE
        if key in top and _plain(top[key])
    ]
    groups = [Part("The survey", tuple(texts))]
    try:
        entries = read_entries(top["questions"])
    except (KeyError, AuthoringError):
        return groups
    return [*groups, *_by_section(entries, top["questions"].items())]


def _by_section(entries: Entries, written: Sequence[Node]) -> Iterator[Part]:
    headings = {section.first: (i, section) for i, section in enumerate(entries.sections)}
    inherited = {name for battery in entries.batteries for name in battery[1:]}
    for place, node in enumerate(entries.questions):
        if place in headings:
            i, section = headings[place]
            texts = [Text(("sections", i, "title"), "Heading", section.title)]
            if section.text:
                text = section.text.replace(PARAGRAPH, "\n\n")
                texts.append(Text(("sections", i, "text"), "Introduction", text, long=True))
            yield Part(_named(entries.places[f"sections[{i}]"], written), tuple(texts))
        name = _plain(node.members()["id"]) if isinstance(node.value, dict) and "id" in node.value else ""
        texts = list(_of_question(node.members(), name, inherited)) if name else []
        if texts:
            yield Part(f"{_named(entries.places[f'questions[{place}]'], written)}: {name}", tuple(texts))


def _named(path: str, written: Sequence[Node]) -> str:
    """Return the name of an entry of the file, with its number in the editor."""
    match = ENTRY.match(path)
    place = int(match[1]) if match else 0
    kind = "Section" if is_section(written[place]) else "Battery" if is_battery(written[place]) else "Question"
    return f"{kind} {place + 1}"


def _of_question(said: Mapping[str, Node], name: str, inherited: set[str]) -> Iterator[Text]:
    if "text" in said and _plain(said["text"]):
        yield Text(("questions", name, "text"), "Question", _plain(said["text"]))
    for key in LABELS:
        labels = said[key].value if key in said else None
        if isinstance(labels, list) and name not in inherited:
            for i, label in enumerate(labels):
                yield Text(("questions", name, key, i), f"{_word(key)[:-1]} {i + 1}", _plain(label))
    if "unit" in said:
        yield Text(("questions", name, "unit"), "Unit", _plain(said["unit"]))


def _plain(node: Node) -> str:
    return tidy(node.value) if isinstance(node.value, str) else ""


def _word(key: str) -> str:
    return key.capitalize()


def tags(content: Content) -> list[str]:
    """Return the tags of the languages that a file has translations for, complete or not."""
    translations = content.said.get("translations")
    return list(translations) if isinstance(translations, dict) else []


def translated(content: Content, tag: str) -> dict[str, str]:
    """Return the translation of each text into a language, by the name of its field; empty where it is missing."""
    translations = content.said.get("translations")
    translation = translations.get(tag) if isinstance(translations, dict) else None
    return {text.name: _at(translation, text.path) for group in parts(content) for text in group.texts}


def _at(said: Plain | None, path: Path) -> str:
    """Return the text at a path. A text that stands for a whole question or section is its text or title."""
    if not path:
        return tidy(said) if isinstance(said, str) else ""
    step, *remaining_steps = path
    if isinstance(said, str):
        return tidy(said) if path in (("text",), ("title",)) else ""
    if isinstance(said, list):
        return _at(said[step], tuple(remaining_steps)) if isinstance(step, int) and step < len(said) else ""
    return _at(said.get(str(step)), tuple(remaining_steps)) if isinstance(said, dict) else ""


def missing(content: Content, tag: str) -> list[Text]:
    """Return the texts that are not translated into a language yet."""
    translation_by_name = translated(content, tag)
    return [
        text
        for group in parts(content)
        for text in group.texts
        if not translation_by_name[text.name] and not text.optional
    ]


def add_language(source: bytes, tag: str) -> bytes:
    """Add a language without any texts. Raise EditError if the tag is invalid, or the language exists already."""
    content = content_of(source)
    if not LANGUAGE.fullmatch(tag):
        raise EditError(f"“{tag}” is no language tag; a tag is short, such as de for German or pt-BR.")
    if tag in (content.said.get("language", "en"), *tags(content)):
        raise EditError(f"The survey has {tag} already.")
    translations = content.said.get("translations")
    return _write(source, {**(translations if isinstance(translations, dict) else {}), tag: {}})


def remove_language(source: bytes, tag: str) -> bytes:
    """Remove a language with all its translations."""
    translations = content_of(source).said.get("translations")
    remaining = (
        {name: translation for name, translation in translations.items() if name != tag}
        if isinstance(translations, dict)
        else {}
    )
    return set_survey(source, {"translations": None}) if not remaining else _write(source, remaining)


def set_texts(source: bytes, tag: str, typed: Mapping[str, str]) -> bytes:
    """Set the texts of a language by the names of their fields. Raise EditError if the language does not exist."""
    content = content_of(source)
    translations = content.said.get("translations")
    if not isinstance(translations, dict) or tag not in translations:
        raise EditError(f"There is no language {tag} any more.")
    old_texts, old = translated(content, tag), translations[tag]
    new: dict[str, Plain] = {**old} if isinstance(old, dict) else {}
    for group in parts(content):
        new_texts = {text: tidy(typed.get(text.name, old_texts[text.name])) for text in group.texts}
        if any(new_text != old_texts[text.name] for text, new_text in new_texts.items()):
            _put_part(new, group, {text.path: new_text for text, new_text in new_texts.items()})
    return _write(source, {**translations, tag: new})


def _put_part(new: dict[str, Plain], part: Part, texts: Mapping[Path, str]) -> None:
    """Set the texts of one part of the survey in a translation, or remove the empty ones."""
    first = part.texts[0].path
    if first[0] not in ("sections", "questions"):
        for path, text in texts.items():
            _keep(new, str(path[0]), text)
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
        old_questions = new.get("questions")
        questions: dict[str, Plain] = {**old_questions} if isinstance(old_questions, dict) else {}
        _keep(questions, str(first[1]), _short(values, questions.get(str(first[1])), "text"))
        _keep(new, "questions", questions)
        return
    old_sections = new.get("sections")
    sections: list[Plain] = [*old_sections] if isinstance(old_sections, list) else []
    place = int(first[1])
    sections += [""] * (place + 1 - len(sections))
    sections[place] = _short(values, sections[place], "title")
    while sections and not sections[-1]:
        sections.pop()
    _keep(new, "sections", sections)


def _short(said: dict[str, Plain], old: Plain | None, only: str) -> Plain:
    """Return a text by itself if it is the only one and had no key before; else a mapping.

    Keys of `old` that are no texts are retained.
    """
    if isinstance(old, dict):
        other_keys = {key: value for key, value in old.items() if key not in ("text", "title", "unit", *LABELS)}
        return {**said, **other_keys}
    return said[only] if list(said) == [only] else said or ""


def _keep(new: dict[str, Plain], key: str, value: Plain) -> None:
    if value:
        new[key] = value
    else:
        new.pop(key, None)


def _write(source: bytes, new: dict[str, Plain]) -> bytes:
    """Write other translations into the file. Unchanged ones stay as they are, character by character."""
    content = content_of(source)
    old = content.said.get("translations")
    if not isinstance(old, dict) or not old:
        return set_survey(source, {"translations": {**new}})
    text = merge(content.text, ["translations"], old, new, _order)
    return finish(source, text, {**content.said, "translations": {**new}})


def _order(path: Sequence[str | int]) -> Sequence[str]:
    return QUESTION_ORDER if path[2:3] == ["questions"] and len(path) > 3 else ORDER
