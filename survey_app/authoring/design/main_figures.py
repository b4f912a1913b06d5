"""The main figures of a question, by which designs are compared: those that must reach the margin.

They are the share of a yes, of an option or of a bin, and the mean of a scale or a number. The margin of a mean is a
part of its range. A share is among all respondents who are asked, a mean among those who answer. Its scores are (a −
mean)/response rate, and 0 for no answer. The variance of a figure depends on how many of the field's combinations
contain each symbol of the question (docs/methods.md §15).
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np

from candor_client.mechanisms import Mechanism
from candor_client.question import Question, labels_of
from survey_app.channels import channel_of
from survey_app.channels.channel import AssumedShares
from survey_app.kinds import kind_of
from survey_app.kinds.planning_assumptions import Guess, PlannedMean

USUAL = Guess()


def main_figures(question: Question, response_rate: float, cells: Sequence[int] | None = None) -> list[AssumedShares]:
    """Return the distinct main figures. A mean is on a range of length 1.

    `cells` counts how many of a field's combinations contain each symbol; by default, one each.
    """
    if (mean := find_leading_mean(question)) is not None:
        return [linearize_mean(mean, question, response_rate, cells)]
    share = design_share(question, response_rate)
    return [AssumedShares.event(share, part) for part in list_main_parts(question, cells)]


def design_share(question: Question, response_rate: float) -> float:
    """Return the share at which designs are compared: of a yes, or of one option, point or bin.

    It is a share of the respondents who are asked. Options of a choice and bins count as equally popular only if few
    respondents remain to choose them.
    """
    kind = kind_of(question)
    return response_rate * kind.usual_share(question) if question.show_if else kind.design_share(question)


def list_main_parts(question: Question, cells: Sequence[int] | None = None) -> list[float]:
    """Return the distinct parts of a field's combinations that contain an answer which must reach the margin."""
    kind = kind_of(question)
    parts = kind.symbol_fractions(question, cells)
    return sorted({parts[answer] for answer in kind.main_answers(question)})


@lru_cache(maxsize=256)
def find_leading_mean(question: Question) -> PlannedMean | None:
    """Return the mean of a question if there will be one and designs are compared by it; else None."""
    kind = kind_of(question)
    mean = None if kind.scores(question) is None else kind.planned_mean(question, USUAL)
    return mean if mean is not None and mean.is_design_target else None


def linearize_mean(
    mean: PlannedMean, question: Question, response_rate: float, cells: Sequence[int] | None = None
) -> AssumedShares:
    """Return the mean among respondents who answer, on a range of length 1: a ratio, taken as linear."""
    scores, shares = (mean.places - mean.shares @ mean.places) / response_rate, mean.shares
    if question.optional:
        scores, shares = np.append(scores, 0.0), np.append(shares * response_rate, 1 - response_rate)
    return AssumedShares(scores, shares, np.array(cells or [1] * len(scores), dtype=float))


def variance(
    question: Question, response_rate: float, mechanism: Mechanism, cells: Sequence[int] | None = None
) -> float:
    """Return n·Var of the question's least certain main figure, among the respondents who are asked."""
    channel = channel_of(mechanism)
    return (
        max(channel.variance(figure) for figure in main_figures(question, response_rate, cells))
        / channel.informative_share
    )


def count_cells(questions: Sequence[Question]) -> list[list[int]]:
    """Return for every question how many possible combinations of all questions contain each of its symbols.

    The combinations are those of `candor_client.definition.possible_cells`, counted without a list. A question that
    another one hides has no answer, and neither has any question below it.
    """
    places = {question.id: i for i, question in enumerate(questions)}
    parents = [places.get(question.show_if.question) if question.show_if else None for question in questions]
    below = [[1] * question.size for question in questions]  # combinations of the questions that depend on each symbol
    shows: list[list[bool]] = [[] for _ in questions]
    for i in reversed(range(len(questions))):
        if (parent := parents[i]) is not None:
            shows[i] = _make_condition_mask(questions[parent], questions[i])
            combinations = sum(below[i])
            below[parent] = [
                n * combinations if is_shown else n for n, is_shown in zip(below[parent], shows[i], strict=True)
            ]
    total = prod(sum(below[i]) for i, parent in enumerate(parents) if parent is None)
    if_shown, if_hidden = [0] * len(questions), [0] * len(questions)  # combinations of the other questions
    counts: list[list[int]] = []
    for i, parent in enumerate(parents):
        if parent is None:
            if_shown[i] = total // sum(below[i])
        else:
            by_symbol = list(zip(below[parent], shows[i], strict=True))
            if_shown[i] = if_shown[parent] * sum(n for n, is_shown in by_symbol if is_shown) // sum(below[i])
            if_hidden[i] = if_shown[parent] * sum(n for n, is_shown in by_symbol if not is_shown) + if_hidden[parent]
        counts.append([if_shown[i] * n for n in below[i]])
        counts[i][-1] += if_hidden[i]
    return counts


@lru_cache(maxsize=1024)
def _make_condition_mask(parent: Question, child: Question) -> list[bool]:
    """Return for every symbol of the parent whether it shows the child."""
    labels = set(child.show_if.labels) if child.show_if else set()
    return [bool(labels_of(parent, symbol) & labels) for symbol in range(parent.size)]
