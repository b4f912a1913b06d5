"""An XLSForm (xlsform.org), as ODK, KoboToolbox and SurveyCTO read it, becomes a draft in YAML.

pyxform reads the workbook: it knows the aliases of columns and types, languages, groups and `or_other`. Here it is
decided what can be asked with randomized answers. What cannot, free text before all else, is left out with the reason
as a comment in its place; a draft never asks something that the form did not ask, and it builds.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from client.display import LANGUAGE
from client.question import MOST_STEPS, to_grid
from survey_app.authoring.source import Plain
from survey_app.drafts.write import entry, item
from survey_app.explain.languages import LANGUAGES, Words
from survey_app.explain.terminal import wrapped

PLACES = "a place can give a person away whatever noise is added; ask for one of several regions"
TRACES = "it would tell who answered, or when: Candor keeps neither"
FILES = "a file cannot be randomized"
MOMENTS = "dates and times have no options to draw from; ask for a number, such as years ago, or for ranges as options"
REASONS = {
    "text": "free text cannot be randomized: no noise hides what somebody wrote; ask for options or a number",
    "note": "a text between questions has no place in a draft yet; put what matters into description",
    "calculate": "nothing can be computed from answers that never leave the device",
    "rank": "an order of the options has too many possible answers to be hidden well; ask for the first one",
    "repeat": "a part that repeats has no fixed number of answers",
    "acknowledge": "a tick before the questions is what consent is for; put its words there",
    "barcode": "free text cannot be randomized, and neither can what a camera reads",
    "hidden": "what people do not see they are not asked",
    **dict.fromkeys(("date", "dateTime", "time"), MOMENTS),
    **dict.fromkeys(("geopoint", "geotrace", "geoshape", "start-geopoint"), PLACES),
    **dict.fromkeys(("photo", "audio", "video", "file", "background-audio", "osm"), FILES),
    **dict.fromkeys(
        ("start", "end", "today", "deviceid", "phonenumber", "username", "email", "audit", "simserial", "subscriberid"),
        TRACES,
    ),
}
REQUIRED = ("yes", "true", "true()", "1")
UNTAKEN = ("hint", "guidance_hint", "media", "default")
PARTS = re.compile(r"\s+(and|or)\s+")
BOUND = re.compile(r"\.\s*(<=|>=|<|>)\s*(-?\d+(?:\.\d+)?)")
MIRRORED = re.compile(r"(-?\d+(?:\.\d+)?)\s*(<=|>=|<|>)\s*\.")
TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
NAME, VALUE = r"\$\{\s*([\w.-]+)\s*\}", r"(?:'([^']*)'|\"([^\"]*)\"|(-?\d+))"
EQUAL = re.compile(rf"{NAME}\s*=\s*{VALUE}|selected\(\s*{NAME}\s*,\s*{VALUE}\s*\)")
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
LONGEST_ID = 63


class FormError(Exception):
    """This is no XLSForm, or nothing of it can be asked; the message says why."""


@dataclass(frozen=True)
class Draft:
    """A draft, the ids of the questions in it, and what of the form is not in it, with the reasons."""

    text: str
    taken: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Known:
    """A question that was taken: its id, and for each value of the form the label here."""

    id: str
    labels: Mapping[str, str]


@dataclass
class _Import:
    """What is known on the way through a form."""

    form: Mapping[str, Any]
    language: str | None
    blocks: list[str] = field(default_factory=list)
    known: dict[str, _Known] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    left_out: list[tuple[str, str]] = field(default_factory=list)


def read_form(path: Path) -> dict[str, Any]:
    """What pyxform makes of a workbook."""
    try:
        from pyxform.errors import PyXFormError
        from pyxform.xls2json import workbook_to_json
        from pyxform.xls2json_backends import get_xlsform
    except ImportError:
        raise FormError("XLSForms need pyxform: pip install 'candor-survey[xlsform]'") from None
    try:
        book = get_xlsform(xlsform=str(path), file_type=path.suffix.lower())
        form: dict[str, Any] = workbook_to_json(
            workbook_dict=book, fallback_form_name=book.fallback_form_name, warnings=[]
        )
    except PyXFormError as error:
        raise FormError(f"{path} is no XLSForm that pyxform reads: {' '.join(str(error).split())}") from None
    return form


def draft(form: Mapping[str, Any], name: str) -> Draft:
    """A form as a draft; `name` is where it came from."""
    languages = list(_languages(form))
    default = form.get("default_language")
    language = default if default in languages else (languages[0] if languages else None)
    made = _Import(form, language)
    for child in form.get("children", ()):
        _take(made, child, None)
    if not made.ids:
        reasons = "; ".join(f"{what}: {why}" for what, why in made.left_out)
        raise FormError(f"nothing in {name} can be asked with randomized answers. {reasons}".strip())
    title = _line(_text(made, form.get("title")) or "Untitled survey")
    slug = _identifier(str(form.get("id_string") or title), set()) or "survey"
    head: dict[str, Plain] = {"slug": slug, "title": title}
    if (tag := _tag(language)) and tag != "en":
        head["language"] = tag
    head |= {"results": "private", "epsilon": "4", "ask": "auto"}
    lines = [*_preface(name, made, [one for one in languages if one != language])]
    lines += [entry(key, value, 0, "\n") for key, value in head.items()]
    text = "\n".join([*lines, "questions:", *made.blocks]) + "\n"
    return Draft(text, tuple(known.id for known in made.known.values()), tuple(made.left_out))


def _preface(name: str, made: _Import, others: list[str]) -> Iterator[str]:
    yield from _comment(f"A draft from {_line(name)}, an XLSForm. Read it through before you publish it.")
    yield from _comment(
        "ε is what one person gives away in all; candor plan says how many respondents that takes. A question that the"
        " form did not require is optional here, and that costs respondents: take it out where you can."
    )
    if made.left_out:
        yield from _comment(f"Not taken: {len(made.left_out)}; each is named below, with the reason.")
    if others:
        told = ", ".join(_line(one) for one in others)
        yield from _comment(f"The form also speaks {told}; only {_line(str(made.language))} was taken.")


def _take(made: _Import, node: Mapping[str, Any], shown: str | None) -> None:
    """One row of the form, or a group of them under one condition."""
    kind, name = str(node.get("type", "")), str(node.get("name", ""))
    if kind == "group":
        if node.get("control", {}).get("bodyless"):
            return  # pyxform's own
        relevant = node.get("bind", {}).get("relevant")
        if label := _text(made, node.get("label")):
            made.blocks += _comment(f"A group begins here: {label}. Headings have no place in a draft yet.", 2)
        for child in node.get("children", ()):
            _take(made, child, _both(shown, relevant))
        return
    taken = _question(made, node, kind, name)
    if isinstance(taken, str):
        made.left_out.append((name, taken))
        label = _text(made, node.get("label"))
        what = f"{name} ({kind}{f': {label}' if label else ''})"
        made.blocks += _comment(f"Left out: {what}: {taken}.", 2)
        return
    question, labels, notes = taken
    identity = str(question["id"])
    made.ids.add(identity)
    made.known[name] = _Known(identity, labels)
    notes += _condition(made, question, node, shown)
    for note in notes:
        made.blocks += _comment(note, 2)
    made.blocks.append(item(question, 2, "\n"))


Taken = tuple[dict[str, Plain], dict[str, str], list[str]]  # a question, its labels by the form's values, notes


def _question(made: _Import, node: Mapping[str, Any], kind: str, name: str) -> Taken | str:
    """The question that a row becomes, or why it cannot be asked."""
    text = _text(made, node.get("label"))
    notes = [f"{key} of {name} is left out" for key in UNTAKEN if node.get(key)]
    if not text:
        text = name
        notes.append(f"{name} has no label; write what is asked")
    if "${" in text:
        notes.append("Its text quotes an answer (${…}), which no form of Candor fills in: write it anew")
    identity = _identifier(name, made.ids)
    if identity != name:
        notes.append(f"{name} is called {identity} here")
    question: dict[str, Plain] = {"id": identity, "type": "", "text": text}
    labels: dict[str, str] = {}
    if kind in ("select one", "select all that apply"):
        found = _options(made, node)
        if isinstance(found, str):
            return found
        labels = _yes_and_no(found) if kind == "select one" else {}
        if labels:
            question["type"] = "yes_no"
        else:
            labels = found
            likert = "likert" in str(node.get("control", {}).get("appearance", ""))
            question["type"] = "multiple" if kind != "select one" else "scale" if likert else "choice"
            question["points" if question["type"] == "scale" else "options"] = list(labels.values())
            if str(node.get("parameters", {}).get("randomize")).lower() == "true" and question["type"] != "scale":
                question["shuffle"] = "true"
        if node.get("bind", {}).get("constraint"):
            notes.append(f"The constraint on the options of {name} is left out")
    elif kind in ("integer", "decimal", "range"):
        numbers = _number(node, kind)
        if isinstance(numbers, str):
            return numbers
        question |= {"type": "number", **numbers}
        if kind == "decimal":
            notes.append(f"A decimal needs steps: {numbers['step']} was chosen, change it if you like")
    else:
        return REASONS.get(kind, f"there is nothing like the type {kind!r} here")
    return question, labels, notes


def _options(made: _Import, node: Mapping[str, Any]) -> dict[str, str] | str:
    """The label of every option by its value, or why there are none."""
    if node.get("choice_filter"):
        return "its options depend on another answer; write a question for each case, with show_if"
    listed = node.get("choices") or made.form.get("choices", {}).get(node.get("itemset"))
    if not listed:
        return "its options are not in the workbook"
    found = {str(one["name"]): _line(_text(made, one.get("label")) or str(one["name"])) for one in listed}
    if len(found) < 2:
        return "it has one option only; ask for yes or no"
    if len(set(found.values())) < len(found):
        return "two of its options have the same label"
    return found


def _yes_and_no(labels: Mapping[str, str]) -> dict[str, str]:
    """The options as yes and no, if that is what they are in one of our languages; else nothing."""
    for language in LANGUAGES:
        words = {Words(language)(f"privacy.{answer}").casefold(): answer for answer in ("yes", "no")}
        said = {value: words.get(label.casefold(), "") for value, label in labels.items()}
        if sorted(said.values()) == ["no", "yes"]:
            return said
    return {}


def _number(node: Mapping[str, Any], kind: str) -> dict[str, Plain] | str:
    """The ends and the steps of a number, or why it has none."""
    if kind == "range":
        said = {"start": 1, "end": 10, "step": 1, **node.get("parameters", {})}
        try:
            low, high, step = (Decimal(str(said[key])) for key in ("start", "end", "step"))
        except InvalidOperation:
            return "its ends are no plain numbers"
    else:
        found = _bounds(str(node.get("bind", {}).get("constraint", "")), whole=kind == "integer")
        if found is None:
            return (
                "a number needs a smallest and a largest value, or one answer could stand out; give it a constraint"
                " such as . >= 0 and . <= 60"
            )
        low, high = found
        digits = max(len(f"{end:f}".partition(".")[2].rstrip("0")) for end in found)
        step = Decimal(1) if kind == "integer" else Decimal(1).scaleb(-max(digits, 1))
    if low > high:
        low, high = high, low
    least, most, width, _ = to_grid(low, high, abs(step) or Decimal(1))
    if least == most or (most - least) % width or (most - least) // width > MOST_STEPS:
        return "its steps do not lead from its smallest to its largest value"
    return {"min": f"{low:f}", "max": f"{high:f}", "step": f"{abs(step):f}"}


def _bounds(constraint: str, *, whole: bool) -> tuple[Decimal, Decimal] | None:
    """The smallest and the largest value that a constraint allows, if that is all it says."""
    parts = PARTS.split(constraint.replace("(", " ").replace(")", " ").strip())
    if "or" in parts[1::2]:
        return None
    ends: dict[str, Decimal] = {}
    for part in parts[::2]:
        if plain := BOUND.fullmatch(part.strip()):
            sign, value = plain[1], Decimal(plain[2])
        elif turned := MIRRORED.fullmatch(part.strip()):
            sign, value = TURNED[turned[2]], Decimal(turned[1])
        else:
            return None
        if whole and sign in ("<", ">"):
            value += 1 if sign == ">" else -1
        ends["low" if sign.startswith(">") else "high"] = value
    return (ends["low"], ends["high"]) if len(ends) == 2 else None


def _condition(made: _Import, question: dict[str, Plain], node: Mapping[str, Any], shown: str | None) -> list[str]:
    """Give a question its `show_if`, or make it optional if it is not required; notes tell what could not be kept."""
    bind = node.get("bind", {})
    wanted = _both(shown, bind.get("relevant"))
    if not wanted:
        if str(bind.get("required", "")).lower() not in REQUIRED:
            question["optional"] = "true"
        return []
    if found := _equality(made, wanted):
        question["show_if"] = {"question": found[0], "is": list(found[1])}
        return []
    question["optional"] = "true"
    return [
        f"The form asked this only where {_line(wanted)}. That is no plain equality with an earlier question of"
        " this draft, so everybody is asked, and may leave it out: write a show_if if you can"
    ]


def _both(outer: str | None, inner: str | None) -> str | None:
    """Two conditions in one, where there are two."""
    return f"({outer}) and ({inner})" if outer and inner else inner or outer


def _equality(made: _Import, relevant: str) -> tuple[str, list[str]] | None:
    """The earlier question and its labels, if a condition is one equality, or several of one question joined by or."""
    parts = PARTS.split(relevant.strip())
    if "and" in parts[1::2]:
        return None
    ids: set[str] = set()
    labels: list[str] = []
    for part in parts[::2]:
        plain = part.strip()
        match = EQUAL.fullmatch(plain[1:-1].strip() if plain.startswith("(") and plain.endswith(")") else plain)
        if match is None:
            return None
        name, *values = match.groups()[:4] if match[1] else match.groups()[4:]
        value = next(one for one in values if one is not None)
        known = made.known.get(name)
        if known is None or value not in known.labels:
            return None
        ids.add(known.id)
        labels.append(known.labels[value])
    return (ids.pop(), list(dict.fromkeys(labels))) if len(ids) == 1 else None


def _languages(form: Mapping[str, Any]) -> Iterator[str]:
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


def _tag(language: str | None) -> str:
    """The tag in a language's name, such as de in "Deutsch (de)"."""
    found = re.search(r"\(([^()]+)\)\s*$", language or "")
    tag = (found[1] if found else language or "").strip()
    return tag if LANGUAGE.fullmatch(tag) else ""


def _text(made: _Import, label: Any) -> str:
    """A label in the draft's language, or in the first that it has."""
    if isinstance(label, Mapping):
        label = label.get(made.language) or next((one for one in label.values() if one), "")
    return _line(str(label or ""))


def _line(text: str) -> str:
    """Text on one line, without signs that a definition refuses."""
    return " ".join(UNSEEN.sub(" ", text).split())


def _identifier(name: str, taken: set[str]) -> str:
    """A name as an id that is free."""
    plain = re.sub(r"[^a-z0-9_-]+", "_", name.lower()).strip("_-")[:LONGEST_ID] or "q"
    number, free = 1, plain
    while free in taken:
        number += 1
        free = f"{plain[: LONGEST_ID - 1 - len(str(number))]}_{number}"
    return free


def _comment(text: str, indent: int = 0) -> list[str]:
    """A note as lines of comment."""
    seen = "".join(sign if sign.isprintable() else "\ufffd" for sign in _line(text))
    return wrapped(seen, f"{' ' * indent}# ")
