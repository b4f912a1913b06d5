"""The texts of a draft beside their translations, and what changes in its file when they are typed.

A text is named by where a translation has it: `title`, `sections.0.text`, `questions.help.options.1`. What is typed
goes to that place and no other, so that an author's comments and order survive; a text that is emptied is taken away,
and then missing.
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
    """One text of the survey: where it is, what it is, and whether it may have several lines or be left out."""

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
    """Texts that belong together: those of the survey itself, of a section, or of a question."""

    title: str
    texts: tuple[Text, ...]


def parts(content: Content) -> list[Part]:
    """Every text of a file, in the order in which respondents read them; what cannot be read is left out."""
    top = content.tree.members()
    said = [
        Text((key,), _word(key), _plain(top[key]), key in PARAGRAPHS, optional=key == "contact")
        for key in PROSE
        if key in top and _plain(top[key])
    ]
    found = [Part("The survey", tuple(said))]
    try:
        entries = read_entries(top["questions"])
    except (KeyError, AuthoringError):
        return found
    return [*found, *_by_section(entries, top["questions"].items())]


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
    """What an entry of the file is called, with the number that the editor gives it."""
    at = ENTRY.match(path)
    place = int(at[1]) if at else 0
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
    """The languages that a file is translated into, finished or not."""
    said = content.said.get("translations")
    return list(said) if isinstance(said, dict) else []


def translated(content: Content, tag: str) -> dict[str, str]:
    """What a file has for each text in a language, by the name of its field; nothing where it is missing."""
    every = content.said.get("translations")
    said = every.get(tag) if isinstance(every, dict) else None
    return {text.name: _at(said, text.path) for part in parts(content) for text in part.texts}


def _at(said: Plain | None, path: Path) -> str:
    """The text at a path; one that stands for a whole question or section is its text or title."""
    if not path:
        return tidy(said) if isinstance(said, str) else ""
    step, *rest = path
    if isinstance(said, str):
        return tidy(said) if path in (("text",), ("title",)) else ""
    if isinstance(said, list):
        return _at(said[step], tuple(rest)) if isinstance(step, int) and step < len(said) else ""
    return _at(said.get(str(step)), tuple(rest)) if isinstance(said, dict) else ""


def missing(content: Content, tag: str) -> list[Text]:
    """The texts that are still to be translated."""
    known = translated(content, tag)
    return [text for part in parts(content) for text in part.texts if not known[text.name] and not text.optional]


def add_language(source: bytes, tag: str) -> bytes:
    """A language more, with nothing in it."""
    content = content_of(source)
    if not LANGUAGE.fullmatch(tag):
        raise EditError(f"“{tag}” is no language tag; a tag is short, such as de for German or pt-BR.")
    if tag in (content.said.get("language", "en"), *tags(content)):
        raise EditError(f"The survey has {tag} already.")
    every = content.said.get("translations")
    return _write(source, {**(every if isinstance(every, dict) else {}), tag: {}})


def remove_language(source: bytes, tag: str) -> bytes:
    """A language less, with all that was translated."""
    every = content_of(source).said.get("translations")
    left = {name: said for name, said in every.items() if name != tag} if isinstance(every, dict) else {}
    return set_survey(source, {"translations": None}) if not left else _write(source, left)


def set_texts(source: bytes, tag: str, typed: Mapping[str, str]) -> bytes:
    """What was typed for the texts of a language, by the names of their fields."""
    content = content_of(source)
    every = content.said.get("translations")
    if not isinstance(every, dict) or tag not in every:
        raise EditError(f"There is no language {tag} any more.")
    known, said = translated(content, tag), every[tag]
    new: dict[str, Plain] = {**said} if isinstance(said, dict) else {}
    for part in parts(content):
        texts = {one: tidy(typed.get(one.name, known[one.name])) for one in part.texts}
        if any(text != known[one.name] for one, text in texts.items()):
            _put_part(new, part, {one.path: text for one, text in texts.items()})
    return _write(source, {**every, tag: new})


def _put_part(new: dict[str, Plain], part: Part, texts: Mapping[Path, str]) -> None:
    """The texts of one part in their place."""
    first = part.texts[0].path
    if first[0] not in ("sections", "questions"):
        for path, text in texts.items():
            _keep(new, str(path[0]), text)
        return
    said: dict[str, Plain] = {}
    for path, text in texts.items():
        if len(path) > 3:
            labels = said.setdefault(str(path[2]), [])
            if isinstance(labels, list):
                labels.append(text)
        else:
            said[str(path[2])] = text
    said = {key: value for key, value in said.items() if (any(value) if isinstance(value, list) else value)}
    if first[0] == "questions":
        every = new.get("questions")
        questions: dict[str, Plain] = {**every} if isinstance(every, dict) else {}
        _keep(questions, str(first[1]), _short(said, questions.get(str(first[1])), "text"))
        _keep(new, "questions", questions)
        return
    listed = new.get("sections")
    sections: list[Plain] = [*listed] if isinstance(listed, list) else []
    place = int(first[1])
    sections += [""] * (place + 1 - len(sections))
    sections[place] = _short(said, sections[place], "title")
    while sections and not sections[-1]:
        sections.pop()
    _keep(new, "sections", sections)


def _short(said: dict[str, Plain], old: Plain | None, only: str) -> Plain:
    """One text alone stands without its key, unless it had one; keys that are not ours stay."""
    if isinstance(old, dict):
        others = {key: value for key, value in old.items() if key not in ("text", "title", "unit", *LABELS)}
        return {**said, **others}
    return said[only] if list(said) == [only] else said or ""


def _keep(new: dict[str, Plain], key: str, value: Plain) -> None:
    if value:
        new[key] = value
    else:
        new.pop(key, None)


def _write(source: bytes, new: dict[str, Plain]) -> bytes:
    """The file with other translations; what stays the same keeps its characters."""
    content = content_of(source)
    old = content.said.get("translations")
    if not isinstance(old, dict) or not old:
        return set_survey(source, {"translations": {**new}})
    text = merge(content.text, ["translations"], old, new, _order)
    return finish(source, text, {**content.said, "translations": {**new}})


def _order(path: Sequence[str | int]) -> Sequence[str]:
    return QUESTION_ORDER if path[2:3] == ["questions"] and len(path) > 3 else ORDER
