"""Measuring one survey: every interval and every promised margin, twice where something misses."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import binom, chi2

from benchmarks.coverage.study import APPROXIMATE, ERRORS, NOMINAL, SECOND_LOOK, simulated
from benchmarks.promises.figures import Figure, Shown, promised, shown, true_value
from benchmarks.promises.surveys import FILES
from candor_client.definition import Survey
from survey_app.authoring import build
from survey_app.plan.assumed_people import draw_people
from survey_app.plan.forecast import enough, forecasts
from survey_app.plan.report_variance import z_score
from survey_app.plan.target import Settings
from survey_app.results.survey_document import Results, results
from survey_app.tally import Tally

MARGIN = 0.06
POPULATION = 2_000_000  # in which the truth is counted: its error is a hundredth of the shortest interval's

Tell = Callable[[Survey, Tally], Results]


@dataclass(frozen=True)
class Kept:
    """How well one figure kept its promises, in so many runs."""

    figure: Figure
    runs: int
    guaranteed: bool
    coverage: float
    half: float  # the mean of half the interval's width
    margin: float  # 1.96 standard deviations of the estimate before it is cut
    promised: float | None

    @property
    def covers(self) -> bool:
        """Whether its interval covers as often as its label says."""
        error = math.sqrt(NOMINAL * (1 - NOMINAL) / self.runs)
        return self.coverage >= (NOMINAL - ERRORS * error if self.guaranteed else APPROXIMATE)

    @property
    def reaches(self) -> bool:
        """Whether its margin is the promised one, or less."""
        return self.promised is None or self.margin <= self.promised * (1 + ERRORS / math.sqrt(2 * self.runs))

    @property
    def name(self) -> str:
        """What is told of a miss."""
        option = self.figure.option or " + ".join(self.figure.options) or self.figure.kind
        return f"{self.figure.list}, {self.figure.name}, {option}"


@dataclass(frozen=True)
class Study:
    """One survey: all figures of the first look, and those that missed it as the second look saw them."""

    name: str
    survey: Survey
    n: int
    first: list[Kept]
    second: list[Kept]

    @property
    def missed(self) -> list[Kept]:
        """What missed twice."""
        return [one for one in self.second if not (one.covers and one.reaches)]


def study(name: str, runs: int, tell: Tell = results) -> Study:
    """A survey of FILES, looked at twice where something misses."""
    survey = build(FILES[name].encode()).survey
    n = enough(forecasts(survey, Settings(respondents=1, margin=MARGIN)))
    if n is None:
        raise ValueError(f"{name} needs more respondents than there are")
    rng = np.random.default_rng()
    first = look(survey, n, runs, rng, tell)
    missed = {one.figure for one in first if not (one.covers and one.reaches)}
    again = look(survey, n, SECOND_LOOK * runs, rng, tell) if missed else []
    return Study(name, survey, n, first, [one for one in again if one.figure in missed])


def look(survey: Survey, n: int, runs: int, rng: np.random.Generator, tell: Tell) -> list[Kept]:
    """Everything that the results show, over so many surveys of n people."""
    found: dict[Figure, list[Shown]] = {}
    for tally, _ in simulated(survey, n, partial(draw_people, survey, {}), runs, rng):
        for figure, one in shown(survey, tell(survey, tally)):
            found.setdefault(figure, []).append(one)
    said, plan = draw_people(survey, {}, POPULATION, rng), forecasts(survey, Settings(respondents=n, margin=MARGIN))
    return [
        _kept(figure, seen, true_value(survey, figure, said), promised(figure, plan)) for figure, seen in found.items()
    ]


def _kept(figure: Figure, seen: Sequence[Shown], true: float, margin: float | None) -> Kept:
    low, high, values = (np.array([getattr(one, name) for one in seen]) for name in ("low", "high", "value"))
    covers = (low - 1e-9 <= true) & (true <= high + 1e-9)
    return Kept(
        figure=figure,
        runs=len(seen),
        guaranteed=all(one.guaranteed for one in seen),
        coverage=float(covers.mean()),
        half=float((high - low).mean() / 2),
        margin=z_score(NOMINAL) * float(values.std(ddof=1)),
        promised=margin,
    )


def chance_of(one: Kept, runs: int) -> float:
    """How likely a figure is to miss in so many runs by chance, if it covers exactly 95% at its promised margin."""
    bound = NOMINAL - ERRORS * math.sqrt(NOMINAL * (1 - NOMINAL) / runs) if one.guaranteed else APPROXIMATE
    low = binom.cdf(math.ceil(runs * bound - 1e-9) - 1, runs, NOMINAL)
    wide = 0.0 if one.promised is None else chi2.sf((runs - 1) * (1 + ERRORS / math.sqrt(2 * runs)) ** 2, runs - 1)
    return float(low + wide)
