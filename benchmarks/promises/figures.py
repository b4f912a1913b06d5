"""Every interval that the results of a survey show, and its true value among the simulated people."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from candor_client.definition import Survey
from candor_client.description import digit_label
from candor_client.question import Question
from survey_app.assure.simulation.trial import population_figure
from survey_app.figures import FigureKind, Floats
from survey_app.kinds.planning_assumptions import Indices
from survey_app.plan.forecast import Forecast
from survey_app.results.survey_document import Line, Results, table_rows


@dataclass(frozen=True)
class Figure:
    """What is estimated: its list in the results, its question or questions, and its option."""

    list: str
    name: str
    option: str
    options: tuple[str, ...] = ()
    kind: str = "share"


@dataclass(frozen=True)
class ShownFigure:
    """The interval and the value that the results show for a figure."""

    low: float
    high: float
    value: float  # before anything is cut
    guaranteed: bool


def shown_figures(survey: Survey, document: Results) -> Iterator[tuple[Figure, ShownFigure]]:
    """Yield every figure that the results show with an interval.

    The no of a yes-or-no question is omitted: it covers whenever the yes does.
    """
    by_id = {question.id: question for question in survey.questions}
    for list_name, name, line in table_rows(document.parts):
        if not (name in by_id and by_id[name].type == "yes_no" and line.option == "no"):
            yield Figure(list_name, name, line.option, line.options, line.kind), _read_line(line)
    for part in document.questions:
        names = _symbols(by_id[part.id])
        for quantile in part.quantiles:
            places = [names.index(option) for option in quantile.options]
            low, high = min(places), max(places)
            yield (
                Figure("quantiles", part.id, f"{quantile.level:g}"),
                ShownFigure(low, high, (low + high) / 2, quantile.coverage == "guaranteed"),
            )


def _read_line(line: Line) -> ShownFigure:
    value = line.estimate if line.unbiased is None else line.unbiased
    return ShownFigure(line.low, line.high, value, line.coverage == "guaranteed")


def _symbols(question: Question) -> list[str]:
    return [digit_label(question, place) for place in range(question.size)]


def true_value(survey: Survey, figure: Figure, people: dict[str, Indices]) -> float:
    """Return the true value of a figure in a population with these answers."""
    by_id = {question.id: question for question in survey.questions}
    if figure.options:
        questions = [by_id[name] for name in figure.name.split(" + ")]
        pairs = zip(questions, figure.options, strict=True)
        return float(
            np.mean(
                np.prod([_symbol_weights(question, option, people[question.id]) for question, option in pairs], axis=0)
            )
        )
    question, answers = by_id[figure.name], people[figure.name]
    if figure.list == "quantiles":
        return float(np.quantile(answers, float(figure.option), method="inverted_cdf"))
    if figure.list == "cumulative":
        return float(np.mean(answers <= _symbols(question).index(figure.option.removeprefix("at most "))))
    if figure.kind == "mean":
        return population_figure(question, "", FigureKind.MEAN, answers)
    if figure.kind == "no_answer":
        return population_figure(question, "", FigureKind.NO_ANSWER, answers)
    share = population_figure(question, figure.option, FigureKind.SHARE, answers)
    return (
        share / (1 - population_figure(question, "", FigureKind.NO_ANSWER, answers))
        if figure.list == "answered"
        else share
    )


def _symbol_weights(question: Question, option: str, answers: Indices) -> Floats:
    """Return the part of each person that has this symbol: 0 or 1, or a fraction for numbers, which are rounded."""
    symbol = _symbols(question).index(option)
    if not question.levels or symbol == question.no_answer:
        indicator: Floats = (answers == (symbol if not question.levels else question.steps + 1)).astype(np.float64)
        return indicator
    place = np.minimum(answers, question.steps) * (question.levels - 1) / question.steps
    weights: Floats = np.where(answers > question.steps, 0.0, np.clip(1 - np.abs(place - symbol), 0, 1))
    return weights


def promised_margin(figure: Figure, forecasts: Sequence[Forecast]) -> float | None:
    """Return the margin that the plan promises for this figure, or None.

    For an option it is the margin of the least certain one.
    """
    if figure.list != "estimates" or figure.options or figure.kind == "no_answer":
        return None
    margins = [
        forecast.margin
        for forecast in forecasts
        if forecast.id == figure.name and forecast.is_share == (figure.kind != "mean")
    ]
    return margins[0] if margins else None
