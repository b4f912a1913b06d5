"""Describe every stored bit for analysts: its names, the meaning of a 1, p and q, and how to estimate from it.

Files for statistics packages, the codebook and DDI all take their descriptions from here; p and q are those of the
mechanism. `column` is the bit's name in CSV and Parquet; `variable` is a name that SPSS (64 bytes), Stata (32
characters) and R all accept: `cheated`, `help_2` for the second symbol, `used_1_no` and `used_1_yes` for an option that
is drawn, `help_asked` for the asked bit.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from candor_client.definition import Field, Survey
from candor_client.mechanisms import THRESHOLDS, publish
from survey_app.channels import channel_of
from survey_app.kinds import kind_of
from survey_app.tally import Columns, column_names, columns

LONGEST_VARIABLE = 31  # one less than Stata allows: with 32, pyreadstat cannot name the value labels
RESERVED = frozenset(("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with")) | {  # of SPSS
    *("byte", "double", "float", "if", "in", "int", "long", "strl", "using"),  # of Stata
}
NUMBERED_TEXT = re.compile(r"str[0-9]+")  # types of Stata
JOINT = "The share of an answer to one question is the sum of the shares of all combinations that contain it."
OPTIONAL = "For a share among those who answered, divide by one minus the share of “no answer”."


@dataclass(frozen=True)
class Bit:
    """One stored bit: it has p and q if a 1 names a symbol, a score if it is a noisy level, and otherwise neither."""

    column: str
    variable: str
    field: Field
    meaning: str
    p: Fraction | None = None
    q: Fraction | None = None
    score: float | None = None

    @property
    def parameters(self) -> str:
        """The parameters that an estimate needs, with all digits of a double; empty if there are none."""
        if self.p is not None and self.q is not None:
            return f"p={float(self.p)!r} q={float(self.q)!r}"
        return "" if self.score is None else f"score={self.score!r}"


@dataclass(frozen=True)
class FieldBits:
    """A field with its bits, and where the survey has `ask`, the bit that shows whether the field was asked."""

    field: Field
    asked_bit: Bit | None
    bits: tuple[Bit, ...]

    @property
    def all_bits(self) -> tuple[Bit, ...]:
        """All bits of the field, in the order in which they are stored."""
        return (self.asked_bit, *self.bits) if self.asked_bit else self.bits

    @property
    def name(self) -> str:
        """The ids of the field's questions, joined by a plus sign."""
        return field_name(self.field)


def field_name(field: Field) -> str:
    """Return the ids of a field's questions, joined by a plus sign."""
    return "+".join(question.id for question in field.questions)


def field_bits(survey: Survey) -> list[FieldBits]:
    """Return every field of a survey with its bits."""
    names = iter(column_names(survey))
    used_names: set[str] = set()
    return [_field_bits(field_columns, names, used_names) for field_columns in columns(survey)]


def stored_bits(survey: Survey) -> list[Bit]:
    """Return every stored bit of a report, in order."""
    return [bit for field in field_bits(survey) for bit in field.all_bits]


def _field_bits(field_columns: Columns, names: Iterator[str], used_names: set[str]) -> FieldBits:
    field = field_columns.field
    base = "_".join(question.id for question in field.questions).replace("-", "_")
    asked_bit = None
    if field_columns.asked_column is not None:
        asked_bit = Bit(
            next(names), _make_variable_name(base, "_asked", used_names), field, "this device answered this field"
        )
    field_bits = [
        Bit(next(names), _make_variable_name(base, bit.suffix, used_names), field, bit.meaning, bit.p, bit.q, bit.score)
        for bit in channel_of(field.mechanism).bits(field)
    ]
    return FieldBits(field, asked_bit, tuple(field_bits))


def _make_variable_name(base: str, suffix: str, used_names: set[str]) -> str:
    """Return an unused variable name and add it to `used_names`; a name that is too long is cut before its suffix."""
    plain = base if base[0].isalpha() else f"q{base}"
    if not suffix and (plain in RESERVED or NUMBERED_TEXT.fullmatch(plain)):
        plain = f"{plain}_"
    number, ending = 1, suffix
    while (name := plain[: LONGEST_VARIABLE - len(ending)] + ending) in used_names:
        number += 1
        ending = f"_v{number}{suffix}"
    used_names.add(name)
    return name


def format_integers(field: Field) -> str:
    """Format the published integers of a field's mechanism; thresholds are followed by their denominator, 2^64."""
    parameters = publish(field.mechanism)
    return " ".join(f"{name}={value}{'/2^64' if name in THRESHOLDS else ''}" for name, value in parameters.items())


def describe_estimator(field: FieldBits) -> str:
    """Explain how to estimate from the sums of these bits; sentences about the questions follow, each once, sorted."""
    channel, questions = channel_of(field.field.mechanism), field.field.questions
    n = f"the number of ones in {field.asked_bit.variable}" if field.asked_bit else "the number of reports"
    sentences = [channel.estimator_sentence(n)]
    if channel.coin and not channel.reads_answers:  # bits name symbols, and figures are computed from shares of symbols
        if field.field.joint:
            sentences.append(JOINT)
        sentences += sorted(
            {kind_of(question).estimator_sentence(question, len(field.bits)) for question in questions} - {""}
        )
        if any(question.optional for question in questions):
            sentences.append(OPTIONAL)
    return " ".join(sentences)
