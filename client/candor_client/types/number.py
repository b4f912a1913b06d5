"""The type `number`: a number on a grid, which is rounded to a level or assigned to a bin."""

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any, final

from candor_client.canonical import parse_decimal, parse_integer, parse_text
from candor_client.errors import AnswerError, DefinitionError
from candor_client.sampling import RandomBytes, draw_below
from candor_client.types import TypeName
from candor_client.types.question_type import QuestionType

if TYPE_CHECKING:
    from candor_client.question import Question

DECIMAL_TEXT = re.compile(r"[+-]?[0-9]{1,17}(\.[0-9]{1,17})?")
MOST_STEPS = 2**31 - 1
MOST_LISTED = 5  # values that a number may be rounded to
MORE_DIGITS = 3  # of a level that lies between two values of the grid


@final
class Number(QuestionType):
    """A number from min to max in whole steps, read as decimal text and never as a binary float.

    With `levels` the index is the position on the grid, and the symbol is one of the two nearest levels, drawn at
    random. With `bins` index and symbol are the number of the bin.
    """

    def parse(self, value: dict[str, Any], path: str) -> dict[str, Any]:
        low, high, step = (parse_decimal(value[key], f"{path}.{key}") for key in ("min", "max", "step"))
        if low >= high:
            raise DefinitionError("bad_value", f"{path}.max", "must be above min")
        least, most, width, _ = to_grid(low, high, step)
        steps = (most - least) // width if width > 0 else 0
        if steps * width != most - least or steps > MOST_STEPS:
            reason = "must be positive and divide max - min into at most 2^31 - 1 whole steps"
            raise DefinitionError("bad_value", f"{path}.step", reason)
        fields: dict[str, Any] = {"min": low, "max": high, "step": step}
        if "unit" in value:
            fields["unit"] = parse_text(value["unit"], f"{path}.unit")
        if ("levels" in value) == ("bins" in value):
            raise DefinitionError("bad_value", path, "needs levels or bins, and not both")
        grain = "levels" if "levels" in value else "bins"
        return fields | {grain: parse_integer(value[grain], f"{path}.{grain}", 2, steps + 1)}

    def symbols(self, question: "Question") -> int:
        return question.levels or question.bins

    def index_of(self, question: "Question", answer: Any) -> int:
        text = format(Decimal(repr(answer)), "f") if type(answer) is float else str(answer)
        if type(answer) not in (int, float, str, Decimal) or not DECIMAL_TEXT.fullmatch(text):
            raise AnswerError(question.id, f"{text[:40]!r} is not a decimal number")
        low, high, step, digits = question.grid
        whole, _, decimals = text.partition(".")
        decimals = decimals.rstrip("0")
        value = int(whole + decimals[:digits].ljust(digits, "0"))
        if not low <= value <= high:
            raise AnswerError(question.id, f"{text} is not from {question.min:f} to {question.max:f}")
        index, rest = divmod(value - low, step)
        if rest or len(decimals) > digits:
            raise AnswerError(question.id, f"{text} is not {question.min:f} plus a multiple of {question.step:f}")
        return index * question.bins // (question.steps + 1) if question.bins else index

    def unanswered(self, question: "Question") -> int:
        return question.steps + 1 if question.levels else question.no_answer

    def labels_of(self, question: "Question", index: int) -> set[str]:
        return set()

    def symbol_of(self, question: "Question", index: int, random_bytes: RandomBytes) -> int:
        if not question.levels:
            return index
        level, rest = divmod(index * (question.levels - 1), question.steps)
        level += draw_below(question.steps, random_bytes) < rest  # drawn and ignored for no answer
        return question.no_answer if index > question.steps else level

    def label(self, question: "Question", symbol: int) -> str:
        if question.levels:
            return with_unit(question, level_value(question, symbol))
        low, high = bin_range(question, symbol)
        return with_unit(question, low) if low == high else f"{spell(question, low)} to {with_unit(question, high)}"

    def answer_label(self, question: "Question", index: int) -> str:
        return with_unit(question, grid_value(question, index)) if question.levels else self.label(question, index)

    def has_levels(self, question: "Question") -> bool:
        return question.levels > 0

    def rounding_sentence(self, question: "Question") -> str:
        if not 0 < question.levels <= question.steps:
            return ""
        values = [self.label(question, level) for level in range(question.levels)]
        listed = " or ".join(values) if len(values) <= MOST_LISTED else f"{values[0]}, {values[1]}, ... {values[-1]}"
        return (
            f"first the number is rounded at random to {listed}, nearer is likelier, and that counts as what was said"
        )

    def prompt(self, question: "Question") -> str:
        ends = f"from {question.min:f} to {question.max:f} {question.unit}".rstrip()
        return f"a number {ends}, in steps of {question.step:f}"

    def parse_input(self, question: "Question", labels: Sequence[str], typed: str) -> Any:
        return typed


TYPE = Number(
    name=TypeName.NUMBER,
    required_keys=("min", "max", "step"),
    optional_keys=("unit", "levels", "bins"),
    labels_key=None,
    has_labels=False,
    has_sets=False,
    fits_grid=False,
    lists_labels=False,
)


def to_grid(low: Decimal, high: Decimal, step: Decimal) -> tuple[int, int, int, int]:
    """Return three decimals as integers in the largest common unit 10^−digits, followed by `digits`."""
    texts = [f"{value:f}".partition(".") for value in (low, high, step)]
    digits = max(len(decimals) for _, _, decimals in texts)
    least, most, width = (int(whole + decimals.ljust(digits, "0")) for whole, _, decimals in texts)
    return least, most, width, digits


def grid_value(question: "Question", index: int) -> Fraction:
    """Return the number at an index of the grid."""
    return Fraction(question.min) + index * Fraction(question.step)


def level_value(question: "Question", level: int) -> Fraction:
    """Return the number at a level."""
    return Fraction(question.min) + level * (Fraction(question.max) - Fraction(question.min)) / (question.levels - 1)


def bin_range(question: "Question", symbol: int) -> tuple[Fraction, Fraction]:
    """Return the lowest and the highest number of a bin: all i with i·B div (N+1) = symbol."""
    first = -(-symbol * (question.steps + 1) // question.bins)
    last = -(-(symbol + 1) * (question.steps + 1) // question.bins) - 1
    return grid_value(question, first), grid_value(question, last)


def with_unit(question: "Question", value: Fraction) -> str:
    """Return a number as a decimal, with the question's unit if it has one."""
    return f"{spell(question, value)} {question.unit}".strip()


def spell(question: "Question", value: Fraction) -> str:
    """Return a number as a decimal: exact on the question's grid, rounded to three more digits between two values."""
    *_, digits = question.grid
    places = digits + MORE_DIGITS
    units = floor(value * 10**places + Fraction(1, 2))
    whole, decimals = divmod(abs(units), 10**places)
    return f"{'-' * (units < 0)}{whole}.{decimals:0{places}}".rstrip("0").rstrip(".")
