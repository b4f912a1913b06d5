"""A report: sixteen random bytes and the noisy bits. It is all that ever leaves the device.

Bits of all fields in order, most significant first, padded with zeros to a byte; with `ask`, each field is preceded
by one asked bit, and an unasked field is all zeros. Every report to a survey has the same size, whatever was answered.
"""

import binascii
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from client.answer import encode, symbol_of
from client.definition import Field, Survey
from client.errors import ReportError, TicketNeeded
from client.sampling import RandomBytes, below

ID_BYTES = 16

_TO_URL, _FROM_URL = bytes.maketrans(b"+/", b"-_"), bytes.maketrans(b"-_", b"+/")


@dataclass(frozen=True)
class Report:
    """What is sent: the digest of the survey, a random id, the bits."""

    survey: str
    id: bytes
    bits: bytes

    def to_json(self) -> bytes:
        """The wire form."""
        return f'{{"survey":"{self.survey}","id":"{to_text(self.id)}","bits":"{to_text(self.bits)}"}}'.encode()


def to_text(data: bytes) -> str:
    """base64url without padding."""
    return binascii.b2a_base64(data, newline=False).translate(_TO_URL).rstrip(b"=").decode()


def from_text(text: str) -> bytes:
    """The inverse of `to_text`; any other spelling of the same bytes is refused."""
    try:
        data = binascii.a2b_base64(text.encode("ascii").translate(_FROM_URL) + b"=" * (-len(text) % 4))
    except ValueError:
        data = b""
    if to_text(data) != text:
        raise ReportError("malformed_report", "id and bits must be base64url without padding")
    return data


def randomize(
    survey: Survey,
    answers: Mapping[str, Any],
    *,
    asked: int | None = None,
    random_bytes: RandomBytes = secrets.token_bytes,
) -> Report:
    """One report from fresh noise; `asked` is a field's index, for a draw that was made before.

    Pure: it neither verifies the survey nor consults a ledger; `respond` does.
    """
    check_asked(survey, asked)
    indices = encode(survey, answers, asked)
    if survey.ask and asked is None:
        asked = draw_asked(survey, random_bytes)
    return assemble(survey, indices, asked, lambda field, codes: random_bytes, random_bytes)


def check_asked(survey: Survey, asked: int | None) -> None:
    """A field that can have been drawn: one of a survey with `ask`."""
    if asked is not None and not (survey.ask and 0 <= asked < len(survey.fields)):
        raise ValueError(f"{asked} is not the index of a field that a device may draw")


def draw_asked(survey: Survey, random_bytes: RandomBytes) -> int:
    """The field that this device answers, drawn by the chances of the fields; no answer has a part in it."""
    left = below(sum(field.chance for field in survey.fields), random_bytes)
    for position, field in enumerate(survey.fields):
        left -= field.chance
        if left < 0:
            return position
    raise AssertionError("the chances do not add up")


def assemble(
    survey: Survey,
    indices: Mapping[str, int],
    asked: int | None,
    noise: Callable[[Field, list[int]], RandomBytes],
    random_bytes: RandomBytes,
) -> Report:
    """A report of all fields, or of the asked one; a field draws from its own `noise`, the id from `random_bytes`."""
    if survey.tickets:
        raise TicketNeeded("this survey takes reports with a ticket only, which this client cannot fetch yet")
    bits = 0
    for position, field in enumerate(survey.fields):
        mine = asked in (None, position)
        if survey.ask:
            bits = bits << 1 | mine
        bits <<= field.mechanism.width
        if mine:
            codes = [indices[question.id] for question in field.questions]
            source = noise(field, codes)
            bits |= field.mechanism.randomize(symbol_of(field, codes, source), source)
    identity = random_bytes(ID_BYTES)
    if len(identity) != ID_BYTES:
        raise ValueError(f"random_bytes({ID_BYTES}) returned {len(identity)} bytes")
    return Report(survey.digest, identity, (bits << -survey.width % 8).to_bytes(survey.length, "big"))


def unpack(survey: Survey, bits: bytes) -> list[int | None]:
    """The bits of every field, None where it was not asked; ReportError if no device could have sent them."""
    padding = -survey.width % 8
    value = int.from_bytes(bits, "big")
    if len(bits) != survey.length or value & ((1 << padding) - 1):
        raise ReportError("impossible_bits", f"a report to this survey has {survey.width} bits, padded with zeros")
    value >>= padding
    left = survey.width
    fields: list[int | None] = []
    for position, field in enumerate(survey.fields):
        asked = True
        if survey.ask:
            left -= 1
            asked = bool(value >> left & 1)
        left -= field.mechanism.width
        part = value >> left & ((1 << field.mechanism.width) - 1)
        if not (field.mechanism.possible(part) if asked else part == 0):
            raise ReportError("impossible_bits", f"field {position}: no device could have sent these bits")
        fields.append(part if asked else None)
    if survey.ask and len(fields) - fields.count(None) != 1:
        raise ReportError("impossible_bits", "each device answers exactly one field")
    return fields
