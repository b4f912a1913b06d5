"""A survey on paper: coins or dice produce the same chances as a device.

A yes or no becomes a forced response (Boruch 1971): some throws say "yes", some say "no", all others ask for the truth.
With P(yes | yes) = p and P(yes | no) = q these have probabilities q, 1 − p and p − q. Where each person answers one
part of the survey, a die first picks the part with its published chance; throws without a meaning are repeated.
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
from candor_client.verify import compose_losses
from survey_app.channels import channel_of
from survey_app.kinds import kind_of

WHOLE_TOLERANCE = Fraction(1, 2**40)  # thresholds are rounded to 2^-64
PICK_TOLERANCE = Fraction(1, MOST_CHANCES)  # chances are rounded to a millionth
MOST_PICK_THROWS = 2  # dice
SIDES = {"coin": 2, "die": 6}

Verdict = Literal["truth", "yes", "no"]
Tool = Literal["coin", "die"]


class Throws(NamedTuple):
    """Throws that begin with the faces `first`, then have a face from `low` to `high`, then any faces."""

    first: tuple[int, ...]
    low: int
    high: int

    def matches(self, throw: Sequence[int]) -> bool:
        """Return whether a throw is one of these."""
        length = len(self.first)
        return tuple(throw[:length]) == self.first and self.low <= throw[length] <= self.high


@dataclass(frozen=True)
class Recipe:
    """The numbers of equally likely throws for truth, yes and no. A coin's faces are 1, heads, and 2, tails."""

    tool: Tool
    throws: int
    truth: int
    yes: int
    no: int

    @property
    def sides(self) -> int:
        """The number of faces of the tool."""
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
        """The ε of one ticked box."""
        return loss(coin_odds(self.p, self.q))

    @property
    def rules(self) -> list[tuple[Verdict, tuple[Throws, ...]]]:
        """The throws for each verdict, in as few lines as the order of the faces allows."""
        ends = (0, self.truth, self.truth + self.yes, self.sides**self.throws)
        verdicts: tuple[Verdict, ...] = ("truth", "yes", "no")
        return [(verdict, find_throws(self.sides, self.throws, *ends[i : i + 2])) for i, verdict in enumerate(verdicts)]


def find_throws(sides: int, throws: int, start: int, stop: int) -> tuple[Throws, ...]:
    """Return the throws with numbers `start` to `stop` − 1, in as few lines as the order of the faces allows."""

    def lines(start: int, stop: int, first: tuple[int, ...]) -> Iterator[Throws]:
        """Yield the lines for throws that begin with `first`; `start` and `stop` count the other faces."""
        width = sides ** (throws - len(first) - 1)
        face, offset = divmod(start, width)
        if offset:
            end = min(stop, (face + 1) * width)
            yield from lines(offset, end - face * width, (*first, face + 1))
            start, face = end, face + 1
        if face_count := max(0, stop // width - face):
            yield Throws(first, face + 1, face + face_count)
            face += face_count
            start = face * width
        if start < stop:
            yield from lines(0, stop - start, (*first, face + 1))

    return tuple(lines(start, stop, ()))


TOOLS: tuple[tuple[Tool, int], ...] = (("coin", 1), ("coin", 2), ("die", 1), ("coin", 3), ("coin", 4), ("die", 2))


@lru_cache(MOST_FIELDS)  # a form without scripts needs it for every field
def find_recipe(mechanism: Mechanism) -> Recipe | None:
    """Return the recipe with the fewest throws that has a mechanism's chances, or None if no coin or die has them."""
    chances = channel_of(mechanism).forced_response()
    if chances is None:
        return None
    for tool, throws in TOOLS:
        outcomes = SIDES[tool] ** throws
        counts = [round(outcomes * chance) for chance in chances]
        is_near = all(
            abs(outcomes * chance - count) < WHOLE_TOLERANCE for chance, count in zip(chances, counts, strict=True)
        )
        if is_near and min(counts) > 0 and sum(counts) == outcomes:
            return Recipe(tool, throws, *counts)
    return None


@dataclass(frozen=True)
class Pick:
    """The numbers of equally likely throws of dice that pick each field; all other throws are repeated."""

    throws: int
    counts: tuple[int, ...]

    @property
    def rules(self) -> list[tuple[int | None, tuple[Throws, ...]]]:
        """The throws that pick the field of each place, from 1 on; None means to throw again."""
        ends = [0, *accumulate(self.counts), 6**self.throws]
        places = [*range(1, len(self.counts) + 1), None]
        lines = [(place, find_throws(6, self.throws, *ends[i : i + 2])) for i, place in enumerate(places)]
        return [(place, throws) for place, throws in lines if throws]


def find_pick(survey: Survey) -> Pick | None:
    """Return the fewest throws that pick each field with its chance, or None if two dice are not enough."""
    parts = [survey.answer_probability(field) for field in survey.fields]
    for throws in range(1, MOST_PICK_THROWS + 1):
        for cases in range(len(parts), 6**throws + 1):
            counts = [round(cases * part) for part in parts]
            is_near = all(
                abs(Fraction(n, cases) - part) < PICK_TOLERANCE for n, part in zip(counts, parts, strict=True)
            )
            if is_near and min(counts) > 0 and sum(counts) == cases:
                return Pick(throws, tuple(6**throws // cases * count for count in counts))
    return None


@dataclass(frozen=True)
class Sheet:
    """A survey on paper: a recipe for each field, None where coins and dice cannot do it, and the pick of a field."""

    survey: Survey
    recipes: tuple[Recipe | None, ...]
    pick: Pick | None

    @property
    def fields_without_recipe(self) -> list[Field]:
        """The fields that need an answer but have no recipe; they make a report from a sheet impossible."""
        fields = zip(self.survey.fields, self.recipes, strict=True)
        return [field for field, field_recipe in fields if field_recipe is None and not _is_optional(field)]

    @property
    def needs_pick(self) -> bool:
        """Whether dice have to pick the field first."""
        return self.survey.ask and len(self.recipes) > 1

    @property
    def is_unpickable(self) -> bool:
        """Whether dice have to pick the field first, and cannot do so with its chance."""
        return self.needs_pick and self.pick is None

    @property
    def can_be_filled_in(self) -> bool:
        """Whether a respondent can fill in the sheet.

        It needs a field with a recipe, a pick that dice can make if there is one, and no tickets, which need a device.
        """
        return any(self.recipes) and not self.is_unpickable and self.survey.tickets is None

    @property
    def can_be_entered(self) -> bool:
        """Whether a completed sheet makes a valid report."""
        return self.can_be_filled_in and not self.fields_without_recipe

    @property
    def epsilon(self) -> Decimal:
        """The ε of a sheet; questions that are not on it are sent as "no answer", which costs nothing."""
        return compose_losses(
            (field_recipe.epsilon for field_recipe in self.recipes if field_recipe), ask=self.survey.ask
        )


def make_sheet(survey: Survey) -> Sheet:
    """Return the paper version of a survey."""
    recipes = tuple(
        find_recipe(field.mechanism) if kind_of(field.questions[0]).can_force_answer else None
        for field in survey.fields
    )
    return Sheet(survey, recipes, find_pick(survey) if survey.ask else None)


def _is_optional(field: Field) -> bool:
    return all(question.optional for question in field.questions)
