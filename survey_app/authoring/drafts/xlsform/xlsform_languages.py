"""The texts of an XLSForm: the language that a draft is written in, and the other languages as its translations.

A draft is always valid. So a text that the form lacks in a language appears in the draft's own language, and is
reported.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from candor_client.display import LANGUAGE
from survey_app.authoring.yaml_source import Plain
from survey_app.languages.language_names import list_names

CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
LONGEST_ID = 63
ENGLISH = {
    "amharic": "am", "arabic": "ar", "bengali": "bn", "bulgarian": "bg", "catalan": "ca", "chinese": "zh",
    "croatian": "hr", "czech": "cs", "danish": "da", "dutch": "nl", "english": "en", "estonian": "et", "farsi": "fa",
    "finnish": "fi", "french": "fr", "german": "de", "greek": "el", "hausa": "ha", "hebrew": "he", "hindi": "hi",
    "hungarian": "hu", "indonesian": "id", "irish": "ga", "italian": "it", "japanese": "ja", "korean": "ko",
    "latvian": "lv", "lithuanian": "lt", "maltese": "mt", "nepali": "ne", "norwegian": "nb", "persian": "fa",
    "polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru", "serbian": "sr", "slovak": "sk",
    "slovenian": "sl", "somali": "so", "spanish": "es", "swahili": "sw", "swedish": "sv", "turkish": "tr",
    "ukrainian": "uk", "urdu": "ur", "vietnamese": "vi",
}  # fmt: skip

Label = Any  # text, or texts by language


@dataclass
class Heading:
    """A section: its title, and the notes that introduce it."""

    title: Label
    notes: list[Label] = field(default_factory=list)


@dataclass
class Texts:
    """The texts of a draft as the form has them. Those of a question and its options are found by its id."""

    language: str | None
    other_languages: dict[str, str]  # the form's name of a language by its tag
    prose: dict[str, list[Label]] = field(default_factory=dict)
    sections: list[Heading] = field(default_factory=list)
    questions: dict[str, tuple[Label, str, Sequence[Label]]] = field(default_factory=dict)

    def text(self, label: Label) -> str:
        """Return a label in the draft's language, or in the first language that it has."""
        if isinstance(label, Mapping):
            label = label.get(self.language) or next((text for text in label.values() if text), "")
        return to_line(str(label or ""))

    def paragraphs(self, labels: Sequence[Label]) -> str:
        """Return several notes as one text."""
        return "\n\n".join(self.text(label) for label in labels)

    def translations(self) -> tuple[dict[str, Plain], list[str]]:
        """Return the translations into every other language, and the paths of the missing texts."""
        translations: dict[str, Plain] = {}
        missing: list[str] = []
        for tag, name in self.other_languages.items():
            translator = _Translator(self, name)
            translations[tag] = translator.translate_all()
            missing += [f"{path} in {tag}" for path in translator.missing]
        return translations, missing


@dataclass
class _Translator:
    texts: Texts
    name: str
    missing: list[str] = field(default_factory=list)

    def translate(self, label: Label, path: str) -> str:
        if isinstance(label, Mapping) and (text := to_line(str(label.get(self.name) or ""))):
            return text
        if path not in self.missing:
            self.missing.append(path)
        return self.texts.text(label)

    def translate_all(self) -> dict[str, Plain]:
        translation: dict[str, Plain] = {
            key: "\n\n".join(self.translate(label, key) for label in labels) for key, labels in self.texts.prose.items()
        }
        if self.texts.sections:
            translation["sections"] = [
                self.translate_section(place, label) for place, label in enumerate(self.texts.sections)
            ]
        translation["questions"] = {
            name: self.translate_question(name, *question) for name, question in self.texts.questions.items()
        }
        return translation

    def translate_section(self, place: int, heading: Heading) -> Plain:
        title = self.translate(heading.title, f"sections[{place}]")
        if not heading.notes:
            return title
        return {
            "title": title,
            "text": "\n\n".join(self.translate(note, f"sections[{place}]") for note in heading.notes),
        }

    def translate_question(self, name: str, label: Label, key: str, options: Sequence[Label]) -> Plain:
        text = self.translate(label, f"questions.{name}")
        if not options:
            return text
        labels = [self.translate(option, f"questions.{name}.{key}") for option in options]
        if len({*labels}) < len(labels):  # a definition takes labels that differ
            self.missing.append(f"questions.{name}.{key}")
            labels = [self.texts.text(option) for option in options]
        return {"text": text, key: [*labels]}


def list_languages(form: Mapping[str, Any]) -> Iterator[str]:
    """Yield every language of the labels once."""
    found_languages: dict[str, None] = {}

    def collect(node: Mapping[str, Any]) -> None:
        if isinstance(label := node.get("label"), Mapping):
            found_languages.update(dict.fromkeys(label))
        for child in (*node.get("children", ()), *node.get("choices", ())):
            if isinstance(child, Mapping):
                collect(child)

    collect({key: value for key, value in form.items() if key != "choices"})
    for choices in form.get("choices", {}).values():
        collect({"children": choices})
    yield from found_languages


def tag_of(language: str | None) -> str:
    """Return the tag of a language by its name: de for "Deutsch (de)", and for German. Return "" if it is unknown."""
    match = re.search(r"\(([^()]+)\)\s*$", language or "")
    tag = (match[1] if match else language or "").strip()
    own_names = {name.casefold(): language_tag for language_tag, name in list_names().items()}
    return tag if LANGUAGE.fullmatch(tag) else (ENGLISH | own_names).get(tag.casefold(), "")


def to_line(text: str) -> str:
    """Return text on one line, without characters that a definition refuses."""
    return " ".join(CONTROL_CHARACTERS.sub(" ", text).split())


def make_id(name: str, used_ids: set[str]) -> str:
    """Return a name as an id that is free."""
    plain = re.sub(r"[^a-z0-9_-]+", "_", name.lower()).strip("_-")[:LONGEST_ID] or "q"
    number, free_id = 1, plain
    while free_id in used_ids:
        number += 1
        free_id = f"{plain[: LONGEST_ID - 1 - len(str(number))]}_{number}"
    return free_id
