"""The main figures of a question, by which designs are compared: those that must reach the margin.

A yes; the share of an option or a bin; the mean of a scale or a number, of which the margin is a part of the range. The
share is one of all who are asked, the mean that of those who answer: scores (a − mean)/answering, and 0 for no answer.
What a field's mechanism makes of a figure depends on how many of its combinations hold each symbol of the question
(docs/methods.md §15).
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import prod

import numpy as np

from client.mechanisms import Drawn, Flip, Geometric, Mechanism
from client.question import Question, labels_of
from survey_app.authoring.imagined import judged_share, level_shares, spread_evenly
from survey_app.channel import (
    Floats,
    Moments,
    bit_variance,
    drawn_variance,
    event_moments,
    figure_variance,
    moments,
    noisy_mean_variance,
)


def is_mean(question: Question) -> bool:
    """Whether the main figure is a mean; a scale whose scores are all equal has none."""
    return bool(question.levels) or (question.type == "scale" and len(set(question.scores)) != 1)


def main_figures(question: Question, answering: float, cells: Sequence[int] | None = None) -> tuple[Moments, ...]:
    """The figures that differ, if so many of a field's combinations hold each symbol; by itself, one each."""
    if is_mean(question):
        return (mean_moments(*scored(question), question, answering, cells),)
    share = judged_share(question, answering)
    return tuple(event_moments(share, part) for part in option_parts(question, cells))


def option_parts(question: Question, cells: Sequence[int] | None = None) -> list[float]:
    """Which parts of a field's combinations hold a yes, an option, a point or a bin, each part once."""
    if cells is None:
        return [(question.no_answer // 2 if question.type == "multiple" else 1) / question.size]
    answered = cells[: question.no_answer]
    if question.type == "yes_no":
        held = {answered[1]}
    elif question.type == "multiple":
        held = {sum(answered[s] for s in range(len(answered)) if s >> i & 1) for i in range(len(question.labels))}
    else:
        held = set(answered)
    return [part / sum(cells) for part in sorted(held)]


def mean_moments(
    scores: Floats, shares: Floats, question: Question, answering: float, cells: Sequence[int] | None = None
) -> Moments:
    """Of the mean score of those who answer; `shares` are among them."""
    apart = (scores - shares @ scores) / answering
    if question.optional:
        apart, shares = np.append(apart, 0.0), np.append(shares * answering, 1 - answering)
    return moments(apart, shares, np.array(cells or [1] * len(apart), dtype=float))


def scored(question: Question) -> tuple[Floats, Floats]:
    """The scores of a scale's points or a number's levels, on a range of length 1, and their shares among answers."""
    if question.levels:
        return np.arange(question.levels) / (question.levels - 1), _level_shares(question)
    count = len(question.labels)
    scores = [Fraction(score) for score in question.scores or range(count)]
    low, width = min(scores), max(scores) - min(scores)  # exactly: floats of two scores may be one
    return np.array([float((score - low) / width) for score in scores]), np.full(count, 1 / count)


@lru_cache(maxsize=256)
def _level_shares(question: Question) -> Floats:
    return level_shares(*spread_evenly(question), question.levels)


def variance(question: Question, answering: float, mechanism: Mechanism, cells: Sequence[int] | None = None) -> float:
    """n·Var of the question's least certain main figure, for those who are asked."""
    if isinstance(mechanism, Flip):
        return bit_variance(mechanism, judged_share(question, answering))
    if isinstance(mechanism, Drawn):
        return drawn_variance(mechanism, judged_share(question, answering))
    if isinstance(mechanism, Geometric):
        return noisy_mean_variance(mechanism, _level_shares(question)) / (question.levels - 1) ** 2
    return max(figure_variance(figure, mechanism) for figure in main_figures(question, answering, cells))


def cell_counts(questions: Sequence[Question]) -> list[list[int]]:
    """For every question, how many of the possible combinations of all of them hold each of its symbols.

    They are those of `client.definition.possible_cells`, counted without a list: a question that another of them hides
    has no answer, and nor has anything below it.
    """
    places = {question.id: i for i, question in enumerate(questions)}
    parents = [places.get(question.show_if.question) if question.show_if else None for question in questions]
    below = [[1] * question.size for question in questions]  # combinations of what hangs on each symbol
    shows: list[list[bool]] = [[] for _ in questions]
    for i in reversed(range(len(questions))):
        if (parent := parents[i]) is not None:
            shows[i] = _showing(questions[parent], questions[i])
            inside = sum(below[i])
            below[parent] = [n * inside if shown else n for n, shown in zip(below[parent], shows[i], strict=True)]
    whole = prod(sum(below[i]) for i, parent in enumerate(parents) if parent is None)
    beside, hidden = [0] * len(questions), [0] * len(questions)  # combinations of the rest, with it shown and hidden
    counts: list[list[int]] = []
    for i, parent in enumerate(parents):
        if parent is None:
            beside[i] = whole // sum(below[i])
        else:
            by_symbol = list(zip(below[parent], shows[i], strict=True))
            beside[i] = beside[parent] * sum(n for n, shown in by_symbol if shown) // sum(below[i])
            hidden[i] = beside[parent] * sum(n for n, shown in by_symbol if not shown) + hidden[parent]
        counts.append([beside[i] * n for n in below[i]])
        counts[i][-1] += hidden[i]
    return counts


@lru_cache(maxsize=1024)
def _showing(parent: Question, child: Question) -> list[bool]:
    """For every symbol of a question whether it shows another one."""
    labels = set(child.show_if.labels) if child.show_if else set()
    return [bool(labels_of(parent, symbol) & labels) for symbol in range(parent.size)]
