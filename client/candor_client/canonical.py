"""Canonical JSON: one spelling for every definition, so that a digest identifies one meaning.

UTF-8, sorted keys, no spaces, no floats, integers below 2^53, no duplicate keys. Bytes that differ from their own
re-serialization are refused, never repaired. Text is not normalized.
Lone surrogates, control characters and bidirectional overrides are refused, so that a reader sees the text as it is.
As of 0.9 invisible characters are refused too, so that two texts that look alike are equal.
"""

import json
import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NoReturn

from candor_client.errors import DefinitionError

SAFE = 2**53
DEEPEST = 500  # no definition comes near; the limit of an interpreter must not matter
FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_JOINED = "\u0600-\u1fff\u2070-\U0010ffff"  # a joiner is visible between two of these, as in Persian and Hindi
INVISIBLE = re.compile(
    "[\u00ad\u115f\u1160\u180e\u200b\u2060-\u2064\u206a-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb"
    f"\U000e0000-\U000e007f]|[\u200c\u200d](?![{_JOINED}])|(?<![{_JOINED}])[\u200c\u200d]"
)
THRESHOLD = re.compile(r"[1-9][0-9]{0,19}")
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
FRACTIONAL = re.compile(r"-?(0|[1-9][0-9]{0,15})\.[0-9]{0,15}[1-9]")


def dumps(value: Any) -> bytes:
    """Return the canonical bytes of a value made of dicts, lists, text, integers and booleans."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8")


def loads(source: bytes) -> Any:
    """Return the value of canonical bytes; raise DefinitionError for any other bytes."""
    try:
        value = json.loads(
            source.decode("utf-8"),
            object_pairs_hook=_object,
            parse_float=_refuse_number,
            parse_int=_integer,
            parse_constant=_refuse_number,
        )
        is_canonical = not _deep(value) and dumps(value) == source
    except (ValueError, RecursionError) as error:
        raise DefinitionError("not_canonical", "", f"not canonical JSON: {error}") from None
    if not is_canonical:
        raise DefinitionError("not_canonical", "", "these bytes are not in canonical form")
    return value


def _deep(value: Any) -> bool:
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        inner = (item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list))
        level, depth = [child for children in inner for child in children], depth + 1
    return depth > DEEPEST


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key occurs twice")
    return value


def _integer(text: str) -> int:
    if len(text) > 17 or abs(int(text)) >= SAFE:
        raise ValueError(f"{text[:20]} is not below 2^53")
    return int(text)


def _refuse_number(text: str) -> NoReturn:
    raise ValueError(f"{text[:20]} is not an integer")


def parse_text(value: Any, path: str) -> str:
    """Return a value that is non-empty text without control characters; raise DefinitionError for any other."""
    if not isinstance(value, str):
        raise DefinitionError("bad_value", path, "must be text")
    if not value.strip():
        raise DefinitionError("bad_value", path, "must not be empty")
    if FORBIDDEN.search(value):
        raise DefinitionError(
            "bad_value", path, "contains a control character, a bidirectional override or an incomplete character"
        )
    return value


def find_invisible(value: Any, path: str = "") -> tuple[str, str] | None:
    """Return the path to the first text with an invisible character and a sentence about it; None if there is none."""
    if isinstance(value, str) and (match := INVISIBLE.search(value)):
        character = match.group()
        name = unicodedata.name(character, "a character without a name")
        return path, f"contains the invisible character U+{ord(character):04X} ({name}); delete it"
    inner: Iterable[tuple[str, Any]] = ()
    if isinstance(value, dict):
        inner = ((f"{path}.{key}" if path else key, child) for key, child in value.items())
    elif isinstance(value, list):
        inner = ((f"{path}[{i}]", child) for i, child in enumerate(value))
    return next(filter(None, (find_invisible(child, place) for place, child in inner)), None)


def parse_integer(value: Any, path: str, low: int, high: int = SAFE - 1) -> int:
    """Return an integer from low to high; raise DefinitionError for any other value, true and false included."""
    if type(value) is not int or not low <= value <= high:
        raise DefinitionError("bad_value", path, f"must be an integer from {low} to {high}")
    return value


def parse_threshold(value: Any, path: str) -> int:
    """Return a probability times 2^64 from a decimal string, 1 to 2^64 − 1; raise DefinitionError for any other."""
    if not isinstance(value, str) or not THRESHOLD.fullmatch(value) or int(value) >= 2**64:
        raise DefinitionError("bad_value", path, "must be a decimal string from 1 to 2^64 - 1")
    return int(value)


def parse_decimal(value: Any, path: str) -> Decimal:
    """Return a decimal from an integer, or from text such as "0.25"; raise DefinitionError for any other spelling."""
    if type(value) is int or (isinstance(value, str) and FRACTIONAL.fullmatch(value)):
        return Decimal(value)
    raise DefinitionError("bad_value", path, 'must be an integer, or text such as "0.25"')


def spell(value: Decimal) -> int | str:
    """Return the canonical spelling of a decimal; the inverse of `parse_decimal`."""
    return int(value) if value == value.to_integral_value() else f"{value:f}".rstrip("0")


def check_keys(value: Any, path: str, required: Iterable[str], optional: Iterable[str] = ()) -> None:
    """Raise DefinitionError unless the value is an object with these keys and no others."""
    if not isinstance(value, dict):
        raise DefinitionError("bad_value", path, "must be an object")
    allowed = {*required, *optional}
    for key in value:
        if key not in allowed:
            raise DefinitionError("unknown_key", path, f"unknown key {key[:40]!r}")
    for key in required:
        if key not in value:
            raise DefinitionError("missing_key", path, f"{key} is missing")


def parse_list(value: Any, path: str, least: int) -> list[Any]:
    """Return a list with at least `least` items; raise DefinitionError for any other value."""
    if not isinstance(value, list):
        raise DefinitionError("bad_value", path, "must be a list")
    if len(value) < least:
        raise DefinitionError("bad_value", path, f"must have at least {'two entries' if least == 2 else 'one entry'}")
    return value


def parse_labels(value: Any, path: str, least: int) -> tuple[str, ...]:
    """Return a list of texts that all differ; raise DefinitionError for any other value."""
    labels = tuple(parse_text(label, f"{path}[{i}]") for i, label in enumerate(parse_list(value, path, least)))
    if len(set(labels)) != len(labels):
        raise DefinitionError("bad_value", path, "must differ from one another")
    return labels


def parse_name(value: Any, path: str) -> str:
    """Return a slug or an id; raise DefinitionError if it is neither."""
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise DefinitionError("bad_value", path, "must be 1 to 63 of a-z, 0-9, _ and -, not starting with - or _")
    return value


def parse_true(value: Any, path: str) -> bool:
    """Return True; raise DefinitionError for any other value. A definition leaves the key out instead of false."""
    if value is not True:
        raise DefinitionError("bad_value", path, "must be true, or left out")
    return True
