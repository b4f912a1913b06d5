"""The same chances made with coins or dice: a survey on paper.

A yes or no becomes a forced response (Boruch 1971): some throws say "yes", some say "no", all others ask for the truth.
With P(yes | yes) = p and P(yes | no) = q these have probabilities q, 1 − p and p − q.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NamedTuple

from client.definition import Field, Survey
from client.mechanism import Flip, Mechanism, coin_odds, loss
from client.verify import spend

WHOLE_WITHIN = Fraction(1, 2**40)  # thresholds are rounded to 2^-64
MOST_ASKED_BY_DIE = 6

Verdict = Literal["truth", "yes", "no"]
Tool = Literal["coin", "die"]


class Throws(NamedTuple):
    """Throws that begin with the faces `first` and go on with one from `low` to `high`; the rest is any."""

    first: tuple[int, ...]
    low: int
    high: int

    def fit(self, throw: Sequence[int]) -> bool:
        """Whether a throw is one of these."""
        at = len(self.first)
        return tuple(throw[:at]) == self.first and self.low <= throw[at] <= self.high


@dataclass(frozen=True)
class Recipe:
    """How many of the equally likely throws mean what. A coin's faces are 1, heads, and 2, tails."""

    tool: Tool
    throws: int
    truth: int
    yes: int
    no: int

    @property
    def sides(self) -> int:
        """Faces of the tool."""
        return 2 if self.tool == "coin" else 6

    @property
    def p(self) -> Fraction:
        """P(yes is ticked | yes)."""
        return Fraction(self.truth + self.yes, self.sides**self.throws)

    @property
    def q(self) -> Fraction:
        """P(yes is ticked | no)."""
        return Fraction(self.yes, self.sides**self.throws)

    @property
    def epsilon(self) -> Decimal:
        """What one ticked box gives away."""
        return loss(coin_odds(self.p, self.q))

    @property
    def rules(self) -> list[tuple[Verdict, tuple[Throws, ...]]]:
        """Which throws mean what, in as few lines as the order of the faces allows."""
        ends = (0, self.truth, self.truth + self.yes, self.sides**self.throws)
        verdicts: tuple[Verdict, ...] = ("truth", "yes", "no")
        return [(verdict, tuple(self._lines(ends[i], ends[i + 1], ()))) for i, verdict in enumerate(verdicts)]

    def _lines(self, start: int, stop: int, first: tuple[int, ...]) -> Iterator[Throws]:
        """The throws number `start` to `stop` − 1 among those that begin with `first`."""
        width = self.sides ** (self.throws - len(first) - 1)
        face, rest = divmod(start, width)
        if rest:
            end = min(stop, (face + 1) * width)
            yield from self._lines(rest, end - face * width, (*first, face + 1))
            start, face = end, face + 1
        if whole := max(0, stop // width - face):
            yield Throws(first, face + 1, face + whole)
            face += whole
            start = face * width
        if start < stop:
            yield from self._lines(0, stop - start, (*first, face + 1))


TOOLS: tuple[tuple[Tool, int], ...] = (("coin", 1), ("coin", 2), ("die", 1), ("coin", 3), ("coin", 4), ("die", 2))


def recipe(mechanism: Mechanism) -> Recipe | None:
    """The fewest throws of a coin or a die that make these chances, or None if none of them does."""
    if not isinstance(mechanism, Flip):
        return None
    chances = (mechanism.p - mechanism.q, mechanism.q, 1 - mechanism.p)
    for tool, throws in TOOLS:
        outcomes = (2 if tool == "coin" else 6) ** throws
        counts = [round(outcomes * chance) for chance in chances]
        near = all(abs(outcomes * chance - count) < WHOLE_WITHIN for chance, count in zip(chances, counts, strict=True))
        if near and min(counts) > 0 and sum(counts) == outcomes:
            return Recipe(tool, throws, *counts)
    return None


@dataclass(frozen=True)
class Sheet:
    """A survey on paper: for each field its recipe, or None where it has none."""

    survey: Survey
    recipes: tuple[Recipe | None, ...]

    @property
    def missing(self) -> list[Field]:
        """Fields that need an answer, and that coins and dice cannot give: no report can be made without them."""
        fields = zip(self.survey.fields, self.recipes, strict=True)
        return [field for field, made in fields if made is None and not _optional(field)]

    @property
    def too_many(self) -> bool:
        """Whether each person answers one field, and a die has too few faces to pick it."""
        return self.picked and len(self.recipes) > MOST_ASKED_BY_DIE

    @property
    def uneven(self) -> bool:
        """Whether each person answers one field, and these are not equally likely, as the faces of a die are."""
        return self.picked and len({field.chance for field in self.survey.fields}) > 1

    @property
    def picked(self) -> bool:
        """Whether a die has to pick the field first."""
        return self.survey.ask and len(self.recipes) > 1

    @property
    def fillable(self) -> bool:
        """Whether a person can fill it in: something is on it, and a die can pick the field where one is picked."""
        return any(self.recipes) and not (self.too_many or self.uneven)

    @property
    def enterable(self) -> bool:
        """Whether a filled sheet makes a valid report."""
        return self.fillable and not self.missing

    @property
    def epsilon(self) -> Decimal:
        """What a sheet gives away: what is not on it is sent as "no answer", which says nothing about the person."""
        return spend((made.epsilon for made in self.recipes if made), ask=self.survey.ask)


def sheet(survey: Survey) -> Sheet:
    """The survey on paper."""
    first = [(field.questions[0].type, field.mechanism) for field in survey.fields]
    return Sheet(survey, tuple(recipe(mechanism) if kind == "yes_no" else None for kind, mechanism in first))


def _optional(field: Field) -> bool:
    return all(question.optional for question in field.questions)
