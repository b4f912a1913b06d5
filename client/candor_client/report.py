"""Reports: an id, the noisy bits, and a ticket if the survey is by invitation. Nothing else leaves the device.

The bits of all fields stand in order, most significant first, padded with zeros to a byte.
With `ask`, each field is preceded by one asked bit, and the bits of a field that is not asked are zeros.
Every report to a survey has the same size, regardless of the answers.
The id is sixteen random bytes. With a ticket it is derived from the ticket, which is thus valid for one report only.
"""

import binascii
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from candor_client.answer import encode, symbol_of
from candor_client.definition import Survey
from candor_client.errors import ReportError, TicketNeeded
from candor_client.sampling import RandomBytes, draw_below, draw_bytes
from candor_client.ticket import ID_BYTES as ID_BYTES  # of every report, with a ticket or without
from candor_client.ticket import Ticket, ticket_id

_TO_URL, _FROM_URL = bytes.maketrans(b"+/", b"-_"), bytes.maketrans(b"-_", b"+/")


@dataclass(frozen=True)
class Report:
    """The data that is sent: the digest of the survey, an id, the bits, and the ticket if the survey takes one."""

    survey: str
    id: bytes
    bits: bytes
    ticket: Ticket | None = None

    def to_json(self) -> bytes:
        """Return the report as the JSON that is sent."""
        ticket = ""
        if self.ticket:
            prefix, signature = to_base64url(self.ticket.prefix), to_base64url(self.ticket.signature)
            ticket = f',"ticket":{{"prefix":"{prefix}","signature":"{signature}"}}'
        name, bits = to_base64url(self.id), to_base64url(self.bits)
        return f'{{"survey":"{self.survey}","id":"{name}","bits":"{bits}"{ticket}}}'.encode()


def to_base64url(data: bytes) -> str:
    """Return bytes as base64url without padding."""
    return binascii.b2a_base64(data, newline=False).translate(_TO_URL).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    """Return the bytes of base64url text; raise ReportError for a spelling that `to_base64url` does not produce."""
    try:
        data = binascii.a2b_base64(text.encode("ascii").translate(_FROM_URL) + b"=" * (-len(text) % 4))
    except ValueError:
        data = b""
    if to_base64url(data) != text:
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
    """Return one report with fresh noise; raise AnswerError, TicketNeeded or BadTicket.

    `asked` is the index of the field that was drawn before, if one was. The function neither verifies the survey nor
    reads a ledger; `respond` does both. With a ticket, the id of the report is derived from it.
    """
    if survey.tickets is None and ticket is not None:
        raise ValueError("this survey takes no tickets")
    if survey.tickets:
        if ticket is None:
            raise TicketNeeded(
                "this survey accepts only reports with a ticket; take a ticket with the link of your invitation"
            )
        ticket.check(survey.tickets.key, survey.digest)
    bits = draw_bits(survey, answers, field_index=asked, random_bytes=random_bytes)
    return Report(
        survey.digest, ticket_id(ticket.prefix) if ticket else draw_bytes(ID_BYTES, random_bytes), bits, ticket
    )


def draw_bits(
    survey: Survey, answers: Mapping[str, Any], *, field_index: int | None = None, random_bytes: RandomBytes
) -> bytes:
    """Return the noisy bits of all fields; with `ask`, of one field, drawn here if `field_index` is None."""
    if field_index is not None and not (survey.ask and 0 <= field_index < len(survey.fields)):
        raise ValueError(f"{field_index} is not the index of a field that a device may draw")
    indices = encode(survey, answers, field_index)
    if survey.ask and field_index is None:
        field_index = draw_field(survey, random_bytes)
    bits = 0
    for position, field in enumerate(survey.fields):
        is_answered = field_index in (None, position)
        if survey.ask:
            bits = bits << 1 | is_answered
        bits <<= field.mechanism.width
        if is_answered:
            codes = [indices[question.id] for question in field.questions]
            bits |= field.mechanism.randomize(symbol_of(field, codes, random_bytes), random_bytes)
    return (bits << -survey.width % 8).to_bytes(survey.length, "big")


def draw_field(survey: Survey, random_bytes: RandomBytes) -> int:
    """Return the index of the field that this device answers, drawn by the chances alone and not by any answer."""
    remaining = draw_below(sum(field.chance for field in survey.fields), random_bytes)
    for position, field in enumerate(survey.fields):
        remaining -= field.chance
        if remaining < 0:
            return position
    raise AssertionError("the chances do not add up")


def unpack(survey: Survey, bits: bytes) -> list[int | None]:
    """Return the bits of every field, None if it was not asked; raise ReportError for impossible bits."""
    padding = -survey.width % 8
    value = int.from_bytes(bits, "big")
    if len(bits) != survey.length or value & ((1 << padding) - 1):
        raise ReportError(
            "impossible_bits", f"a report to this survey must have {survey.width} bits, padded with zeros"
        )
    value >>= padding
    remaining = survey.width
    fields: list[int | None] = []
    for position, field in enumerate(survey.fields):
        is_answered = True
        if survey.ask:
            remaining -= 1
            is_answered = bool(value >> remaining & 1)
        remaining -= field.mechanism.width
        part = value >> remaining & ((1 << field.mechanism.width) - 1)
        if not (field.mechanism.is_possible(part) if is_answered else part == 0):
            raise ReportError("impossible_bits", f"field {position}: no device could have sent these bits")
        fields.append(part if is_answered else None)
    if survey.ask and len(fields) - fields.count(None) != 1:
        raise ReportError("impossible_bits", "each device must answer exactly one field")
    return fields
