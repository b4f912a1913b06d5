"""The words of an XLSForm: the language that a draft is written in, and the others, which become its translations.

A draft builds, so a text that the form has not in a language stands there in the draft's own, and is named.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from candor_client.display import LANGUAGE
from survey_app.authoring.yaml_source import Plain
from survey_app.languages.language_names import names

UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
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
    """The texts of a draft as the form has them: those of a question with its options, by its id."""

    language: str | None
    others: dict[str, str]  # the form's name of a language by its tag
    prose: dict[str, list[Label]] = field(default_factory=dict)
    sections: list[Heading] = field(default_factory=list)
    questions: dict[str, tuple[Label, str, Sequence[Label]]] = field(default_factory=dict)

    def text(self, label: Label) -> str:
        """A label in the draft's language, or in the first that it has."""
        if isinstance(label, Mapping):
            label = label.get(self.language) or next((one for one in label.values() if one), "")
        return line(str(label or ""))

    def paragraphs(self, labels: Sequence[Label]) -> str:
        """Several notes as one text."""
        return "\n\n".join(self.text(label) for label in labels)

    def translations(self) -> tuple[dict[str, Plain], list[str]]:
        """Every other language, and what the form does not have in it."""
        made: dict[str, Plain] = {}
        missing: list[str] = []
        for tag, name in self.others.items():
            spoken = _Spoken(self, name)
            made[tag] = spoken.all()
            missing += [f"{path} in {tag}" for path in spoken.missing]
        return made, missing


@dataclass
class _Spoken:
    texts: Texts
    name: str
    missing: list[str] = field(default_factory=list)

    def say(self, label: Label, path: str) -> str:
        if isinstance(label, Mapping) and (said := line(str(label.get(self.name) or ""))):
            return said
        if path not in self.missing:
            self.missing.append(path)
        return self.texts.text(label)

    def all(self) -> dict[str, Plain]:
        made: dict[str, Plain] = {
            key: "\n\n".join(self.say(one, key) for one in labels) for key, labels in self.texts.prose.items()
        }
        if self.texts.sections:
            made["sections"] = [self.section(i, one) for i, one in enumerate(self.texts.sections)]
        made["questions"] = {name: self.question(name, *said) for name, said in self.texts.questions.items()}
        return made

    def section(self, place: int, heading: Heading) -> Plain:
        title = self.say(heading.title, f"sections[{place}]")
        if not heading.notes:
            return title
        return {"title": title, "text": "\n\n".join(self.say(one, f"sections[{place}]") for one in heading.notes)}

    def question(self, name: str, label: Label, key: str, options: Sequence[Label]) -> Plain:
        text = self.say(label, f"questions.{name}")
        if not options:
            return text
        said = [self.say(one, f"questions.{name}.{key}") for one in options]
        if len({*said}) < len(said):  # a definition takes labels that differ
            self.missing.append(f"questions.{name}.{key}")
            said = [self.texts.text(one) for one in options]
        return {"text": text, key: [*said]}


def languages(form: Mapping[str, Any]) -> Iterator[str]:
    """Every language of the labels, once."""
    seen: dict[str, None] = {}

    def look(node: Mapping[str, Any]) -> None:
        if isinstance(label := node.get("label"), Mapping):
            seen.update(dict.fromkeys(label))
        for child in (*node.get("children", ()), *node.get("choices", ())):
            if isinstance(child, Mapping):
                look(child)

    look({key: value for key, value in form.items() if key != "choices"})
    for choices in form.get("choices", {}).values():
        look({"children": choices})
    yield from seen


def tag_of(language: str | None) -> str:
    """The tag of a language by its name: de for "Deutsch (de)", and for German; nothing where it is not known."""
    found = re.search(r"\(([^()]+)\)\s*$", language or "")
    tag = (found[1] if found else language or "").strip()
    own = {name.casefold(): one for one, name in names().items()}
    return tag if LANGUAGE.fullmatch(tag) else (ENGLISH | own).get(tag.casefold(), "")


def line(text: str) -> str:
    """Text on one line, without signs that a definition refuses."""
    return " ".join(UNSEEN.sub(" ", text).split())


def identifier(name: str, taken: set[str]) -> str:
    """A name as an id that is free."""
    plain = re.sub(r"[^a-z0-9_-]+", "_", name.lower()).strip("_-")[:LONGEST_ID] or "q"
    number, free = 1, plain
    while free in taken:
        number += 1
        free = f"{plain[: LONGEST_ID - 1 - len(str(number))]}_{number}"
    return free
