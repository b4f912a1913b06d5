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

from client.definition import Field, Survey
from client.mechanisms import THRESHOLDS, Drawn, Flip, Geometric, publish
from client.words import NO_ANSWER, level_value, symbol_label
from survey_app.channel import geometric_scores
from survey_app.tally import Columns, column_names, columns

LONGEST_VARIABLE = 31  # a sign less than Stata takes: with 32, pyreadstat cannot name the labels of its values
RESERVED = frozenset(("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with")) | {  # of SPSS
    *("byte", "double", "float", "if", "in", "int", "long", "strl", "using"),  # of Stata
}
NUMBERED_TEXT = re.compile(r"str[0-9]+")  # types of Stata


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
    field, mechanism = at.field, at.field.mechanism
    base = "_".join(question.id for question in field.questions).replace("-", "_")
    asked = None
    if at.asked is not None:
        asked = Bit(next(names), _variable(base, "_asked", taken), field, "this device answered this field")
    made: list[Bit] = []
    if isinstance(mechanism, Flip):
        says = symbol_label(field, 1)
        made.append(Bit(next(names), _variable(base, "", taken), field, says, mechanism.p, mechanism.q))
    elif isinstance(mechanism, Drawn):
        options = [*field.questions[0].labels, NO_ANSWER][: mechanism.size]
        for place, option in enumerate(options, 1):
            no, yes = (_variable(base, f"_{place}_{said}", taken) for said in ("no", "yes"))
            made.append(Bit(next(names), no, field, f"asked about {option}: no"))
            made.append(Bit(next(names), yes, field, f"asked about {option}: yes", mechanism.p, mechanism.q))
    elif isinstance(mechanism, Geometric):
        for level, score in enumerate(_scores(field, mechanism)):
            variable = _variable(base, f"_{level + 1}", taken)
            made.append(Bit(next(names), variable, field, symbol_label(field, level), score=score))
    else:
        for symbol in range(mechanism.size):
            variable = _variable(base, f"_{symbol + 1}", taken)
            label = symbol_label(field, symbol)
            made.append(Bit(next(names), variable, field, label, mechanism.p, mechanism.q))
    return FieldBits(field, asked, tuple(made))


def _scores(field: Field, mechanism: Geometric) -> list[float]:
    """What each noisy level counts for, in the unit of the question."""
    question = field.questions[0]
    low, step = float(question.min), float(level_value(question, 1) - level_value(question, 0))
    return [low + step * float(score) for score in geometric_scores(mechanism)]


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


def chances_from_integers(field: Field) -> str:
    """How p and q, or the scores, follow from the integers."""
    mechanism = field.mechanism
    if isinstance(mechanism, Flip):
        return "p = one/2^64; q = zero/2^64"
    if isinstance(mechanism, Drawn):
        return (
            "with s = 2^draw and o = (1 − keep/2^64)/(s − 1): p = keep/2^64 + (s/2 − 1)·o; q = (s/2)·o, for each option"
            " that was asked"
        )
    if isinstance(mechanism, Geometric):
        return (
            "with r = ratio/2^64, a level counts for itself, the lowest for r/(1 − r) levels less and the highest for"
            " r/(1 − r) levels more: that is its score"
        )
    return "p = keep/2^64; q = (weight − p)/(size − 1)"


def debias(field: FieldBits) -> str:
    """How an estimate is made of the sums of these bits."""
    mechanism, questions = field.field.mechanism, field.field.questions
    n = f"the ones in {field.asked.variable}" if field.asked else "the number of reports"
    if isinstance(mechanism, Drawn):
        return (
            "For an option, n is the ones in its two bits together; the share of those who chose it is"
            " (ones of its second bit/n − q)/(p − q)."
        )
    if isinstance(mechanism, Geometric):
        return f"The mean is the sum of score × ones over all its bits, divided by n, {n}."
    text = f"A share is (ones/n − q)/(p − q), where n is {n}."
    if field.field.joint:
        text += " The share of an answer to one question is the sum of the shares of the combinations that hold it."
    if any(question.levels for question in questions):
        text += " The mean of a number is the sum of level × share"
        text += " over the levels." if not isinstance(mechanism, Flip) else ", the lower level having the other share."
    if any(question.type == "scale" for question in questions):
        text += " The mean of a scale is the sum of score × share."
    if any(question.type == "multiple" for question in questions):
        text += " The share of an option is the sum of the shares of the sets that hold it."
    if any(question.optional for question in questions):
        text += " Among those who answered: divide by one minus the share of “no answer”."
    return text
