"""The measurement of one survey: every interval and every promised margin, measured twice if something misses."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import binom, chi2

from benchmarks.coverage.study import APPROXIMATE, ERRORS, NOMINAL, SECOND_LOOK, simulate_surveys
from benchmarks.promises.figures import Figure, ShownFigure, promised_margin, shown_figures, true_value
from benchmarks.promises.surveys import FILES
from candor_client.definition import Survey
from survey_app.authoring import build
from survey_app.plan.forecast import find_sufficient_respondents, forecast_survey
from survey_app.plan.report_variance import z_score
from survey_app.plan.simulated_people import draw_people
from survey_app.plan.target import Settings
from survey_app.results.survey_document import Results, results
from survey_app.tally import Tally

MARGIN = 0.06
POPULATION = 2_000_000  # in which the truth is counted: its error is a hundredth of the shortest interval's

Estimator = Callable[[Survey, Tally], Results]


@dataclass(frozen=True)
class FigureStudy:
    """How well one figure kept its promises over all runs."""

    figure: Figure
    runs: int
    guaranteed: bool
    coverage: float
    half_width: float  # the mean of half the interval's width
    margin: float  # 1.96 standard deviations of the estimate before it is cut
    promised_margin: float | None

    @property
    def covers(self) -> bool:
        """Whether the interval covers as often as its label says."""
        error = math.sqrt(NOMINAL * (1 - NOMINAL) / self.runs)
        return self.coverage >= (NOMINAL - ERRORS * error if self.guaranteed else APPROXIMATE)

    @property
    def reaches(self) -> bool:
        """Whether the margin is at most the promised one, within the error of the simulation."""
        return self.promised_margin is None or self.margin <= self.promised_margin * (
            1 + ERRORS / math.sqrt(2 * self.runs)
        )

    @property
    def name(self) -> str:
        """The description of the figure, for a list of misses."""
        option = self.figure.option or " + ".join(self.figure.options) or self.figure.kind
        return f"{self.figure.list}, {self.figure.name}, {option}"


@dataclass(frozen=True)
class Study:
    """One survey: all figures of the first look, and the second look at those that missed."""

    name: str
    survey: Survey
    n: int
    first: list[FigureStudy]
    second: list[FigureStudy]

    @property
    def misses(self) -> list[FigureStudy]:
        """The figures that missed twice."""
        return [figure for figure in self.second if not (figure.covers and figure.reaches)]


def study_survey(name: str, runs: int, estimate: Estimator = results) -> Study:
    """Measure a survey of FILES, twice if something misses; raise ValueError if no number of people suffices."""
    survey = build(FILES[name].encode()).survey
    n = find_sufficient_respondents(forecast_survey(survey, Settings(respondents=1, margin=MARGIN)))
    if n is None:
        raise ValueError(f"{name} needs more respondents than there are")
    rng = np.random.default_rng()
    first = measure_figures(survey, n, runs, rng, estimate)
    missed_figures = {result.figure for result in first if not (result.covers and result.reaches)}
    second_look = measure_figures(survey, n, SECOND_LOOK * runs, rng, estimate) if missed_figures else []
    return Study(name, survey, n, first, [result for result in second_look if result.figure in missed_figures])


def measure_figures(
    survey: Survey, n: int, runs: int, rng: np.random.Generator, estimate: Estimator
) -> list[FigureStudy]:
    """Return the measurements of everything that the results show, over `runs` surveys of n people."""
    values_by_figure: dict[Figure, list[ShownFigure]] = {}
    for tally, _ in simulate_surveys(survey, n, partial(draw_people, survey, {}), runs, rng):
        for figure, value in shown_figures(survey, estimate(survey, tally)):
            values_by_figure.setdefault(figure, []).append(value)
    answers, plan = (
        draw_people(survey, {}, POPULATION, rng),
        forecast_survey(survey, Settings(respondents=n, margin=MARGIN)),
    )
    return [
        _measure_figure(figure, values, true_value(survey, figure, answers), promised_margin(figure, plan))
        for figure, values in values_by_figure.items()
    ]


def _measure_figure(
    figure: Figure, shown_values: Sequence[ShownFigure], true_figure: float, margin: float | None
) -> FigureStudy:
    low, high, values = (
        np.array([getattr(value, name) for value in shown_values]) for name in ("low", "high", "value")
    )
    covers = (low - 1e-9 <= true_figure) & (true_figure <= high + 1e-9)
    return FigureStudy(
        figure=figure,
        runs=len(shown_values),
        guaranteed=all(value.guaranteed for value in shown_values),
        coverage=float(covers.mean()),
        half_width=float((high - low).mean() / 2),
        margin=z_score(NOMINAL) * float(values.std(ddof=1)),
        promised_margin=margin,
    )


def miss_chance(figure: FigureStudy, runs: int) -> float:
    """Return a figure's chance of a miss, if it covers exactly 95% at its promised margin."""
    bound = NOMINAL - ERRORS * math.sqrt(NOMINAL * (1 - NOMINAL) / runs) if figure.guaranteed else APPROXIMATE
    low = binom.cdf(math.ceil(runs * bound - 1e-9) - 1, runs, NOMINAL)
    wide = (
        0.0
        if figure.promised_margin is None
        else chi2.sf((runs - 1) * (1 + ERRORS / math.sqrt(2 * runs)) ** 2, runs - 1)
    )
    return float(low + wide)
