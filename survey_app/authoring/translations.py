"""The translations of a survey: every text of the original under the same keys, and no others.

Missing texts are reported all at once for each language. Texts that translate nothing are reported at their place. A
question or section with only one text may be written as that text. The points of a battery are translated once, with
its first statement.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from candor_client.canonical import parse_text
from candor_client.display import LANGUAGE
from candor_client.errors import DefinitionError
from survey_app.authoring.authored_question import LABELS
from survey_app.authoring.entries import Entries
from survey_app.authoring.yaml_source import AuthoringError, Node

PROSE = ("title", "description", "consent", "contact", "thanks")
PARAGRAPHS = ("description", "consent", "thanks")  # these, and section introductions, may have several


@dataclass(frozen=True)
class Original:
    """The texts to translate: each by its key with its line; a list also with its length."""

    prose: dict[str, int | None]
    questions: dict[str, dict[str, tuple[int | None, int]]]
    sections: list[dict[str, int | None]]
    first_statements: dict[str, str]  # maps a statement to the first of its battery, which has the points
    language: str
    is_complete: bool  # whether all questions could be read


@dataclass
class _LanguageReader:
    """The errors and missing texts of one language while it is read."""

    errors: list[AuthoringError] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def read(self, node: Node, make: Callable[[Node], Any]) -> Any:
        """Return `make(node)`. If that raises an error, record it and return None."""
        try:
            return make(node)
        except AuthoringError as error:
            self.errors.append(error)
        except DefinitionError as error:
            self.errors.append(AuthoringError(error.code, error.reason, error.path, node.line))
        return None

    def add_missing(self, path: str, line: int | None) -> None:
        self.missing.append(f"{path} (line {line})" if line else path)

    def read_members(self, node: Node, texts: Mapping[str, Any], short: str) -> dict[str, Node]:
        """Return the members of a mapping that the original has too. A single text is the member `short`."""
        if isinstance(node.value, str):
            return {short: node} if node.value.strip() else {}
        members: dict[str, Node] = {}
        for key, member in (self.read(node, Node.members) or {}).items():
            if key in texts and member.value != "":  # an empty text counts as missing
                members[key] = member
            elif key not in texts:
                self.errors.append(
                    member.error(
                        "not_in_original", f"the original has no text under this key; its keys are {', '.join(texts)}"
                    )
                )
        return members


def collect_original(top: Mapping[str, Node], entries: Entries) -> Original:
    """Return the texts of a file that can be translated. Unreadable questions are left out."""
    questions: dict[str, dict[str, tuple[int | None, int]]] = {}
    for node in entries.questions:
        members = node.value if isinstance(node.value, dict) else {}
        name = members["id"].value if "id" in members else None
        if isinstance(name, str) and name not in questions:
            lists = {key: members[key] for key in LABELS if key in members and isinstance(members[key].value, list)}
            texts = {key: members[key] for key in ("text", "unit") if key in members}
            questions[name.strip()] = {key: (part.line, 0) for key, part in texts.items()}
            questions[name.strip()] |= {key: (part.line, len(part.items())) for key, part in lists.items()}
    language = top["language"].value if "language" in top else "en"
    return Original(
        {key: top[key].line for key in PROSE if key in top},
        questions,
        [{"title": part.line} | ({"text": part.line} if part.text else {}) for part in entries.sections],
        {name: battery[0] for battery in entries.batteries for name in battery[1:]},
        language.strip() if isinstance(language, str) else "en",
        len(questions) == len(entries.questions) and not entries.battery_errors,
    )


def read_translations(node: Node, original: Original) -> tuple[dict[str, Any], list[AuthoringError]]:
    """Return the translations as the definition has them, and all errors in them."""
    if not isinstance(node.value, dict) or not node.value:
        return {}, [
            node.error(
                "not_a_mapping",
                "must be a mapping of languages to texts, such as de: {title: …}; leave it out if there are none",
            )
        ]
    translations: dict[str, Any] = {}
    errors: list[AuthoringError] = []
    for tag, member in node.value.items():
        reading = _LanguageReader()
        if not LANGUAGE.fullmatch(tag):
            reading.errors.append(member.error("bad_language", "is not a language tag; use one such as de or pt-BR"))
        elif tag == original.language:
            reading.errors.append(
                member.error("own_language", f"the survey itself is in {tag}; list only other languages here")
            )
        else:
            translations[tag] = _read_language(member, original, reading)
        if reading.missing:
            errors.append(member.error("not_translated", f"not translated yet: {', '.join(reading.missing)}"))
        errors += reading.errors
    return translations, errors


def _read_language(node: Node, original: Original, reader: _LanguageReader) -> dict[str, Any]:
    keys = [*original.prose, "questions", *(["sections"] if original.sections else [])]
    members = reader.read_members(node, dict.fromkeys(keys), "title")
    translation: dict[str, Any] = {}
    for key, line in original.prose.items():
        if key in members:
            translation[key] = reader.read(members[key], _read_prose if key in PARAGRAPHS else _read_text)
        elif key != "contact":  # an address may be the same in all languages
            reader.add_missing(key, line)
    translation["questions"] = _read_questions(members.get("questions"), original, reader)
    if original.sections:
        translation["sections"] = _read_sections(members.get("sections"), original, reader)
    return translation


def _read_questions(node: Node | None, original: Original, reader: _LanguageReader) -> dict[str, Any]:
    members: dict[str, Node] = (reader.read(node, Node.members) if node else None) or {}
    for name, member in members.items():
        if name not in original.questions and original.is_complete:
            reader.errors.append(member.error("unknown_question", "there is no question with this id"))
    translations: dict[str, Any] = {}
    for name, texts in original.questions.items():
        labels = reader.read_members(members[name], texts, "text") if name in members else {}
        translation: dict[str, Any] = {}
        for key, (line, count) in texts.items():
            if key in LABELS and key in labels:
                translation[key] = reader.read(labels[key], _make_label_reader(count, name, reader))
            elif key in labels:
                translation[key] = reader.read(labels[key], _read_text)
            elif key == "points" and name in original.first_statements:
                translation[key] = translations[original.first_statements[name]].get(key)
            else:
                reader.add_missing(f"questions.{name}.{key}", line)
        translations[name] = translation
    return translations


def _read_sections(node: Node | None, original: Original, reader: _LanguageReader) -> list[dict[str, Any]]:
    members: list[Node] = (reader.read(node, Node.items) if node else None) or []
    if original.is_complete and node is not None and len(members) > len(original.sections):
        reader.errors.append(
            node.error(
                "entry_count", f"has {len(members)} entries for {len(original.sections)} sections (batteries included)"
            )
        )
    return [_read_section(i, members, texts, reader) for i, texts in enumerate(original.sections)]


def _read_section(
    i: int, members: list[Node], texts: Mapping[str, int | None], reader: _LanguageReader
) -> dict[str, Any]:
    fields = reader.read_members(members[i], texts, "title") if i < len(members) else {}
    translation: dict[str, Any] = {}
    for key, line in texts.items():
        if key in fields:
            translation[key] = reader.read(fields[key], _read_text if key == "title" else _read_prose)
        else:
            reader.add_missing(f"sections[{i}].{key}", line)
    return translation


def _read_text(node: Node) -> str:
    return parse_text(node.text(), node.path)


def _read_prose(node: Node) -> str:
    return parse_text(node.prose(), node.path)


def _make_label_reader(count: int, name: str, reader: _LanguageReader) -> Callable[[Node], list[str]]:
    def read_labels(node: Node) -> list[str]:
        empty = [place for place, label in enumerate(node.items()) if label.value == ""]
        for place in empty:
            reader.add_missing(f"questions.{name}.{node.path.rpartition('.')[2]}[{place}]", node.line)
        labels = [_read_text(label) for place, label in enumerate(node.items()) if place not in empty]
        if len(node.items()) != count:
            raise node.error("entry_count", f"needs {count} entries as in the original, but has {len(node.items())}")
        if repeated := next(_find_repeated(labels), None):
            raise node.error("duplicate", f"{repeated!r} occurs twice; all entries must be different")
        return labels

    return read_labels


def _find_repeated(labels: list[str]) -> Iterator[str]:
    return (label for place, label in enumerate(labels) if label in labels[:place])
