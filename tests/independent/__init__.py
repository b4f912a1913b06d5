"""A client written from docs/protocol.md alone, by the letter and not for speed: it proves that the page is complete.

It imports nothing of ours. It reads numbers, spellings and keys out of the page, so that a wrong one there fails;
`tests/docs/test_protocol.py` checks it against all vectors and against the real server.
"""

import base64
import hashlib
import re
import unicodedata
from fractions import Fraction
from pathlib import Path
from typing import Any

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
NUMBERS = {
    name: int(value.replace(",", "")) for name, value in re.findall(r"^\| ([^|`]+) \| ([\d,]+) \|$", PAGE, re.MULTILINE)
}
SPELLINGS = dict(re.findall(r"^    ([a-z]+) {3,}(\S+)$", PAGE.partition("### Spellings")[2].partition("\n- ")[0], re.M))
KEYS = {
    name.replace("`", ""): (re.findall(r"`(\w+)`", must), re.findall(r"`(\w+)`", may.replace("with `ask`", "")))
    for name, must, may in re.findall(r"^\| ([\w `]+) \| ((?:`\w+` ?)+) \| (.*)\|$", PAGE, re.MULTILINE)
}
FORMAT = re.findall(r"The format is `(.*?)`", PAGE)[0]
TICKET = re.findall(r'SHA-256\("(.*?)" ‖ 0x00 ‖ prefix\)', PAGE)[0].encode() + b"\0"
WHOLE = 2**64

Object = dict[str, Any]


class DefinitionRefusal(Exception):
    """A definition or a reply that a device must refuse."""


def need(fine: object, why: str = "") -> None:
    if not fine:
        raise DefinitionRefusal(why)


def matches_spelling(value: Any, name: str) -> bool:
    return isinstance(value, str) and re.fullmatch(SPELLINGS[name], value) is not None


def keys(value: Any, kind: str) -> None:
    must, may = KEYS[kind]
    need(isinstance(value, dict) and {*must} <= value.keys() <= {*must, *may}, kind)


def text(value: Any) -> str:
    need(isinstance(value, str) and not re.search(SPELLINGS["forbidden"], value))
    need(not re.search(SPELLINGS["invisible"], value))
    for place, one in enumerate(value):
        beside = [*value[max(place - 1, 0) : place], *value[place + 1 : place + 2]]
        need(
            not matches_spelling(one, "joiner")
            or (len(beside) == 2 and all(matches_spelling(other, "joined") for other in beside))
        )
    need(any(unicodedata.category(one) != "Zs" and one not in "\u2028\u2029" for one in value))
    return str(value)


def decimal(value: Any) -> Fraction:
    need(type(value) is int or matches_spelling(value, "decimal"))
    return Fraction(value)


def integer(value: Any, low: int, high: int) -> int:
    need(type(value) is int and low <= value <= high)
    return int(value)


def items(value: Any, least: int) -> list[Any]:
    need(isinstance(value, list) and len(value) >= least)
    return list(value)


def labels(value: Any, least: int = 2) -> list[str]:
    found = [text(one) for one in items(value, least)]
    need(len({*found}) == len(found))
    return found


def spell(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unspell(said: str) -> bytes:
    return base64.urlsafe_b64decode(said + "=" * (-len(said) % 4))


def digest_of(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()
