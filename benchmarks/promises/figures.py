"""Every interval that the results of a survey show, and what is true of the imagined people in its place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from candor_client.definition import Survey
from candor_client.description import digit_label
from candor_client.question import Question
from survey_app.assure.simulation.trial import truth
from survey_app.figures import FigureKind, Floats
from survey_app.kinds.assumptions import Indices
from survey_app.plan.forecast import Forecast
from survey_app.results.survey_document import Line, Results, table_rows


@dataclass(frozen=True)
class Figure:
    """What is estimated: in which list of the results it stands, of which question or questions, for which option."""

    list: str
    name: str
    option: str
    options: tuple[str, ...] = ()
    kind: str = "share"


@dataclass(frozen=True)
class Shown:
    """What the results say of a figure."""

    low: float
    high: float
    value: float  # before anything is cut
    guaranteed: bool


def shown(survey: Survey, told: Results) -> Iterator[tuple[Figure, Shown]]:
    """All that is shown with an interval. The no of a yes or no is left out: it covers when the yes does."""
    by_id = {question.id: question for question in survey.questions}
    for where, name, line in table_rows(told.parts):
        if not (name in by_id and by_id[name].type == "yes_no" and line.option == "no"):
            yield Figure(where, name, line.option, line.options, line.kind), _shown(line)
    for part in told.questions:
        names = _symbols(by_id[part.id])
        for one in part.quantiles:
            places = [names.index(option) for option in one.options]
            low, high = min(places), max(places)
            yield (
                Figure("quantiles", part.id, f"{one.level:g}"),
                Shown(low, high, (low + high) / 2, one.coverage == "guaranteed"),
            )


def _shown(line: Line) -> Shown:
    value = line.estimate if line.unbiased is None else line.unbiased
    return Shown(line.low, line.high, value, line.coverage == "guaranteed")


def _symbols(question: Question) -> list[str]:
    return [digit_label(question, place) for place in range(question.size)]


def true_value(survey: Survey, figure: Figure, said: dict[str, Indices]) -> float:
    """What is true of a population that would say this."""
    by_id = {question.id: question for question in survey.questions}
    if figure.options:
        questions = [by_id[name] for name in figure.name.split(" + ")]
        pairs = zip(questions, figure.options, strict=True)
        return float(
            np.mean(np.prod([_part(question, option, said[question.id]) for question, option in pairs], axis=0))
        )
    question, mine = by_id[figure.name], said[figure.name]
    if figure.list == "quantiles":
        return float(np.quantile(mine, float(figure.option), method="inverted_cdf"))
    if figure.list == "cumulative":
        return float(np.mean(mine <= _symbols(question).index(figure.option.removeprefix("at most "))))
    if figure.kind == "mean":
        return truth(question, "", FigureKind.MEAN, mine)
    if figure.kind == "no_answer":
        return truth(question, "", FigureKind.NO_ANSWER, mine)
    share = truth(question, figure.option, FigureKind.SHARE, mine)
    return share / (1 - truth(question, "", FigureKind.NO_ANSWER, mine)) if figure.list == "answered" else share


def _part(question: Question, option: str, said: Indices) -> Floats:
    """The part of each person that has this symbol: all or nothing, but for numbers, which are rounded to levels."""
    symbol = _symbols(question).index(option)
    if not question.levels or symbol == question.no_answer:
        whole: Floats = (said == (symbol if not question.levels else question.steps + 1)).astype(np.float64)
        return whole
    place = np.minimum(said, question.steps) * (question.levels - 1) / question.steps
    found: Floats = np.where(said > question.steps, 0.0, np.clip(1 - np.abs(place - symbol), 0, 1))
    return found


def promised(figure: Figure, forecasts: Sequence[Forecast]) -> float | None:
    """The margin that the plan gives for this figure, if it gives any: for an option that of the least certain one."""
    if figure.list != "estimates" or figure.options or figure.kind == "no_answer":
        return None
    found = [one.margin for one in forecasts if one.id == figure.name and one.is_share == (figure.kind != "mean")]
    return found[0] if found else None
