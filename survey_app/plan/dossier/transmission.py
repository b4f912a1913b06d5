"""The data that a device sends, shown as an example report byte for byte, and the part of an invitation.

The answers are made up. The coins are SHA-256 of the digest and a counter, so the document is the same each time. The
ticket is made up too: only the holder of the key can sign one.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import count as counting
from typing import Any

from candor_client.answer import encode
from candor_client.definition import Survey
from candor_client.description import describe, format_answers
from candor_client.question import Question
from candor_client.report import Report, randomize, unpack
from candor_client.sampling import RandomBytes, draw_bytes
from candor_client.ticket import MODULUS_BYTES, PREFIX_BYTES, Ticket, ticket_id
from survey_app.kinds import kind_of
from survey_app.languages import Words
from survey_app.languages.markup import Block, Bullets, Code, Mono, Paragraph, Table
from survey_app.plan.dossier.subject import Subject
from survey_app.results.bit_meanings import field_name

WORDS = Words("en")
NO_DIGEST = "0" * 64


def make_example(subject: Subject) -> tuple[dict[str, Any], Report]:
    """Return made-up answers, and the report that a device would send for them; the same each time."""
    survey = subject.survey
    answers = {question.id: _make_up_answer(question, survey.digest) for question in survey.questions}
    coins = _make_repeatable_coins(survey.digest)
    report = randomize(replace(survey, tickets=None), answers, random_bytes=coins)
    if subject.is_by_invitation:
        ticket = Ticket(draw_bytes(PREFIX_BYTES, coins), draw_bytes(MODULUS_BYTES, coins))
        report = replace(report, id=ticket_id(ticket.prefix), ticket=ticket)
    return answers, replace(report, survey=NO_DIGEST) if subject.is_keyless else report


def _make_up_answer(question: Question, seed: str) -> Any:
    number = int.from_bytes(hashlib.sha256(f"{seed}{question.id}".encode()).digest()[:8], "big")
    return kind_of(question).paper_example(question, number)


def _make_repeatable_coins(seed: str) -> RandomBytes:
    """Return a source of bytes that are the same each time, for examples only."""
    stream = (byte for number in counting() for byte in hashlib.sha256(f"example {seed} {number}".encode()).digest())
    return lambda size: bytes(next(stream) for _ in range(size))


def describe_transmission(subject: Subject) -> Iterator[Block]:
    """Yield the example report: its parts, then the complete request body."""
    survey = subject.survey
    answers, report = make_example(subject)
    body = report.to_json()
    yield Paragraph(
        "This is an example of a report, as a device would send it, from answers that were made up for this document."
        " The answers themselves never leave the device."
    )
    yield Table(["part", "made-up answer", "what the report says", "as bits"], [*_list_parts(survey, answers, report)])
    yield Paragraph(f"The complete body of the request, {len(body)} bytes, with nothing else in it:")
    yield Code(body.decode())
    yield Paragraph(" ".join(_explain_members(subject)))


def _list_parts(survey: Survey, answers: dict[str, Any], report: Report) -> Iterator[list[str]]:
    indices = encode(survey, answers)
    for field, bits in zip(survey.fields, unpack(survey, report.bits), strict=True):
        meaning = "not asked: nothing is sent" if bits is None else describe(field, bits)
        bit_string = "0" * field.mechanism.width if bits is None else f"{bits:0{field.mechanism.width}b}"
        yield [Mono(field_name(field)), format_answers(field, indices), meaning, Mono(bit_string)]


def _explain_members(subject: Subject) -> Iterator[str]:
    """Yield a sentence about each member of a report."""
    key_note = ". It is made at publishing, so zeros are shown here" if subject.is_keyless else ""
    yield f"“survey” is the digest of the definition{key_note}."
    ticket_note = ", derived from the ticket," if subject.is_by_invitation else ""
    yield f"“id” is a random number{ticket_note} that serves only to count a report once. “bits” are the noisy bits."
    if subject.is_by_invitation:
        yield (
            "“ticket” is a blind signature, given for an invitation, that its signer cannot recognise. The ticket shown"
            " here is made up, and nobody signed it."
        )
    yield "Every report has this size, whatever was answered."


def describe_invitations(subject: Subject) -> Iterator[Block]:
    """Yield the sentences of the privacy page about invitations and tickets."""
    yield Paragraph(WORDS("privacy.tickets"))
    yield Paragraph(f"{WORDS('privacy.tickets_unprotected')}:")
    opening = f"{subject.collection_start:%Y-%m-%d %H:%M} UTC" if subject.collection_start else ""
    phases = WORDS("privacy.tickets_phases", moment=opening) if opening else WORDS("privacy.tickets_visit")
    addresses = WORDS("privacy.tickets_addresses")
    if subject.issuer:
        addresses += f" {WORDS('privacy.tickets_issuer', issuer=subject.issuer)}"
    alone, times = WORDS("privacy.tickets_alone"), f"{WORDS('privacy.tickets_times')} {phases}"
    yield Bullets([alone, times, addresses, WORDS("privacy.tickets_key")])
