"""A survey in other languages: every text of its author with a mark before it, so that a test finds each."""

from typing import Any


def translation(definition: dict[str, Any], mark: str) -> dict[str, Any]:
    """Return everything that a translation has to have."""

    def texts(of: dict[str, Any], *keys: str) -> dict[str, Any]:
        return {key: f"{mark} {of[key]}".replace("\u2029", f"\u2029{mark} ") for key in keys if key in of}

    def words(question: dict[str, Any]) -> dict[str, Any]:
        lists = {key: [f"{mark} {one}" for one in question[key]] for key in ("options", "points") if key in question}
        return texts(question, "text", "unit") | lists

    made = texts(definition, "title", "description", "consent", "thanks")
    made["questions"] = {question["id"]: words(question) for question in definition["questions"]}
    if "sections" in definition:
        made["sections"] = [texts(section, "title", "text") for section in definition["sections"]]
    return made


def add_translations(definition: dict[str, Any], **marks: str) -> dict[str, Any]:
    """Return the definition with translations, by language."""
    return definition | {"translations": {tag: translation(definition, mark) for tag, mark in marks.items()}}
