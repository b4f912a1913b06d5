"""What every stored bit is, for whoever reads the data without us: its names, what a 1 says, p and q, how to debias.

Files for statistics packages, the codebook and DDI tell all of it alike, from here; p and q are the mechanism's own.
`column` is the bit's name in CSV and Parquet; `variable` is a name that SPSS (64 bytes), Stata (32 characters) and R
take alike: `cheated`, `help_2` for the second symbol, `used_1_no` and `used_1_yes` for an option that is drawn,
`help_asked` for the asked bit.
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

LONGEST_VARIABLE = 31  # a sign less than Stata takes: with 32, pyreadstat cannot name the labels of its values
RESERVED = frozenset(("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with")) | {  # of SPSS
    *("byte", "double", "float", "if", "in", "int", "long", "strl", "using"),  # of Stata
}
NUMBERED_TEXT = re.compile(r"str[0-9]+")  # types of Stata
JOINT = "The share of an answer to one question is the sum of the shares of the combinations that hold it."
OPTIONAL = "Among those who answered: divide by one minus the share of “no answer”."


@dataclass(frozen=True)
class Bit:
    """One stored bit: with p and q if a 1 names a symbol, with a score if it is a noisy level, else with neither."""

    column: str
    variable: str
    field: Field
    says: str
    p: Fraction | None = None
    q: Fraction | None = None
    score: float | None = None

    @property
    def parameters(self) -> str:
        """What an estimate needs of it, with all digits of a double."""
        if self.p is not None and self.q is not None:
            return f"p={float(self.p)!r} q={float(self.q)!r}"
        return "" if self.score is None else f"score={self.score!r}"


@dataclass(frozen=True)
class FieldBits:
    """A field with its bits, and with `ask` the bit that tells whether it was asked."""

    field: Field
    asked: Bit | None
    bits: tuple[Bit, ...]

    @property
    def all(self) -> tuple[Bit, ...]:
        """In the order in which they are stored."""
        return (self.asked, *self.bits) if self.asked else self.bits

    @property
    def name(self) -> str:
        """Its questions."""
        return field_name(self.field)


def field_name(field: Field) -> str:
    """The ids of a field's questions."""
    return "+".join(question.id for question in field.questions)


def field_bits(survey: Survey) -> list[FieldBits]:
    """Every field with its bits."""
    names = iter(column_names(survey))
    taken: set[str] = set()
    return [_field_bits(at, names, taken) for at in columns(survey)]


def stored_bits(survey: Survey) -> list[Bit]:
    """Every stored bit, in order."""
    return [bit for field in field_bits(survey) for bit in field.all]


def _field_bits(at: Columns, names: Iterator[str], taken: set[str]) -> FieldBits:
    field = at.field
    base = "_".join(question.id for question in field.questions).replace("-", "_")
    asked = None
    if at.asked is not None:
        asked = Bit(next(names), _variable(base, "_asked", taken), field, "this device answered this field")
    made = [
        Bit(next(names), _variable(base, bit.suffix, taken), field, bit.says, bit.p, bit.q, bit.score)
        for bit in channel_of(field.mechanism).bits(field)
    ]
    return FieldBits(field, asked, tuple(made))


def _variable(base: str, suffix: str, taken: set[str]) -> str:
    """A name that is free; too long a one is cut before its suffix."""
    plain = base if base[0].isalpha() else f"q{base}"
    if not suffix and (plain in RESERVED or NUMBERED_TEXT.fullmatch(plain)):
        plain = f"{plain}_"
    number, end = 1, suffix
    while (name := plain[: LONGEST_VARIABLE - len(end)] + end) in taken:
        number += 1
        end = f"_v{number}{suffix}"
    taken.add(name)
    return name


def integers(field: Field) -> str:
    """The published integers of a field's mechanism, and what the large ones are parts of."""
    form = publish(field.mechanism)
    return " ".join(f"{name}={value}{'/2^64' if name in THRESHOLDS else ''}" for name, value in form.items())


def debias(field: FieldBits) -> str:
    """Return how estimates are made of the sums of these bits; what questions add, each once, in alphabetical order."""
    channel, questions = channel_of(field.field.mechanism), field.field.questions
    n = f"the ones in {field.asked.variable}" if field.asked else "the number of reports"
    sentences = [channel.estimator_sentence(n)]
    if channel.coin and not channel.reads_answers:  # bits name symbols, and figures are made of their shares
        if field.field.joint:
            sentences.append(JOINT)
        sentences += sorted({kind_of(one).estimator_sentence(one, len(field.bits)) for one in questions} - {""})
        if any(question.optional for question in questions):
            sentences.append(OPTIONAL)
    return " ".join(sentences)
