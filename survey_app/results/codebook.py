"""The codebook of a survey: every question, symbol, field and stored bit, with p and q, ε, and the estimator.

It is made from the definition alone, so that an archive can keep it with the bits and can explain them without Candor.
`ddi` writes the same for machines.
"""

from collections.abc import Iterator

from candor_client.definition import Survey
from candor_client.display import group_by_section, translate_survey
from candor_client.question import Question
from candor_client.types import type_of
from survey_app.channels import channel_of
from survey_app.channels.posterior import total_epsilon
from survey_app.kinds import kind_of
from survey_app.languages.markup import Block, Bullets, Heading, Mono, Paragraph, Table
from survey_app.languages.numbers import format_epsilon, format_percent
from survey_app.results.bit_meanings import Bit, FieldBits, describe_estimator, field_bits, format_integers
from survey_app.results.denominators import describe_condition
from survey_app.tally import find_asked_bits

NOT_ASKED = (
    "A cell is missing where the device was not asked for it: empty in CSV, null in Parquet, system-missing in SPSS and"
    " Stata. So the share of ones in a column is a share of the devices that were asked, and n is the number of these"
    " devices. (In NDJSON, and in files of versions before 0.9, such a cell is 0. There, n is the number of ones in the"
    " asked bit of the field. For an option that is drawn, n is the number of ones in its two bits.)"
)
MOST_SYMBOLS = 200  # listed for one question
SYMBOL_COLUMNS = ["symbol", "stands for", "score"]


def make_codebook(survey: Survey, *, digest: str = "") -> list[Block]:
    """Return the whole codebook; `digest` replaces the survey's digest where that is made only at publishing."""
    fields = field_bits(survey)
    return [
        Heading(1, f"Codebook: {survey.title}"),
        *_survey(survey, digest or survey.digest),
        Heading(2, "Questions"),
        *_questions(survey, fields),
        Heading(2, "Fields and stored bits"),
        Paragraph(
            "A field is randomized as a unit: it is one question, or several together. A stored report is a row of"
            " bits, 1 or 0. Each bit is a column of the exported file. p is the probability of a 1 if the meaning of"
            " the bit is true of the respondent, and q if it is not. Both follow from the published integers."
        ),
        *(block for field in fields for block in _field(survey, field)),
        Heading(2, "How to read the bits"),
        Bullets(_explain_bits(survey)),
        *list_translations(survey),
    ]


def _survey(survey: Survey, digest: str) -> Iterator[Block]:
    facts = [
        ("Slug", Mono(survey.slug)),
        ("Definition, SHA-256", Mono(digest)),
        ("Language", survey.language),
        ("ε of a whole report", format_epsilon(total_epsilon(survey))),
        (
            "Each device answers",
            f"one of {len(survey.fields)} fields, drawn on the device" if survey.ask else "everything",
        ),
        ("Stored bits of a report", str(survey.width)),
    ]
    if survey.translations:
        facts.insert(3, ("Also in", ", ".join(translation.language for translation in survey.translations)))
    if survey.study:
        facts.insert(1, ("Study, group", f"{survey.study}, {survey.group}"))
    yield Table(["", ""], facts)
    for name in ("description", "consent", "contact", "thanks", "completion"):
        if text := getattr(survey, name):
            yield Heading(2, name.capitalize())
            yield Paragraph(text)


def _questions(survey: Survey, fields: list[FieldBits]) -> Iterator[Block]:
    """Yield the questions, below the headings that respondents see."""
    for section, questions in group_by_section(survey):
        if section:
            yield Heading(3, section.title)
            if section.text:
                yield Paragraph(section.text)
            if section.grid:
                yield Paragraph("A battery: statements with the same scale points, shown as one table where it fits.")
        for question in questions:
            yield Heading(4 if section else 3, question.id)
            yield from _question(survey, question, fields)


def _question(survey: Survey, question: Question, fields: list[FieldBits]) -> Iterator[Block]:
    yield Paragraph(question.text)
    kind = kind_of(question)
    facts = [("Type", kind.codebook_name), *kind.codebook_facts(question)]
    facts.append(("Can be skipped", "yes" if question.optional else "no"))
    if text := describe_condition(survey, question):
        facts.append(("Condition", text))
    if question.shuffle:
        facts.append(("Order of the options", "shuffled on each device"))
    field = next(field for field in fields if question in field.field.questions)
    facts.append(("Field", Mono(field.name)))
    yield Table(["", ""], facts)
    rows = _symbols(question)
    yield Table(SYMBOL_COLUMNS[: len(rows[0])], rows)


def _symbols(question: Question) -> list[list[str]]:
    """Return the meaning of each symbol, cut after the first of many; where symbols are sets, all of their elements."""
    rows = kind_of(question).codebook_rows(question)
    if kind_of(question).exclusive and len(rows) > MOST_SYMBOLS:
        more = f"{len(rows) - MOST_SYMBOLS} more, in equal steps"
        rows = [*rows[:MOST_SYMBOLS], ["…", more, *[""] * (len(rows[0]) - 2)]]
    return rows


def _field(survey: Survey, field: FieldBits) -> Iterator[Block]:
    yield Heading(3, field.name)
    facts = [
        ("ε", format_epsilon(field.field.mechanism.epsilon)),
        ("Published integers", Mono(format_integers(field.field))),
        ("Derived from these", channel_of(field.field.mechanism).chances_from_integers),
        ("Estimate", describe_estimator(field)),
    ]
    if survey.ask:
        facts.insert(
            1, ("Chance that a device answers it", format_percent(float(survey.answer_probability(field.field)), 6))
        )
    yield Table(["", ""], facts)
    parameters = ["score"] if any(bit.score is not None for bit in field.bits) else ["p", "q"]
    rows = [
        [Mono(bit.column), Mono(bit.variable), bit.meaning, *_numbers(bit, len(parameters))] for bit in field.all_bits
    ]
    yield Table(["column (CSV, Parquet)", "variable (SPSS, Stata)", "meaning of a 1", *parameters], rows)


def _numbers(bit: Bit, count: int) -> list[str]:
    if bit.p is None or bit.q is None:
        return [*([] if bit.score is None else [repr(bit.score)]), *[""] * (count - (bit.score is not None))]
    return [repr(float(bit.p)), repr(float(bit.q))]


def _explain_bits(survey: Survey) -> list[str]:
    lines = [
        "Bits are noisy. A single row says almost nothing about its respondent, and no column may be read as answers."
        " Only sums over many reports, mapped by (ones/n − q)/(p − q), estimate shares.",
        "Estimates are not clipped: a rare answer can come out below zero. Clip or round at the very end, or never.",
        "Rows are in no meaningful order, and have no time, no address and no id.",
        "If you have the definition, its SHA-256 must equal the digest above.",
    ]
    if (find_asked_bits(survey) >= 0).any():
        lines.insert(1, NOT_ASKED)
    return lines


def list_translations(survey: Survey) -> Iterator[Block]:
    """Yield a table for each other language with every text and its original: respondents may have read either."""
    for translation in survey.translations:
        yield Heading(2, f"In {translation.language}")
        yield Table(
            ["text", survey.language, translation.language],
            list(_pair_texts(survey, translate_survey(survey, translation.language))),
        )


def _pair_texts(survey: Survey, translation: Survey) -> Iterator[list[str]]:
    """Yield for each text its name, the text, and its translation."""
    for name in ("title", "description", "consent", "contact", "thanks"):
        if text := getattr(survey, name):
            yield [name, text, getattr(translation, name)]
    for i, (section, translated_section) in enumerate(zip(survey.sections, translation.sections, strict=True), 1):
        yield [f"section {i}", section.title, translated_section.title]
        if section.text:
            yield [f"section {i}, introduction", section.text, translated_section.text]
    for question, translated_question in zip(survey.questions, translation.questions, strict=True):
        yield [question.id, question.text, translated_question.text]
        if question.unit:
            yield [f"{question.id}, unit", question.unit, translated_question.unit]
        if type_of(question.type).labels_key:
            pairs = zip(question.labels, translated_question.labels, strict=True)
            yield from ([f"{question.id}, {i}", *pair] for i, pair in enumerate(pairs))
