"""The same chances made with coins or dice: a survey on paper.

A yes or no becomes a forced response (Boruch 1971): some throws say "yes", some say "no", all others ask for the truth.
With P(yes | yes) = p and P(yes | no) = q these have probabilities q, 1 − p and p − q. Where each person answers one
part of the survey, a die picks it first, with its published chance: throws that mean nothing are made again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Literal, NamedTuple

from candor_client.definition import MOST_CHANCES, MOST_FIELDS, Field, Survey
from candor_client.mechanisms import Mechanism, coin_odds, loss
from candor_client.verify import spend
from survey_app.channels import channel_of
from survey_app.kinds import kind_of

WHOLE_WITHIN = Fraction(1, 2**40)  # thresholds are rounded to 2^-64
PICKED_WITHIN = Fraction(1, MOST_CHANCES)  # and chances to a millionth
MOST_PICKING = 2  # dice
SIDES = {"coin": 2, "die": 6}

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
        return SIDES[self.tool]

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
        return [(verdict, spans(self.sides, self.throws, *ends[i : i + 2])) for i, verdict in enumerate(verdicts)]


def spans(sides: int, throws: int, start: int, stop: int) -> tuple[Throws, ...]:
    """The throws number `start` to `stop` − 1, in as few lines as the order of the faces allows."""

    def lines(start: int, stop: int, first: tuple[int, ...]) -> Iterator[Throws]:
        """Of those among them that begin with `first`."""
        width = sides ** (throws - len(first) - 1)
        face, rest = divmod(start, width)
        if rest:
            end = min(stop, (face + 1) * width)
            yield from lines(rest, end - face * width, (*first, face + 1))
            start, face = end, face + 1
        if whole := max(0, stop // width - face):
            yield Throws(first, face + 1, face + whole)
            face += whole
            start = face * width
        if start < stop:
            yield from lines(0, stop - start, (*first, face + 1))

    return tuple(lines(start, stop, ()))


TOOLS: tuple[tuple[Tool, int], ...] = (("coin", 1), ("coin", 2), ("die", 1), ("coin", 3), ("coin", 4), ("die", 2))


@lru_cache(MOST_FIELDS)  # a form without scripts says it of every field
def recipe(mechanism: Mechanism) -> Recipe | None:
    """The fewest throws of a coin or a die that make these chances, or None if none of them does."""
    chances = channel_of(mechanism).forced_response()
    if chances is None:
        return None
    for tool, throws in TOOLS:
        outcomes = SIDES[tool] ** throws
        counts = [round(outcomes * chance) for chance in chances]
        near = all(abs(outcomes * chance - count) < WHOLE_WITHIN for chance, count in zip(chances, counts, strict=True))
        if near and min(counts) > 0 and sum(counts) == outcomes:
            return Recipe(tool, throws, *counts)
    return None


@dataclass(frozen=True)
class Pick:
    """How many of the equally likely throws of a die pick which field; the rest of them is thrown again."""

    throws: int
    counts: tuple[int, ...]

    @property
    def rules(self) -> list[tuple[int | None, tuple[Throws, ...]]]:
        """Which throws pick the field of which place, from 1 on; None means to throw again."""
        ends = [0, *accumulate(self.counts), 6**self.throws]
        places = [*range(1, len(self.counts) + 1), None]
        lines = [(place, spans(6, self.throws, *ends[i : i + 2])) for i, place in enumerate(places)]
        return [(place, throws) for place, throws in lines if throws]


def picking(survey: Survey) -> Pick | None:
    """The fewest throws that pick each field with its chance, or None if more than two would be needed."""
    parts = [survey.part(field) for field in survey.fields]
    for throws in range(1, MOST_PICKING + 1):
        for cases in range(len(parts), 6**throws + 1):
            counts = [round(cases * part) for part in parts]
            near = all(abs(Fraction(n, cases) - part) < PICKED_WITHIN for n, part in zip(counts, parts, strict=True))
            if near and min(counts) > 0 and sum(counts) == cases:
                return Pick(throws, tuple(6**throws // cases * count for count in counts))
    return None


@dataclass(frozen=True)
class Sheet:
    """A survey on paper: for each field its recipe, or None where it has none; and how one of them is picked."""

    survey: Survey
    recipes: tuple[Recipe | None, ...]
    pick: Pick | None

    @property
    def missing(self) -> list[Field]:
        """Fields that need an answer, and that coins and dice cannot give: no report can be made without them."""
        fields = zip(self.survey.fields, self.recipes, strict=True)
        return [field for field, made in fields if made is None and not _optional(field)]

    @property
    def picked(self) -> bool:
        """Whether dice have to pick the field first."""
        return self.survey.ask and len(self.recipes) > 1

    @property
    def unpickable(self) -> bool:
        """Whether each person answers one field, and no two dice pick it with its chance."""
        return self.picked and self.pick is None

    @property
    def fillable(self) -> bool:
        """Whether a person can fill it in: something is on it, dice can pick the field, if one is picked, and no ticket
        has to go along, which only a device can take.
        """
        return any(self.recipes) and not self.unpickable and self.survey.tickets is None

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
    recipes = tuple(
        recipe(field.mechanism) if kind_of(field.questions[0]).on_paper else None for field in survey.fields
    )
    return Sheet(survey, recipes, picking(survey) if survey.ask else None)


def _optional(field: Field) -> bool:
    return all(question.optional for question in field.questions)
