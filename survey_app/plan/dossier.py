"""One document for an ethics board, made from the definition before anybody is asked.

What is asked, what leaves a device (a report made with made-up answers, byte for byte), ε as odds, who could learn
what, what is kept, withdrawal, consent, the precision that so many respondents give, and the digest under which all of
it can be registered. Sentences about protection are those that respondents read on the privacy page. The document comes
out the same each time: the coins of its example are SHA-256 of the digest and a counter; a device takes its operating
system's.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import count as counting
from typing import Any

from client.answer import encode
from client.definition import Survey
from client.display import parted
from client.question import Question
from client.report import Report, randomize, unpack
from client.sampling import RandomBytes
from client.words import describe, explain, said
from survey_app.authoring import ADVISED_TOTAL, is_weak
from survey_app.authoring.terms import Terms
from survey_app.explain import written
from survey_app.explain.chances import SUSPICION, SUSPICIONS, raised, suspected, together, total
from survey_app.explain.languages import Words
from survey_app.explain.prose import Block, Bullets, Code, Heading, Mono, Paragraph, Table
from survey_app.plan.forecast import forecasts
from survey_app.plan.settings import Settings
from survey_app.results.asked import condition
from survey_app.results.bits import field_name, integers
from survey_app.results.codebook import TYPES, number_range, translated
from survey_app.store.steps import STEP

WORDS = Words("en")
MOST_SHOWN = 8  # options that a table names
UNKNOWN = "not decided yet"
MARGIN = 0.05  # to which the number of respondents is told too


def dossier(survey: Survey, terms: Terms, respondents: int) -> list[Block]:
    """The whole dossier."""
    return [
        Heading(1, f"{survey.title}: what this survey asks, and what it can learn"),
        *_summary(survey),
        Heading(2, "What is asked"),
        *_asked(survey),
        Heading(2, "What people agree to"),
        Paragraph(survey.consent or "No consent text is written yet; the author's file takes one under consent."),
        *([Heading(2, "What people read at the end")] if survey.thanks or survey.completion else []),
        *_end(survey),
        Heading(2, "What leaves the device"),
        *_report(survey),
        Heading(2, "How much a report can tell"),
        *_odds(survey),
        Heading(2, "Who could learn what"),
        *_who(survey),
        Heading(2, "What is kept, and for how long"),
        *_kept(terms),
        Heading(2, WORDS("privacy.withdraw_heading")),
        Paragraph(
            "Nothing can be withdrawn once it is sent, because nothing says whose it is. Respondents read this before"
            f" they answer: “{WORDS('privacy.withdraw')}”"
        ),
        Heading(2, "What so many respondents will show"),
        *_precision(survey, respondents),
        Heading(2, "Pre-registration"),
        *_registration(survey),
        *translated(survey),
    ]


def _summary(survey: Survey) -> Iterator[Block]:
    if survey.description:
        yield Paragraph(survey.description)
    yield Paragraph(
        "Answers are randomized on each respondent's own device before anything is sent (randomized response, local"
        " differential privacy). The server receives and keeps only noisy bits: it never has an answer. Shares of the"
        " whole group can be estimated, because the noise is known; what one person said cannot be told for certain."
    )
    asks = "one part of the questions, drawn on the device" if survey.ask else "all questions"
    yield Table(
        ["", ""],
        [
            ("Survey", Mono(survey.slug)),
            ("Digest of its definition", Mono(survey.digest)),
            *([("Study, group", f"{survey.study}, {survey.group}")] if survey.study else []),
            ("Contact", survey.contact or UNKNOWN),
            ("Questions", str(len(survey.questions))),
            ("A device answers", asks),
            ("ε of all that a person sends", written.epsilon(total(survey))),
        ],
    )


def _asked(survey: Survey) -> Iterator[Block]:
    for section, questions in parted(survey):
        if section:
            yield Heading(3, section.title)
            if section.text:
                yield Paragraph(section.text)
        yield Table(["id", "question", "answers"], [_row(survey, question) for question in questions])
    if survey.translations:
        others = ", ".join(words.language for words in survey.translations)
        yield Paragraph(
            f"The author has written all of this in {others} too; it stands at the end of this document. Respondents"
            " choose on their device, and nothing that is sent tells which language they read."
        )


def _row(survey: Survey, question: Question) -> list[str]:
    what = [TYPES[question.type], *([] if question.type == "yes_no" else [_possible(question)])]
    what += ["in an order that each device draws"] if question.shuffle else []
    what += ["may be left out"] if question.optional and not question.show_if else []
    told = condition(survey, question)
    return [Mono(question.id), question.text, "; ".join([*what, *([told] if told else [])])]


def _end(survey: Survey) -> Iterator[Block]:
    """What people read once a report is stored."""
    if survey.thanks:
        yield Paragraph(survey.thanks)
    if survey.completion:
        told = "opened only by whoever wants to: its server then sees that they come, not what they answered"
        more = f", {told}" if "://" in survey.completion else ""
        yield Paragraph(
            f"They are shown {survey.completion}, the same for everybody, so that it tells nobody apart{more}."
        )


def _possible(question: Question) -> str:
    if question.type == "number":
        return number_range(question)
    more = len(question.labels) - MOST_SHOWN
    return ", ".join(question.labels[:MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")


def example(survey: Survey) -> tuple[dict[str, Any], Report]:
    """Made-up answers and the report that a device would send for them, the same each time."""
    answers = {question.id: _made_up(question, survey.digest) for question in survey.questions}
    return answers, randomize(replace(survey, tickets=None), answers, random_bytes=_repeatable(survey.digest))


def _made_up(question: Question, seed: str) -> Any:
    number = int.from_bytes(hashlib.sha256(f"{seed}{question.id}".encode()).digest()[:8], "big")
    if question.type == "number":
        return f"{question.min + number % (question.steps + 1) * question.step:f}"
    if question.type == "multiple":
        return [label for i, label in enumerate(question.labels) if number >> i & 1]
    return question.labels[number % len(question.labels)]


def _repeatable(seed: str) -> RandomBytes:
    """Bytes that are the same each time: for an example on paper and for nothing else."""
    stream = (byte for number in counting() for byte in hashlib.sha256(f"example {seed} {number}".encode()).digest())
    return lambda size: bytes(next(stream) for _ in range(size))


def _report(survey: Survey) -> Iterator[Block]:
    answers, report = example(survey)
    body = report.to_json()
    yield Paragraph(
        "This is a report as a device would send it, made with answers that were made up for this document."
        " The answers never leave it."
    )
    indices = encode(survey, answers)
    rows = []
    for field, bits in zip(survey.fields, unpack(survey, report.bits), strict=True):
        sent = "not asked: nothing is sent" if bits is None else describe(field, bits)
        stored = "0" * field.mechanism.width if bits is None else f"{bits:0{field.mechanism.width}b}"
        rows.append([Mono(field_name(field)), said(field, indices), sent, Mono(stored)])
    yield Table(["part", "made-up answer", "what is sent says", "as bits"], rows)
    yield Paragraph(f"The whole body of the request, {len(body)} bytes, with nothing else in it:")
    yield Code(body.decode())
    yield Paragraph(
        "“survey” names the definition, “id” is a random number that serves only to count a report once, “bits” are the"
        " noisy bits. Every report has this size, whatever was answered."
        + (
            " With each goes a ticket: a blind signature that the server gave for an invitation and cannot recognise."
            if survey.tickets
            else ""
        )
    )


def _odds(survey: Survey) -> Iterator[Block]:
    spent = total(survey)
    yield Paragraph(
        f"All that a person sends has ε = {written.epsilon(spent)}: it multiplies the odds of any suspicion about them"
        f" by at most {written.times(spent)}, whatever else somebody knows. In numbers:"
    )
    rows = [[written.chance(suspected(before)), written.chance(raised(before, spent))] for before in SUSPICIONS]
    yield Table(["somebody thought the chance was", "the report could raise it to at most"], rows)
    if is_weak(spent):
        yield Paragraph(f"Authors are advised to stay at ε = {ADVISED_TOTAL} or below; this survey asks for more.")
    rows = [
        [
            Mono(field_name(field)),
            written.epsilon(field.mechanism.epsilon),
            written.chance(raised(SUSPICION, field.mechanism.epsilon)),
            explain(field),
        ]
        for field in survey.fields
    ]
    yield Table(["part", "ε", f"1 in {SUSPICION} can become at most", "what the device does"], rows)
    for tree in together(survey):
        ids = ", ".join(question.id for question in tree.questions)
        yield Paragraph(
            f"{ids} depend on one another, so what is sent of one speaks of the others too: about each of them ε ="
            f" {written.epsilon(tree.epsilon)} together, and 1 in {SUSPICION} can become at most"
            f" {written.chance(raised(SUSPICION, tree.epsilon))}."
        )


def _who(survey: Survey) -> Iterator[Block]:
    yield Table(
        ["who", "has", "and does not have"],
        [
            [
                "Researchers, and whoever sees the results",
                f"estimates and counts, in steps of at least {STEP} reports; exported noisy bits, in no order",
                "answers, names, times, addresses, or which report is whose",
            ],
            [
                "Whoever runs the server",
                "the noisy bits; while a report arrives they could see from where and when",
                "answers: the noise was added before. The software keeps no time, address or order",
            ],
            [
                "The network",
                "that a device visited the survey's server; over https no content",
                "answers",
            ],
            [
                "Whoever gets at the respondent's device",
                "what the device remembers of having answered",
                "anything from the server beyond what is listed above",
            ],
            ["The public", "the definition: questions, parameters, digest", "anything about anybody who took part"],
        ],
    )
    yield Paragraph("In the words that respondents read on the survey's privacy page. What is not stored:")
    yield Bullets(_section("unstored_", invited=survey.tickets is not None))
    yield Paragraph("What is not protected:")
    yield Bullets(_section("unprotected_"))


def _section(prefix: str, *, invited: bool = False) -> list[str]:
    """The sentences of the privacy page whose keys begin so, those about invitations only where there are some."""
    left_out = (f"{prefix}heading", *(() if invited else (f"{prefix}invitation",)))
    section = WORDS.section("privacy").items()
    return [text for key, text in section if key.startswith(prefix) and key not in left_out and "{" not in text]


def _kept(terms: Terms) -> Iterator[Block]:
    yield Paragraph(
        "Of a report the server keeps one row: the survey, the random number and the noisy bits. There is no time, no"
        " address and no order in it. Rows stay until the owner deletes the survey, which deletes all its versions and"
        " reports."
    )
    dates = [(name, getattr(terms, name, None)) for name in ("opens", "closes", "max_reports", "deletes")]
    rows = [[name.replace("_", " "), str(value)] for name, value in dates if value]
    rows.append(["results", "public" if terms.public else "private: for the owner alone"])
    yield Table(["term, which the owner may change", "as planned"], rows)


def _precision(survey: Survey, respondents: int) -> Iterator[Block]:
    settings = Settings(respondents=respondents, margin=MARGIN)
    lines = forecasts(survey, settings)
    yield Paragraph(
        f"Planned for {written.count(respondents)} respondents, with {written.percent(settings.confidence)} confidence,"
        " about a large population of which they are a random sample. Noise and sampling are both in these margins."
    )
    rows = [
        [
            Mono(line.id),
            line.assumption,
            line.margin_text() + (" (says nothing)" if line.says_nothing else ""),
            written.respondents(line.respondents),
        ]
        for line in lines
    ]
    part = written.percent(MARGIN)
    yield Table(["question", "a figure such as", "margin", f"respondents for ±{part} of its range"], rows)
    if any(line.says_nothing for line in lines):
        yield Paragraph(
            "Where a margin says nothing, so many respondents cannot answer the question: it should not be asked, or of"
            " more people."
        )


def _registration(survey: Survey) -> Iterator[Block]:
    yield Paragraph(
        "Questions, options and parameters are fixed by the definition below. It is public and cannot be changed under"
        " its digest: a changed one has another, and a device that was given a link with this one refuses it. To"
        " register the study, register the digest; to check it, compute SHA-256 of the definition's bytes."
    )
    yield Code(f"sha256 {survey.digest}")
    yield Table(
        ["part", "published integers"], [[Mono(field_name(field)), Mono(integers(field))] for field in survey.fields]
    )
    yield Paragraph(f"The definition, {len(survey.source)} bytes, in one line:")
    yield Code(survey.source.decode())
