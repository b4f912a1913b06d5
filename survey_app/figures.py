"""What is estimated of a question: a figure is a sum of weights over its answers, or one such sum divided by another.

Estimates, plans, designs, cautions, tables and exports iterate over figures, and never ask what the question is.

A question's *answers* are the options of a multiple, otherwise its symbols; "no answer" comes last where people may
skip. Weights are over answers, because a multiple of 40 options has 2^40 symbols. `constant` is there because options
overlap: "answered" is 1 − no answer, and no sum of options says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Sets = Sequence[Sequence[int]]  # for each answer, the symbols of a field that hold it


class FigureKind(StrEnum):
    """The kinds of figures, as results name them."""

    SHARE = "share"
    NO_ANSWER = "no_answer"
    MEAN = "mean"
    DIFFERENCE = "difference"


class FamilyName(StrEnum):
    """The lists of the results."""

    SHARES = "shares"
    MEAN = "mean"
    CUMULATIVE = "cumulative"
    ANSWERED = "answered"
    ANSWERING = "answering"
    TOTAL = "total"


@dataclass(frozen=True, eq=False)
class Sum:
    """constant + Σ weight · share, over answers; once lifted, over the symbols that a channel takes in."""

    weights: Floats
    constant: float = 0.0

    def lifted(self, sets: Sets, size: int) -> "Sum":
        """Return the same sum over the symbols of a field."""
        weights = np.zeros(size)
        for answer in np.flatnonzero(self.weights).tolist():
            weights[sets[answer]] += self.weights[answer]
        return replace(self, weights=weights)

    def minus(self, ratio: float, other: "Sum") -> "Sum":
        """Return this sum less `ratio` times another."""
        return Sum(self.weights - ratio * other.weights, self.constant - ratio * other.constant)

    def of(self, shares: Floats) -> float:
        """Return its value at these shares, which add up to one: so 1 − 1 is nothing, not a rounding error."""
        return float((self.weights + self.constant if self.constant else self.weights) @ shares)


@dataclass(frozen=True, eq=False, kw_only=True)
class Figure:
    """One line of the results: its name, its sum, and what values it can have.

    `denominator` makes it a ratio. `rounded` says that answers were rounded by a coin on the device, so that not even
    the respondents' own figure is certain without noise.
    """

    name: str
    kind: FigureKind
    sum: Sum
    low: float = 0.0
    high: float = 1.0
    denominator: Sum | None = None
    rounded: bool = False

    def lifted(self, sets: Sets, size: int) -> "Figure":
        """Return the same figure over the symbols of a field."""
        below = self.denominator and self.denominator.lifted(sets, size)
        return replace(self, sum=self.sum.lifted(sets, size), denominator=below)

    def top(self) -> "Figure":
        """Return the sum above the line, by itself."""
        return replace(self, denominator=None)

    def bottom(self) -> "Figure":
        """Return the sum below the line, by itself: a share."""
        if self.denominator is None:
            raise ValueError("this is no ratio")
        return replace(self, kind=FigureKind.SHARE, sum=self.denominator, denominator=None, low=0.0, high=1.0)

    def less(self, ratio: float) -> "Figure":
        """Return the sum above less `ratio` times the one below: zero where `ratio` is the figure."""
        if self.denominator is None:
            raise ValueError("this is no ratio")
        difference = self.sum.minus(ratio, self.denominator)
        return Figure(name=self.name, kind=FigureKind.MEAN, sum=difference, low=self.low, high=self.high)


@dataclass(frozen=True)
class Family:
    """Figures whose intervals hold together, if that is wanted.

    A `derived` one follows from the shares of symbols, and is there only where a field has a point for each.
    """

    name: FamilyName
    figures: tuple[Figure, ...]
    derived: bool = False


def share_of(name: str, answers: Sequence[int], count: int, kind: FigureKind = FigureKind.SHARE) -> Figure:
    """Return the share of some of `count` answers together."""
    weights = np.zeros(count)
    weights[list(answers)] = 1
    return Figure(name=name, kind=kind, sum=Sum(weights))
