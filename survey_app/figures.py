"""Figures: the quantities that are estimated for a question.

A figure is a weighted sum of the shares of answers, or one weighted sum divided by another. Estimates, plans, designs,
cautions, tables and exports iterate over figures and never ask for the question's type.

A question's *answers* are the options of a multiple, otherwise its symbols. "No answer" comes last where people may
skip. Weights are over answers, because a multiple of 40 options has 2^40 symbols. A sum has a `constant` because
options overlap: "answered" is 1 − no answer, and no weighted sum of options equals it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Sets = Sequence[Sequence[int]]  # for each answer, the symbols of a field that contain it


class FigureKind(StrEnum):
    """The kinds of figures, as results name them."""

    SHARE = "share"
    NO_ANSWER = "no_answer"
    MEAN = "mean"
    DIFFERENCE = "difference"


class FamilyName(StrEnum):
    """The names of the families of figures in the results."""

    SHARES = "shares"
    MEAN = "mean"
    CUMULATIVE = "cumulative"
    AMONG_ANSWERS = "answered"
    RESPONSE_RATE = "answering"
    TOTAL = "total"


@dataclass(frozen=True, eq=False)
class Sum:
    """constant + Σ weight · share, over answers, or after `expand_to_symbols` over the symbols of a field."""

    weights: Floats
    constant: float = 0.0

    def expand_to_symbols(self, sets: Sets, size: int) -> "Sum":
        """Return the same sum over the `size` symbols of a field; `sets` lists the symbols of each answer."""
        weights = np.zeros(size)
        for answer in np.flatnonzero(self.weights).tolist():
            weights[sets[answer]] += self.weights[answer]
        return replace(self, weights=weights)

    def subtract(self, ratio: float, other: "Sum") -> "Sum":
        """Return this sum minus `ratio` times another."""
        return Sum(self.weights - ratio * other.weights, self.constant - ratio * other.constant)

    def evaluate(self, shares: Floats) -> float:
        """Return the value of the sum at these shares.

        Shares add up to one, so the constant is added to each weight: 1 − 1 is then exactly 0, not a rounding error.
        """
        return float((self.weights + self.constant if self.constant else self.weights) @ shares)


@dataclass(frozen=True, eq=False, kw_only=True)
class Figure:
    """One line of the results: its name, its sum and its possible range (`low` to `high`).

    A figure with a `denominator` is a ratio. `is_rounded` means that a coin on the device rounded the answers, so that
    even the respondents' own figure would be uncertain without noise.
    """

    name: str
    kind: FigureKind
    sum: Sum
    low: float = 0.0
    high: float = 1.0
    denominator: Sum | None = None
    is_rounded: bool = False

    def expand_to_symbols(self, sets: Sets, size: int) -> "Figure":
        """Return the same figure over the `size` symbols of a field; `sets` lists the symbols of each answer."""
        denominator = self.denominator and self.denominator.expand_to_symbols(sets, size)
        return replace(self, sum=self.sum.expand_to_symbols(sets, size), denominator=denominator)

    def numerator_figure(self) -> "Figure":
        """Return the numerator of a ratio as a separate figure."""
        return replace(self, denominator=None)

    def denominator_figure(self) -> "Figure":
        """Return the denominator of a ratio as a separate figure, a share; raise ValueError if this is not a ratio."""
        if self.denominator is None:
            raise ValueError("this is no ratio")
        return replace(self, kind=FigureKind.SHARE, sum=self.denominator, denominator=None, low=0.0, high=1.0)

    def contrast_at(self, ratio: float) -> "Figure":
        """Return numerator − `ratio` · denominator as a figure; it is zero if the true ratio is `ratio`.

        Raise ValueError if this figure is not a ratio.
        """
        if self.denominator is None:
            raise ValueError("this is no ratio")
        difference = self.sum.subtract(ratio, self.denominator)
        return Figure(name=self.name, kind=FigureKind.MEAN, sum=difference, low=self.low, high=self.high)


@dataclass(frozen=True)
class Family:
    """Figures whose intervals are corrected together if simultaneous intervals are requested.

    A family that `is_derived` follows from the shares of symbols. It exists only where a field has a displayed share
    for each symbol.
    """

    name: FamilyName
    figures: tuple[Figure, ...]
    is_derived: bool = False


def make_share(name: str, answers: Sequence[int], count: int, kind: FigureKind = FigureKind.SHARE) -> Figure:
    """Return the figure of the combined share of some answers, given by index among `count` answers."""
    weights = np.zeros(count)
    weights[list(answers)] = 1
    return Figure(name=name, kind=kind, sum=Sum(weights))
