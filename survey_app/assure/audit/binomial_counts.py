"""Counts that are binomial in an honest client, and the p-value of the most extreme one.

The tails are exact. Bonferroni's correction holds the error of hundreds of thousands of tests to that of one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, bdtrc

from survey_app.channels.channel import Indices
from survey_app.figures import Floats

MIN_NORMAL_DEVIATION = 5.0  # standard deviation below which the tail is far from normal and computed exactly

Names = Sequence[str]
Singles = npt.NDArray[np.float32]  # sums of ones are exact up to 2^24 reports


class CheckCode(StrEnum):
    """The property that a check tests, as a code for programs."""

    CLAIM = "claim"
    FORMAT = "format"
    BITS = "bits"
    FIELDS_ASKED = "fields_asked"
    BITS_OF_FIELD = "bits_of_field"
    FIELD_PAIRS = "field_pairs"
    FIELD_SETS = "field_sets"
    IDS = "ids"
    EARLIER_ANSWERS = "earlier_answers"
    REPEATED_NOISE = "repeated_noise"
    SPELLING = "spelling"
    ID_RECURRENCE = "id_recurrence"
    REPEATED_IDS = "repeated_ids"
    NOISE_IN_TIME = "noise_in_time"


CHECK_NAMES = {
    CheckCode.CLAIM: "the claimed ε covers the ε that the integers spend",
    CheckCode.FORMAT: "every line is a report",
    CheckCode.BITS: "stored bits follow the published integers",
    CheckCode.FIELDS_ASKED: "fields are drawn with the published probabilities",
    CheckCode.BITS_OF_FIELD: "bits of a field occur together as often as published",
    CheckCode.FIELD_PAIRS: "no two fields share noise",
    CheckCode.FIELD_SETS: "no three or more fields share noise",
    CheckCode.IDS: "ids are uniform and do not depend on answers",
    CheckCode.EARLIER_ANSWERS: "reports do not depend on earlier answers",
    CheckCode.REPEATED_NOISE: "no noise is reused",
    CheckCode.SPELLING: "the spelling of reports does not depend on answers",
    CheckCode.ID_RECURRENCE: "ids follow no linear recurrence",
    CheckCode.REPEATED_IDS: "no id occurs twice",
    CheckCode.NOISE_IN_TIME: "the time of a report does not depend on its noise",
}


@dataclass(frozen=True)
class Check:
    """The result of a check: whether it passed, the p-value of its most extreme count, and a description of it."""

    code: CheckCode
    ok: bool
    p_value: float
    told: str = ""

    @property
    def name(self) -> str:
        """The name of the check, for people."""
        return CHECK_NAMES[self.code]


@dataclass(frozen=True)
class BinomialCounts:
    """Counts that are binomial in an honest client: their names, ones, totals and probabilities."""

    names: Names
    ones: Floats
    n: Floats
    chances: Floats


def two_sided_p_values(ones: Floats, n: Floats, chances: Floats) -> Floats:
    """Return the exact p-values of binomial counts: twice the smaller tail."""
    totals = n.astype(np.int64)
    below, above = bdtr(ones, totals, chances), np.where(ones > 0, bdtrc(np.maximum(ones - 1, 0), totals, chances), 1.0)
    certain = np.where(chances >= 1, np.where(ones == n, 1.0, 0.0), np.where(ones == 0, 1.0, 0.0))
    p_values: Floats = np.where((chances > 0) & (chances < 1), np.minimum(2 * np.minimum(below, above), 1.0), certain)
    return p_values


def _candidate_places(counted: BinomialCounts) -> Indices:
    """Return the places where the most extreme count can be; only these, of very many, need an exact tail."""
    spread = np.sqrt(counted.n * counted.chances * (1 - counted.chances))
    distance = np.abs(counted.ones - counted.n * counted.chances) / np.maximum(spread, 1e-9)
    return np.flatnonzero(
        (distance >= distance.max(initial=0.0) - 1) | ((spread < MIN_NORMAL_DEVIATION) & (distance > 1))
    )


def check_counts(code: CheckCode, series: Sequence[BinomialCounts], error: float) -> Check:
    """Check the most extreme of many counts, with Bonferroni's correction for their number, and return the result."""
    number = sum(counts.ones.size for counts in series)
    worst, detail = 1.0, ""
    for counts in series:
        places = _candidate_places(counts)
        if len(places):
            values = two_sided_p_values(counts.ones[places], counts.n[places], counts.chances[places])
            if values.min() < worst:
                worst, place = float(values.min()), int(places[values.argmin()])
                expected = counts.n[place] * counts.chances[place]
                detail = f"{counts.names[place]}: {counts.ones[place]:.0f} times, expected {expected:.0f}"
    corrected = min(1.0, worst * max(number, 1))
    return Check(code, corrected >= error, corrected, detail if corrected < error else "")


def count_pairs(
    name: str, bits: Singles, chances: Floats, other_bits: Singles, other_chances: Floats
) -> BinomialCounts:
    """Return the counts of every bit of one field together with every bit of another, independent of it."""
    joint = (bits.T @ other_bits).ravel().astype(float)
    width = other_bits.shape[1]
    names = LazyNames(lambda place: f"{name}, bits {place // width} and {place % width} together", len(joint))
    return BinomialCounts(names, joint, np.full(len(joint), float(len(bits))), np.outer(chances, other_chances).ravel())


class LazyNames(Sequence[str]):
    """A sequence of names that are built on access, because there are thousands."""

    def __init__(self, make: Callable[[int], str], size: int) -> None:
        self._make, self._size = make, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: int) -> str:  # type: ignore[override]
        return self._make(place)
