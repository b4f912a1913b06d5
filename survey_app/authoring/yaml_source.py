"""An author's file as a tree of text with line numbers.

All YAML scalars are read as text and converted by the schema: `options: [yes, no]` are words, `1:30` is not 90.
Duplicate keys, aliases and tags are errors, so a file means exactly its visible text. JSON files go through JSON's own
parser, because YAML's would misread surrogate pairs. Their nodes have paths, but no lines.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any, TypeAlias, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.reader import ReaderError

from candor_client.canonical import find_invisible, spell
from survey_app.authoring.fault_codes import FaultCode
from survey_app.authoring.timestamps import TimestampError, parse_timestamp

Plain: TypeAlias = str | list["Plain"] | dict[str, "Plain"]

LARGEST_FILE = 1_000_000
LARGEST_FORM = 4 * LARGEST_FILE  # the size limit of a browser's form, which encodes some characters with three
MOST_EVENTS = 50_000  # of YAML: each word, list and mapping is one or two; parsing time grows with them
DEEPEST = 20
NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,1000})?")  # callers that need fewer decimals round
MOST_DECIMALS = 16  # in a number of a definition
EPSILON_STEP = Decimal("1e-12")  # the smallest step of ε in a definition
FRACTION = re.compile(r"[0-9]{1,9}/[1-9][0-9]{0,8}")


class AuthoringError(Exception):
    """An error in the author's file: a stable code, the reason, the path, and the line if it is known.

    The code is a FaultCode, or the code of the client's DefinitionError. The message contains line and path.
    """

    def __init__(self, code: str, message: str, path: str = "", line: int | None = None) -> None:
        where = ", ".join(part for part in (f"line {line}" if line else "", path) if part)
        super().__init__(f"{where}: {message}" if where else message)
        self.code, self.path, self.line, self.reason = code, path, line, message


@dataclass(frozen=True)
class Node:
    """Text, a list or a mapping, with its path and line."""

    value: "str | list[Node] | dict[str, Node]"
    path: str
    line: int | None

    def error(self, code: FaultCode, message: str) -> AuthoringError:
        """Return an AuthoringError at this place."""
        return AuthoringError(code, message, self.path, self.line)

    def plain(self) -> Plain:
        """Return the value as text, lists and mappings."""
        if isinstance(self.value, dict):
            return {key: member.plain() for key, member in self.value.items()}
        if isinstance(self.value, list):
            return [member.plain() for member in self.value]
        return self.value

    def line_of(self, path: str) -> int | None:
        """Return the line of the deepest existing node along a path below this one."""
        node = self
        for step in re.findall(r"[^.\[\]]+", path):
            inner: Node | None = None
            if isinstance(node.value, dict):
                inner = node.value.get(step)
            elif isinstance(node.value, list) and step.isdigit() and int(step) < len(node.value):
                inner = node.value[int(step)]
            if inner is None:
                break
            node = inner
        return node.line

    def items(self) -> "list[Node]":
        """Return the members of a list. Raise AuthoringError if this is not a list."""
        if not isinstance(self.value, list):
            raise self.error("not_a_list", "must be a list")
        return self.value

    def members(self) -> "dict[str, Node]":
        """Return the members of a mapping. Raise AuthoringError if this is not a mapping."""
        if not isinstance(self.value, dict):
            raise self.error("not_a_mapping", "must be a mapping of keys to values")
        return self.value

    def mapping(self, required: Iterable[str], optional: Iterable[str]) -> "dict[str, Node]":
        """Return the members of a mapping. Raise AuthoringError if a key is missing or unknown."""
        members, allowed = self.members(), {*required, *optional}
        for key, node in members.items():
            if key not in allowed:
                raise node.error("unknown_key", f"unknown key; the keys allowed here are {', '.join(sorted(allowed))}")
        for key in required:
            if key not in members:
                raise self.error("missing_key", f"{key} is missing")
        return members

    @property
    def is_blank(self) -> bool:
        """Whether this is empty text or only white space."""
        return isinstance(self.value, str) and not self.value.strip()

    def text(self) -> str:
        """Return the text on one line, without surrounding space.

        Raise AuthoringError if it is empty or has invisible characters. The error names them.
        """
        if not isinstance(self.value, str):
            raise self.error("not_text", "must be text")
        if self.is_blank:
            raise self.error("empty", "is empty")
        if invisible := find_invisible(self.value):
            raise self.error("invisible_character", invisible[1])
        return re.sub(r"\s*\n\s*", " ", self.value.strip())

    def prose(self) -> str:
        """Return text of several lines: a line break is a space, an empty line a paragraph separator (U+2029)."""
        self.text()
        paragraphs = re.split(r"\n\s*\n", str(self.value).strip())
        return "\u2029".join(" ".join(paragraph.split()) for paragraph in paragraphs)

    def boolean(self) -> bool:
        """Return a boolean. Raise AuthoringError if the text is not a boolean."""
        word = self.text().lower()
        if word not in ("true", "false", "yes", "no"):
            raise self.error("not_boolean", "must be true or false")
        return word in ("true", "yes")

    def one_of(self, *words: str) -> str:
        """Return the text. Raise AuthoringError if it is not one of these words."""
        if (word := self.text()) not in words:
            raise self.error("unknown_word", f"must be one of {', '.join(words)}")
        return word

    def decimal(self) -> Decimal:
        """Return a decimal number written in plain digits. Raise AuthoringError if it is not one."""
        if not NUMBER.fullmatch(text := self.text()):
            raise self.error("not_a_number", f"{text[:40]!r} is not a plain decimal number such as 0.5")
        return Decimal(text)

    def canonical_number(self) -> int | str:
        """Return a decimal as the definition writes it.

        Raise AuthoringError if it has too many decimals, since rounding would change it.
        """
        value = self.decimal()
        if len(f"{value:f}".partition(".")[2].rstrip("0")) > MOST_DECIMALS:
            raise self.error("too_many_decimals", f"has more than {MOST_DECIMALS} decimal places")
        return spell(value)

    def epsilon(self) -> Fraction:
        """Return a requested ε, cut to the decimals of a definition, so that the published ε is never larger.

        Raise AuthoringError if it is not a positive number, or too small.
        """
        value = self.positive("ε").quantize(EPSILON_STEP, ROUND_FLOOR)
        if not value:
            raise self.error("too_small", "ε is so small that nothing can be estimated")
        return Fraction(value)

    def integer(self, least: int) -> int:
        """Return an integer of at least `least`. Raise AuthoringError if it is not one."""
        if not NUMBER.fullmatch(text := self.text()):
            raise self.error("not_an_integer", f"{text[:40]!r} is not a whole number in plain digits, such as 8000")
        value = self.decimal()
        if value != value.to_integral_value() or value < least:
            raise self.error("not_an_integer", f"must be an integer of at least {least}")
        return int(value)

    def share(self) -> Fraction:
        """Return a probability, written as a decimal or as a fraction like 5/6.

        Raise AuthoringError if it is not one.
        """
        text = self.text()
        value = Fraction(text) if FRACTION.fullmatch(text) else Fraction(self.decimal())
        if not 0 <= value <= 1:
            raise self.error("not_a_share", "must be from 0 to 1")
        return value

    def positive(self, noun: str) -> Decimal:
        """Return a positive, finite decimal. Otherwise raise AuthoringError, with this noun for the number."""
        if self.text().lower().lstrip("+-.") in ("inf", "infinity", "nan"):
            raise self.error("not_finite", f"{noun} must be finite")
        if (value := self.decimal()) <= 0:
            raise self.error("not_positive", f"{noun} must be positive")
        return value

    def timestamp(self) -> datetime:
        """Return a date and time with its zone. Raise AuthoringError if it is not one."""
        try:
            return parse_timestamp(self.text())
        except TimestampError as error:
            raise self.error(error.code, str(error)) from None


def parse_source(source: bytes, *, json_file: bool = False) -> Node:
    """Return the tree of a YAML file, or of a JSON file. Raise AuthoringError if it cannot be parsed."""
    if len(source) > LARGEST_FILE:
        raise AuthoringError("too_large", f"the file is too large: at most {LARGEST_FILE} bytes are allowed")
    try:
        text = source.decode("utf-8-sig")
        return _from_json(text) if json_file else _from_yaml(text)
    except UnicodeDecodeError as error:
        raise AuthoringError(
            "not_utf8", f"the file is not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from None
    except RecursionError:
        raise AuthoringError("too_deep", "the file is nested too deeply") from None


def _from_yaml(text: str) -> Node:
    parser = YAML(typ="safe", pure=True)
    try:
        events = list(_limit_events(parser.parse(text)))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise AuthoringError("not_yaml", f"not YAML: {error.problem}", line=mark.line + 1 if mark else None) from None
    except ReaderError as error:
        raise AuthoringError(
            "not_yaml", f"not YAML: {error.reason}", line=text.count("\n", 0, error.position) + 1
        ) from None
    except (ValueError, OverflowError) as error:
        raise AuthoringError("not_yaml", f"not YAML: {error}") from None
    if sum(isinstance(event, DocumentStartEvent) for event in events) != 1:
        raise AuthoringError("not_one_survey", "the file must contain exactly one survey")
    return _node(iter(events[2:]), "")


def _limit_events(events: Iterable[Any]) -> Iterator[Any]:
    """Yield the events. Raise AuthoringError beyond a number and a depth that no survey needs.

    Beyond these limits the parser would take long.
    """
    depth = 0
    for count, event in enumerate(events, 1):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > DEEPEST:
            raise AuthoringError("too_deep", "nested too deeply", line=event.start_mark.line + 1)
        if count > MOST_EVENTS:
            reason = f"the file is too large: at most {MOST_EVENTS} words, lists and mappings are allowed"
            raise AuthoringError("too_large", reason, line=event.start_mark.line + 1)
        yield event


def _node(events: Iterator[Any], path: str) -> Node:
    """Return the node that the next events describe.

    Raise AuthoringError for an alias, an anchor, a tag or a repeated key.
    """
    event = next(events)
    line = event.start_mark.line + 1
    if isinstance(event, AliasEvent):
        raise AuthoringError(
            "alias", "aliases (*name) are not supported; write the value out, or put the text in quotes", path, line
        )
    if event.anchor is not None or event.tag is not None:
        raise AuthoringError(
            "anchor_or_tag",
            "anchors (&name) and tags (!name) are not supported; remove them, or put the text in quotes",
            path,
            line,
        )
    if isinstance(event, ScalarEvent):
        return Node(event.value, path, line)
    if isinstance(event, SequenceStartEvent):
        items: list[Node] = []
        while not isinstance((item_event := next(events)), SequenceEndEvent):
            items.append(_node(chain([item_event], events), f"{path}[{len(items)}]"))
        return Node(items, path, line)
    members: dict[str, Node] = {}
    while not isinstance((key := next(events)), MappingEndEvent):
        if not isinstance(key, ScalarEvent) or key.tag is not None or key.anchor is not None:
            raise AuthoringError("bad_key", "a key must be a plain word", path, key.start_mark.line + 1)
        if key.value in members:
            raise AuthoringError("duplicate_key", f"{key.value} occurs twice", path, key.start_mark.line + 1)
        members[key.value] = _node(events, f"{path}.{key.value}" if path else key.value)
    return Node(members, path, line)


def _from_json(text: str) -> Node:
    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            repeated = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
            raise AuthoringError("duplicate_key", f"{repeated} occurs twice")
        return dict(pairs)

    try:
        value = json.loads(text, object_pairs_hook=members, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        raise AuthoringError("not_json", f"not JSON: {error.msg}", line=error.lineno) from None

    def node(value: Any, path: str) -> Node:
        if isinstance(value, dict):
            children = {key: node(child, f"{path}.{key}" if path else key) for key, child in value.items()}
            return Node(children, path, None)
        if isinstance(value, list):
            return Node([node(child, f"{path}[{i}]") for i, child in enumerate(value)], path, None)
        return Node({True: "true", False: "false", None: ""}.get(value, value), path, None)

    return node(value, "")


@dataclass(frozen=True)
class Content:
    """An author's file that is valid YAML: its text, its tree with paths and lines, and its plain data."""

    text: str
    tree: Node
    data: dict[str, Plain]

    @property
    def questions(self) -> list[Plain]:
        """The entries in the list of questions; empty if it is not a list."""
        questions = self.data.get("questions")
        return questions if isinstance(questions, list) else []

    def question(self, position: int) -> dict[str, Plain]:
        """Return one question. Raise AuthoringError if there is none at this position."""
        question = self.questions[position] if 0 <= position < len(self.questions) else None
        if not isinstance(question, dict):
            raise AuthoringError("unknown_question", "This question no longer exists.")
        return question


def read_content(source: bytes, *, json_file: bool = False) -> Content:
    """Return the content of a file. Raise AuthoringError if it is not YAML, or not JSON, or not a mapping."""
    result = _read_content(source, json_file)
    if isinstance(result, AuthoringError):
        raise AuthoringError(result.code, result.reason, result.path, result.line)
    return result


@lru_cache(maxsize=8)
def _read_content(source: bytes, json_file: bool) -> Content | AuthoringError:
    """Parse a file once for all lookups of a page, and cache its error as well."""
    try:
        tree = parse_source(source, json_file=json_file)
        tree.members()
    except AuthoringError as error:
        return error.with_traceback(None)
    return Content(source.decode("utf-8-sig"), tree, cast(dict[str, Plain], tree.plain()))
