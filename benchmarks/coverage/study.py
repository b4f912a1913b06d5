"""Measurements of coverage with the real code: simulated devices, the tally, and the estimators.

A case is a survey, a number of reports, the interval to find in its results, and some truths.
If the relevant counts have few possible values, all of them are enumerated and the coverage is exact.
Otherwise runs are simulated: people are drawn from the truth (population target) and their devices randomize.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from candor_client import canonical
from candor_client.definition import FORMAT, Survey
from candor_client.mechanisms import Mechanism, publish
from survey_app.assure.simulation import devices
from survey_app.estimate.intervals import Interval
from survey_app.kinds.planning_assumptions import Indices
from survey_app.tally import Bits, Tally

NOMINAL = 0.95
APPROXIMATE = 0.93  # what an interval that is labelled approximate has to cover, without allowance
ERRORS = 2.0  # standard errors that a simulated coverage may lie below nominal
SECOND_LOOK = 4  # times as many runs, for what does not hold at the first look
BLOCK = 200_000  # people who are simulated at once

Floats = npt.NDArray[np.float64]
Find = Callable[[Survey, Tally, Bits], Sequence[Interval]]  # nothing, where the results show nothing
People = Callable[[int, np.random.Generator], Mapping[str, Indices]]


@dataclass(frozen=True)
class PopulationTruth:
    """True values, and how reports come about: people to draw, or the chance of every possible tally."""

    name: str
    values: tuple[float, ...]  # in the order of what is found; all have to be covered
    people: People | None = None
    chances: Callable[[], Floats] | None = None


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    pair: str
    method: str
    setting: str
    survey: Survey
    n: int
    find: Find
    truths: Sequence[PopulationTruth]
    stated: float = APPROXIMATE  # the least that is claimed, if its label is approximate
    tallies: npt.NDArray[np.int64] | None = None  # every possible one, a row each; else it is simulated
    effort: float = 1.0  # of the usual runs
    scan: bool = False  # the bits are looked at, not only their sums


@dataclass(frozen=True)
class Outcome:
    """The measurement at one truth; `runs` is 0 if the coverage is exact."""

    truth: str
    coverage: float
    width: float
    label: str
    runs: int

    def error(self, coverage: float) -> float:
        """Return the standard error of a simulated coverage; 0 if the coverage is exact."""
        return math.sqrt(coverage * (1 - coverage) / self.runs) if self.runs else 0.0

    @property
    def holds(self) -> bool:
        """Whether the coverage is at most `ERRORS` standard errors below nominal."""
        return self.coverage >= NOMINAL - ERRORS * self.error(NOMINAL) - 1e-9


def measure(case: Case, runs: int, rng: np.random.Generator) -> list[Outcome]:
    """Return the outcome at every truth of a case.

    Of many truths some fall below by chance. So a truth that does not hold is simulated again, with more runs,
    and then only the second look counts.
    """
    if case.tallies is not None:
        return _measure_exactly(case)
    runs = max(1, round(runs * case.effort))
    outcomes = [_measure_by_simulation(case, truth, runs, rng) for truth in case.truths]
    return [
        outcome if outcome.holds else _measure_by_simulation(case, truth, SECOND_LOOK * runs, rng)
        for truth, outcome in zip(case.truths, outcomes, strict=True)
    ]


def verdict(case: Case, outcome: Outcome) -> str:
    """Return whether the coverage is nominal, lower but as stated for an approximate interval, or too low."""
    if outcome.holds:
        return "holds"
    return "as stated" if outcome.label == "approximate" and outcome.coverage >= case.stated - 1e-9 else "**TOO LOW**"


def halve_intervals(case: Case) -> Case:
    """Return the same case with intervals of half the width, which every study must find too low."""

    def find(survey: Survey, tally: Tally, rows: Bits) -> Sequence[Interval]:
        intervals = case.find(survey, tally, rows)
        return [replace(i, low=(3 * i.low + i.high) / 4, high=(i.low + 3 * i.high) / 4) for i in intervals]

    return replace(case, find=find)


def _measure_exactly(case: Case) -> list[Outcome]:
    no_bits = np.zeros((0, case.survey.length), dtype=np.uint8)
    if case.tallies is None:
        raise ValueError("nothing to enumerate")
    intervals = [case.find(case.survey, Tally(case.n, counts), no_bits) for counts in case.tallies]
    low, high = (_ends(intervals, len(case.truths[0].values), name) for name in ("low", "high"))
    label = _label(intervals)
    outcomes: list[Outcome] = []
    for truth in case.truths:
        if truth.chances is None:
            raise ValueError(f"{case.pair}: {truth.name} has no chances")
        chances = truth.chances()
        covers = _covers(low, high, np.array(truth.values))
        outcomes.append(Outcome(truth.name, float(chances @ covers), _width(low, high, chances), label, 0))
    return outcomes


def _measure_by_simulation(case: Case, truth: PopulationTruth, runs: int, rng: np.random.Generator) -> Outcome:
    intervals_by_counts: dict[bytes, Sequence[Interval]] = {}
    intervals: list[Sequence[Interval]] = []
    for tally, rows in simulate_case(case, truth, runs, rng):
        key = tally.counts.tobytes()
        if case.scan or key not in intervals_by_counts:
            intervals_by_counts[key] = case.find(case.survey, tally, rows)
        intervals.append(intervals_by_counts[key])
    low, high = (_ends(intervals, len(truth.values), name) for name in ("low", "high"))
    covers = _covers(low, high, np.array(truth.values))
    width = _width(low, high, np.full(runs, 1 / runs))
    return Outcome(truth.name, float(covers.mean()), width, _label(intervals), runs)


def simulate_case(
    case: Case, truth: PopulationTruth, runs: int, rng: np.random.Generator
) -> Iterator[tuple[Tally, Bits]]:
    """Return an iterator over simulated surveys: the tally and the bits of each. Raise ValueError without people."""
    if truth.people is None:
        raise ValueError(f"{case.pair}: {truth.name} has no people")
    return simulate_surveys(case.survey, case.n, truth.people, runs, rng)


def simulate_surveys(
    survey: Survey, n: int, people: People, runs: int, rng: np.random.Generator
) -> Iterator[tuple[Tally, Bits]]:
    """Yield the tally and the bits of `runs` simulated surveys of n people each."""
    while runs > 0:
        batch = min(runs, max(1, BLOCK // n))
        rows = np.concatenate(list(devices.reports(survey, people(batch * n, rng), rng)))
        counts = np.unpackbits(rows, axis=1, count=survey.width).reshape(batch, n, -1).sum(axis=1, dtype=np.int64)
        for run in range(batch):
            yield Tally(n, counts[run]), rows[run * n : (run + 1) * n]
        runs -= batch


def _ends(interval_lists: Sequence[Sequence[Interval]], count: int, name: str) -> Floats:
    """Return one end of all intervals, a row for each survey; NaN where no interval was found."""
    return np.array(
        [[getattr(i, name) for i in intervals] or [math.nan] * count for intervals in interval_lists], dtype=float
    )


def _covers(low: Floats, high: Floats, values: Floats) -> npt.NDArray[np.bool_]:
    """Return for each survey whether no interval missed its value; where none was found, none missed."""
    is_missed = (values < low - 1e-9) | (values > high + 1e-9)
    return np.asarray(~is_missed.any(axis=1))


def _width(low: Floats, high: Floats, chances: Floats) -> float:
    """Return the mean width of the intervals that were found."""
    is_found = ~np.isnan(low[:, 0])
    weights = chances[is_found] / max(float(chances[is_found].sum()), 1e-300)
    return float(weights @ (high - low)[is_found].mean(axis=1))


def _label(interval_lists: Sequence[Sequence[Interval]]) -> str:
    """Return the label that all intervals share; if there are several, join them, which is an error."""
    return " and ".join(sorted({i.coverage for intervals in interval_lists for i in intervals}))


def make_survey(
    questions: Sequence[Mapping[str, Any]],
    fields: Sequence[tuple[Mechanism, Sequence[str]]],
    chances: Sequence[int] | None = None,
) -> Survey:
    """Return a survey with exactly these mechanisms; with `chances`, each device answers one field."""
    question_items = [{"text": f"{question['id']}?", **question} for question in questions]
    randomized: list[dict[str, Any]] = [
        {"mechanism": publish(mechanism), "questions": list(ids)} for mechanism, ids in fields
    ]
    if chances:
        for field, chance in zip(randomized, chances, strict=True):
            field |= {"chance": chance} if chance > 1 else {}
    return Survey.from_json(
        canonical.dumps(
            {"format": FORMAT, "slug": "study", "title": "Study", "epsilon": 100}
            | {"questions": question_items, "fields": randomized}
            | ({"ask": 1} if chances else {})
        )
    )


def make_tallies(width: int, places: Mapping[int, npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Return tallies with these columns; all other columns are 0."""
    length = len(next(iter(places.values())))
    tallies = np.zeros((length, width), dtype=np.int64)
    for place, column in places.items():
        tallies[:, place] = column
    return tallies
