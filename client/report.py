"""A report: an id and the noisy bits, and a ticket where the survey is by invitation. Nothing else leaves the device.

Bits of all fields in order, most significant first, padded with zeros to a byte; with `ask`, each field is preceded
by one asked bit, and an unasked field is all zeros. Every report to a survey has the same size, whatever was answered.
The id is sixteen random bytes; with a ticket it follows from that, so that a ticket is good for one report.
"""

import binascii
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from client.answer import encode, symbol_of
from client.definition import Survey
from client.errors import ReportError, TicketNeeded
from client.sampling import RandomBytes, below, take
from client.ticket import ID_BYTES as ID_BYTES  # of every report, with a ticket or without
from client.ticket import Ticket, ticket_id

_TO_URL, _FROM_URL = bytes.maketrans(b"+/", b"-_"), bytes.maketrans(b"-_", b"+/")


@dataclass(frozen=True)
class Report:
    """What is sent: the digest of the survey, an id, the bits, and the ticket if it takes one."""

    survey: str
    id: bytes
    bits: bytes
    ticket: Ticket | None = None

    def to_json(self) -> bytes:
        """The wire form."""
        more = ""
        if self.ticket:
            prefix, signature = to_text(self.ticket.prefix), to_text(self.ticket.signature)
            more = f',"ticket":{{"prefix":"{prefix}","signature":"{signature}"}}'
        return f'{{"survey":"{self.survey}","id":"{to_text(self.id)}","bits":"{to_text(self.bits)}"{more}}}'.encode()


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
    ticket: Ticket | None = None,
    random_bytes: RandomBytes = secrets.token_bytes,
) -> Report:
    """One report from fresh noise; `asked` is a field's index, for a draw that was made before.

    Pure: it neither verifies the survey nor consults a ledger; `respond` does. Where the survey is by invitation, the
    ticket gives the report its id.
    """
    if survey.tickets is None and ticket is not None:
        raise ValueError("this survey takes no tickets")
    if survey.tickets:
        if ticket is None:
            raise TicketNeeded("this survey takes reports with a ticket only; take one with the link of an invitation")
        ticket.check(survey.tickets.key, survey.digest)
    bits = draw_bits(survey, answers, asked=asked, random_bytes=random_bytes)
    return Report(survey.digest, ticket_id(ticket.prefix) if ticket else take(ID_BYTES, random_bytes), bits, ticket)


def draw_bits(
    survey: Survey, answers: Mapping[str, Any], *, asked: int | None = None, random_bytes: RandomBytes
) -> bytes:
    """The noisy bits of all fields, or of the asked one; it is drawn first, if it was not before."""
    if asked is not None and not (survey.ask and 0 <= asked < len(survey.fields)):
        raise ValueError(f"{asked} is not the index of a field that a device may draw")
    indices = encode(survey, answers, asked)
    if survey.ask and asked is None:
        asked = draw_asked(survey, random_bytes)
    bits = 0
    for position, field in enumerate(survey.fields):
        mine = asked in (None, position)
        if survey.ask:
            bits = bits << 1 | mine
        bits <<= field.mechanism.width
        if mine:
            codes = [indices[question.id] for question in field.questions]
            bits |= field.mechanism.randomize(symbol_of(field, codes, random_bytes), random_bytes)
    return (bits << -survey.width % 8).to_bytes(survey.length, "big")


def draw_asked(survey: Survey, random_bytes: RandomBytes) -> int:
    """The field that this device answers, drawn by the chances of the fields; no answer has a part in it."""
    left = below(sum(field.chance for field in survey.fields), random_bytes)
    for position, field in enumerate(survey.fields):
        left -= field.chance
        if left < 0:
            return position
    raise AssertionError("the chances do not add up")


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
