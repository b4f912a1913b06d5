"""The definitions that a device accepts: "The definition" of the page."""

import json
import math
import re
from typing import Any

from tests.independent import (  # fmt: skip
    FORMAT,
    KEYS,
    NUMBERS,
    DefinitionRefusal,
    Object,
    decimal,
    integer,
    items,
    keys,
    labels,
    matches_spelling,
    need,
    text,
    unspell,
)
from tests.independent.mechanism import check_mechanism, check_size, names, steps, width


def read_definition(source: bytes) -> Object:
    """Return the definition, if its form is valid; raise DefinitionRefusal if not."""
    need(len(source) <= NUMBERS["bytes of a definition"])
    try:
        value = json.loads(source.decode(), parse_float=refuse_number, parse_constant=refuse_number)
        again = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        raise DefinitionRefusal("no JSON") from None
    bare = re.sub(rb'"(\\.|[^"\\])*"', b"", source)  # without its texts
    need(again == source and b"null" not in bare)
    need(all(len(one) < 18 and abs(int(one)) < 2**53 for one in re.findall(rb"-?\d+", bare)))
    keys(value, "definition")
    need(value["format"] == FORMAT)
    for key in {"title", "description", "consent", "contact", "thanks", "completion", "group"} & value.keys():
        text(value[key])
    need("://" not in value.get("completion", "") or matches_spelling(value["completion"], "address"))
    need(all(matches_spelling(value[key], "name") for key in {"slug", "study"} & value.keys()))
    need(("study" in value) == ("group" in value))
    need("study" not in value or value["slug"].startswith(value["study"] + "-"))
    need("language" not in value or (matches_spelling(value["language"], "language") and value["language"] != "en"))
    need(decimal(value["epsilon"]) > 0 and len(str(value["epsilon"]).partition(".")[2]) <= NUMBERS["places of ε"])
    need("ask" not in value or (type(value["ask"]) is int and value["ask"] == 1))
    for place, question in enumerate(items(value["questions"], 1)):
        check_question(question, value["questions"][:place])
    check_fields(value)
    if "sections" in value:
        check_sections(value)
    for tag, words in check_languages(value):
        check_words(words, value, tag)
    if "tickets" in value:
        check_tickets(value["tickets"])
    return dict(value)


def refuse_number(said: str) -> Any:
    raise ValueError(said)


def check_question(question: Any, earlier: list[Object]) -> None:
    need(isinstance(question, dict) and f"question {question.get('type')}" in KEYS)
    keys(question, f"question {question['type']}")
    need(matches_spelling(question["id"], "name") and question["id"] not in [one["id"] for one in earlier])
    text(question["text"])
    need(all(question[key] is True for key in {"optional", "shuffle"} & question.keys()))
    need("optional" not in question or "show_if" not in question)
    for key in {"options", "points"} & question.keys():
        need(len(labels(question[key])) <= NUMBERS["options or points of a question"])
    if "scores" in question:
        need(len([decimal(one) for one in items(question["scores"], 2)]) == len(question["points"]))
    if question["type"] == "number":
        low, high, step = (decimal(question[key]) for key in ("min", "max", "step"))
        need(low < high and step > 0 and ((high - low) / step).denominator == 1)
        need(steps(question) <= NUMBERS["steps of a number, N"] and ("levels" in question) != ("bins" in question))
        integer(question.get("levels", question.get("bins")), 2, steps(question) + 1)
        text(question.get("unit", "none"))
    if "show_if" in question:
        keys(question["show_if"], "show_if")
        (parent,) = [one for one in earlier if one["id"] == question["show_if"]["question"]] or [{"type": "number"}]
        need(parent["type"] != "number" and {*labels(question["show_if"]["is"], 1)} <= {*names(parent)})


def check_fields(value: Object) -> None:
    questions = {one["id"]: one for one in value["questions"]}
    order, seen, work, bits = list(questions), list[str](), 0, 0
    need(len(items(value["fields"], 1)) <= NUMBERS["fields"])
    for field in value["fields"]:
        keys(field, "field")
        need("chance" not in field or "ask" in value)
        integer(field.get("chance", 2), 2, NUMBERS["sum of the chances"])
        members = items(field["questions"], 1)
        need(all(isinstance(one, str) and one in questions and one not in seen for one in members))
        need(len({*members}) == len(members) and members == sorted(members, key=order.index))
        seen += members
        work += check_mechanism(field["mechanism"], [questions[one] for one in members])
        need(work <= NUMBERS["work of all fields"])
        check_size(field["mechanism"], [questions[one] for one in members])
        bits += width(field["mechanism"]) + ("ask" in value)
    need({*seen} == {*questions})
    need(sum(field.get("chance", 1) for field in value["fields"]) <= NUMBERS["sum of the chances"])
    need(math.ceil(bits / 8) <= NUMBERS["bytes of the bits of a report"])


def check_sections(value: Object) -> None:
    order = [one["id"] for one in value["questions"]]
    starts = []
    for section in items(value["sections"], 1):
        keys(section, "section")
        need(isinstance(section["first"], str) and section["first"] in order)
        starts.append(order.index(section["first"]))
        text(section["title"])
        text(section.get("text", "none"))
        need(section.get("grid", True) is True)
    need(starts == sorted({*starts}))
    for section, start, stop in zip(value["sections"], starts, [*starts[1:], len(order)], strict=True):
        inside = value["questions"][start:stop]
        need("grid" not in section or all(one.get("points") == inside[0].get("points", []) for one in inside))


def check_languages(value: Object) -> list[tuple[str, Any]]:
    if "translations" not in value:
        return []
    need(isinstance(value["translations"], dict) and value["translations"])
    return list(value["translations"].items())


def check_words(words: Any, value: Object, tag: str) -> None:
    need(matches_spelling(tag, "language") and tag != value.get("language", "en") and isinstance(words, dict))
    must = {"title", "questions", *({"description", "consent", "thanks", "sections"} & value.keys())}
    need(must <= words.keys() <= must | ({"contact"} & value.keys()))
    for key in words.keys() - {"questions", "sections"}:
        text(words[key])
    need(
        isinstance(words["questions"], dict)
        and [*words["questions"]] == sorted(one["id"] for one in value["questions"])
    )
    for question in value["questions"]:
        said, lists = words["questions"][question["id"]], {"options", "points"} & question.keys()
        need(isinstance(said, dict) and said.keys() == {"text", *lists, *({"unit"} & question.keys())})
        need(all(len(labels(said[key], 1)) == len(question[key]) for key in lists))
        text(said["text"])
        text(said.get("unit", "none"))
    for said, section in zip(items(words.get("sections", []), 0), value.get("sections", []), strict=False):
        need(isinstance(said, dict) and said.keys() == section.keys() & {"title", "text"})
        need([text(one) for one in said.values()])
    need(len(words.get("sections", [])) == len(value.get("sections", [])))


def check_tickets(value: Any) -> None:
    keys(value, "tickets")
    need(
        matches_spelling(value["key"], "key")
        and modulus(value) % 2
        and modulus(value).bit_length() == NUMBERS["bits of a modulus"]
    )
    need("issuer" not in value or matches_spelling(value["issuer"], "origin"))
    if "from" in value:
        need(matches_spelling(value["from"], "moment"))
        year, month, day, hour, minute = map(int, re.findall(r"\d+", value["from"]))
        leap = year % 4 == 0 and (year % 100 or year % 400 == 0)
        days = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        need(year and 1 <= month <= 12 and 1 <= day <= days[month - 1] and hour < 24 and minute < 60)


def modulus(value: Object) -> int:
    return int.from_bytes(unspell(value["key"]), "big")
