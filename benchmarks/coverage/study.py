"""How often intervals cover, measured with the real pieces: simulated devices, the store's tally, the real estimates.

A case is a survey, a number of reports, what is looked for in its results, and some truths. Where the counts that
matter have few possible values, all of them are enumerated and the coverage is exact. Elsewhere runs are simulated:
people are drawn from the truth (population target), their devices randomize, and the estimates come from the tally.
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
from survey_app.kinds.assumptions import Indices
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
class Truth:
    """What is true, and how it comes about: people to draw, or the chance of every possible tally."""

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
    truths: Sequence[Truth]
    stated: float = APPROXIMATE  # the least that is claimed, if its label is approximate
    tallies: npt.NDArray[np.int64] | None = None  # every possible one, a row each; else it is simulated
    effort: float = 1.0  # of the usual runs
    scan: bool = False  # the bits are looked at, not only their sums


@dataclass(frozen=True)
class Outcome:
    """What was measured at one truth; runs is 0 where the coverage is exact."""

    truth: str
    coverage: float
    width: float
    label: str
    runs: int

    def error(self, coverage: float) -> float:
        """The standard error of a simulated coverage."""
        return math.sqrt(coverage * (1 - coverage) / self.runs) if self.runs else 0.0

    @property
    def holds(self) -> bool:
        """Whether this is at most so many standard errors below nominal."""
        return self.coverage >= NOMINAL - ERRORS * self.error(NOMINAL) - 1e-9


def measure(case: Case, runs: int, rng: np.random.Generator) -> list[Outcome]:
    """The coverage at every truth of a case.

    Of so many truths some fall below by chance, so what does not hold is simulated again, more often, and then only the
    second look counts.
    """
    if case.tallies is not None:
        return _exact(case)
    runs = max(1, round(runs * case.effort))
    found = [_simulated(case, truth, runs, rng) for truth in case.truths]
    return [
        one if one.holds else _simulated(case, truth, SECOND_LOOK * runs, rng)
        for truth, one in zip(case.truths, found, strict=True)
    ]


def verdict(case: Case, outcome: Outcome) -> str:
    """Whether the coverage is nominal; or less, but as much as is stated of an approximate interval; or too low."""
    if outcome.holds:
        return "holds"
    return "as stated" if outcome.label == "approximate" and outcome.coverage >= case.stated - 1e-9 else "**TOO LOW**"


def halved(case: Case) -> Case:
    """The same case with intervals of half their width, which every study has to find too low."""

    def find(survey: Survey, tally: Tally, rows: Bits) -> Sequence[Interval]:
        found = case.find(survey, tally, rows)
        return [replace(i, low=(3 * i.low + i.high) / 4, high=(i.low + 3 * i.high) / 4) for i in found]

    return replace(case, find=find)


def _exact(case: Case) -> list[Outcome]:
    none = np.zeros((0, case.survey.length), dtype=np.uint8)
    if case.tallies is None:
        raise ValueError("nothing to enumerate")
    found = [case.find(case.survey, Tally(case.n, counts), none) for counts in case.tallies]
    low, high = (_ends(found, len(case.truths[0].values), name) for name in ("low", "high"))
    label = _label(found)
    outcomes: list[Outcome] = []
    for truth in case.truths:
        if truth.chances is None:
            raise ValueError(f"{case.pair}: {truth.name} has no chances")
        chances = truth.chances()
        covers = _covers(low, high, np.array(truth.values))
        outcomes.append(Outcome(truth.name, float(chances @ covers), _width(low, high, chances), label, 0))
    return outcomes


def _simulated(case: Case, truth: Truth, runs: int, rng: np.random.Generator) -> Outcome:
    known: dict[bytes, Sequence[Interval]] = {}
    found: list[Sequence[Interval]] = []
    for tally, rows in surveys(case, truth, runs, rng):
        key = tally.counts.tobytes()
        if case.scan or key not in known:
            known[key] = case.find(case.survey, tally, rows)
        found.append(known[key])
    low, high = (_ends(found, len(truth.values), name) for name in ("low", "high"))
    covers = _covers(low, high, np.array(truth.values))
    width = _width(low, high, np.full(runs, 1 / runs))
    return Outcome(truth.name, float(covers.mean()), width, _label(found), runs)


def surveys(case: Case, truth: Truth, runs: int, rng: np.random.Generator) -> Iterator[tuple[Tally, Bits]]:
    """Simulated surveys: the tally and the bits of each."""
    if truth.people is None:
        raise ValueError(f"{case.pair}: {truth.name} has no people")
    return simulated(case.survey, case.n, truth.people, runs, rng)


def simulated(
    survey: Survey, n: int, people: People, runs: int, rng: np.random.Generator
) -> Iterator[tuple[Tally, Bits]]:
    """So many surveys of n people each: the tally and the bits of each."""
    while runs > 0:
        some = min(runs, max(1, BLOCK // n))
        rows = np.concatenate(list(devices.reports(survey, people(some * n, rng), rng)))
        counts = np.unpackbits(rows, axis=1, count=survey.width).reshape(some, n, -1).sum(axis=1, dtype=np.int64)
        for run in range(some):
            yield Tally(n, counts[run]), rows[run * n : (run + 1) * n]
        runs -= some


def _ends(found: Sequence[Sequence[Interval]], count: int, name: str) -> Floats:
    """One end of all intervals, a row for each survey; not a number where nothing was shown."""
    return np.array([[getattr(i, name) for i in one] or [math.nan] * count for one in found], dtype=float)


def _covers(low: Floats, high: Floats, values: Floats) -> npt.NDArray[np.bool_]:
    """Where no interval missed its value; where nothing is shown nothing is missed."""
    missed = (values < low - 1e-9) | (values > high + 1e-9)
    return np.asarray(~missed.any(axis=1))


def _width(low: Floats, high: Floats, chances: Floats) -> float:
    """The mean width where anything is shown."""
    shown = ~np.isnan(low[:, 0])
    weights = chances[shown] / max(float(chances[shown].sum()), 1e-300)
    return float(weights @ (high - low)[shown].mean(axis=1))


def _label(found: Sequence[Sequence[Interval]]) -> str:
    """The one label of all that was found; several would be a fault."""
    return " and ".join(sorted({i.label for one in found for i in one}))


def make_survey(
    questions: Sequence[Mapping[str, Any]],
    fields: Sequence[tuple[Mechanism, Sequence[str]]],
    chances: Sequence[int] | None = None,
) -> Survey:
    """A definition with these very mechanisms; with chances, each device answers one field."""
    asked = [{"text": f"{one['id']}?", **one} for one in questions]
    randomized: list[dict[str, Any]] = [
        {"mechanism": publish(mechanism), "questions": list(ids)} for mechanism, ids in fields
    ]
    if chances:
        for one, chance in zip(randomized, chances, strict=True):
            one |= {"chance": chance} if chance > 1 else {}
    return Survey.from_json(
        canonical.dumps(
            {"format": FORMAT, "slug": "study", "title": "Study", "epsilon": 100}
            | {"questions": asked, "fields": randomized}
            | ({"ask": 1} if chances else {})
        )
    )


def counts_with(width: int, places: Mapping[int, npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Tallies of which some columns are given, the rest 0."""
    length = len(next(iter(places.values())))
    found = np.zeros((length, width), dtype=np.int64)
    for place, column in places.items():
        found[:, place] = column
    return found
