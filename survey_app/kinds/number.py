"""The question type whose answer is a number, either rounded at random to a level or put into a bin.

Of levels only the mean is estimated; bins have shares.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any, final

import numpy as np
import numpy.typing as npt

from candor_client.answer import unanswered
from candor_client.description import bin_range, digit_label, level_value
from candor_client.question import Question
from survey_app.channels.sentences import Sentence
from survey_app.figures import Floats
from survey_app.kinds.planning_assumptions import (
    OPTION_SHARE,
    USUAL_SD,
    Generator,
    Guess,
    Indices,
    PlanError,
    PlannedMean,
    TruthError,
    even_share,
)
from survey_app.kinds.question_kind import AuthorValue, SingleAnswer

FINEST = 10_000  # the most points at which a distribution of numbers is computed


@final
class Number(SingleAnswer):
    """A number with levels, which have a mean and no shares, or with bins, which have shares and an order."""

    def scores(self, question: Question) -> Sequence[float] | None:
        if not question.levels:
            return None
        (low, high, _, digits), top = question.grid, question.levels - 1
        return [(low * top + level * (high - low)) / (top * 10**digits) for level in range(question.levels)]

    def is_ordered(self, question: Question) -> bool:
        return bool(question.bins)

    def is_rounded(self, question: Question) -> bool:
        return bool(question.levels)

    def value_range(self, question: Question) -> tuple[float, float]:
        return float(question.min), float(question.max)

    def usual_share(self, question: Question) -> float:
        return even_share(question)

    def design_share(self, question: Question) -> float:
        return OPTION_SHARE if question.bins else even_share(question)

    def condition_share(self, question: Question, labels: Sequence[str], guess: float | None) -> float:
        raise ValueError("a number shows no other question")

    def planned_mean(self, question: Question, guess: Guess) -> PlannedMean:
        places, chances = spread_numbers(question, guess)
        low, width = float(question.min), float(question.max - question.min)
        if question.levels:
            values = np.array(self.scores(question))
            levels = np.arange(question.levels) / (question.levels - 1)
            middle = float(chances @ places)
            variance = width**2 * float(chances @ (places - middle) ** 2)
            shares = level_shares(places, chances, question.levels)
            return PlannedMean("mean", values, levels, shares, low + width * middle, variance, is_design_target=True)
        values = np.array([float(sum(bin_range(question, i))) / 2 for i in range(question.bins)])
        index = np.rint(places * question.steps).astype(np.int64) * question.bins // (question.steps + 1)
        shares = np.bincount(index, chances, question.bins).astype(np.float64)
        centre = float(shares @ values)
        variance = float(shares @ (values - centre) ** 2)
        middles = (values - values[0]) / (values[-1] - values[0])
        return PlannedMean("mean of bins", values, middles, shares, centre, variance, is_design_target=False)

    def truncate_answers(self, question: Question, count: int) -> Question:
        return replace(question, bins=count)

    def max_levels(self, question: Question) -> int:
        return question.steps + 1

    def set_levels(self, question: Question, levels: int) -> Question:
        return replace(question, levels=levels)

    def compiled_keys(self, question: Question) -> dict[str, int]:
        return {"levels": question.levels} if question.levels else {}

    def draw(self, question: Question, truth: Any, count: int, rng: Generator) -> Indices:
        low, high, step = float(question.min), float(question.max), float(question.step)
        if truth is None:
            index = rng.integers(0, question.steps + 1, count)
        else:
            try:
                mean, sd = float(truth.get("mean", (low + high) / 2)), float(truth.get("sd", USUAL_SD * (high - low)))
            except (AttributeError, TypeError, ValueError):
                raise TruthError(f"{question.id}: give a mean and an sd, both numbers") from None
            index = np.clip(np.rint((rng.normal(mean, sd, count) - low) / step), 0, question.steps).astype(np.int64)
        return index * question.bins // (question.steps + 1) if question.bins else index

    def sample_symbols(self, question: Question, indices: Indices, rng: Generator) -> Indices:
        """Return the symbols of these indices, rounded to a level at random as the device does."""
        if not question.levels:
            return indices
        position = np.minimum(indices, question.steps) * (question.levels - 1)
        level = position // question.steps
        level = level + (rng.integers(0, question.steps, len(indices)) < position % question.steps)
        return np.where(indices > question.steps, question.levels, level)

    def symbol_chances(self, question: Question, index: int) -> list[tuple[int, float]]:
        if not question.levels:
            return [(index, 1.0)]
        if index > question.steps:
            return [(question.no_answer, 1.0)]
        level, rest = divmod(index * (question.levels - 1), question.steps)
        return [(level, 1 - rest / question.steps)] + [(level + 1, rest / question.steps)] * (rest > 0)

    def true_values(self, question: Question, indices: Indices) -> Floats:
        answered = indices[indices <= question.steps].astype(np.float64)
        return float(question.min) + float(question.step) * answered

    def mark_answer(self, question: Question, answer: int, indices: Indices) -> npt.NDArray[np.bool_]:
        index = unanswered(question) if answer == question.no_answer else answer
        matches: npt.NDArray[np.bool_] = indices == index
        return matches

    def example(self, question: Question, symbol: int) -> Any:
        value = bin_range(question, symbol)[0] if question.bins else level_value(question, symbol)
        return grid_text(question, grid_place(question, value))

    def random_example(self, question: Question, symbol: int, random: Random) -> Any:
        if not question.bins:
            return self.example(question, symbol)
        first, last = (grid_place(question, end) for end in bin_range(question, symbol))
        return grid_text(question, random.randint(first, last))

    def extreme_examples(self, question: Question) -> tuple[Any, Any]:
        return f"{question.min:f}", f"{question.max:f}"

    def midpoint_example(self, question: Question, symbol: int) -> Any:
        if symbol >= question.levels - 1:
            return None
        return grid_text(question, round(question.steps * (2 * symbol + 1) / (2 * (question.levels - 1))))

    def deniable_answer(self, question: Question) -> None:
        return None

    def estimator_sentence(self, question: Question, bits: int) -> str:
        if not question.levels:
            return ""
        levels = "; the lower level has the remaining share" if bits == 1 else " over the levels"
        return f"The mean of a number is the sum of level × share{levels}."

    def symbol_sentence(self, question: Question) -> Sentence:
        ends = {"low": Fraction(question.min), "high": Fraction(question.max)}
        if question.levels:
            return Sentence("privacy.levels", {"levels": question.levels, **ends})
        return Sentence("privacy.bins", {"bins": question.bins, **ends})

    def paper_example(self, question: Question, number: int) -> Any:
        return f"{question.min + number % (question.steps + 1) * question.step:f}"

    def describe_answers(self, question: Question, most: int) -> str:
        return number_range(question)

    def codebook_rows(self, question: Question) -> list[list[str]]:
        return [[str(symbol), digit_label(question, symbol)] for symbol in range(question.size)]

    def codebook_facts(self, question: Question) -> list[tuple[str, str]]:
        grain = (
            f"{question.levels} levels; numbers are rounded to them at random"
            if question.levels
            else f"{question.bins} bins"
        )
        return [("Range", number_range(question)), ("Symbols", grain)]


def grid_place(question: Question, value: Fraction) -> int:
    """Return the grid position nearest to a value: the number of steps above the smallest number."""
    return round((value - Fraction(question.min)) / Fraction(question.step))


def grid_text(question: Question, place: int) -> str:
    """Return the number at a grid position, as a person writes it."""
    return f"{question.min + place * question.step:f}"


def number_range(question: Question) -> str:
    """Return a phrase with the range, the unit and the step of a number."""
    unit = f" {question.unit}" if question.unit else ""
    return f"{question.min:f} to {question.max:f}{unit}, in steps of {question.step:f}"


def spread_numbers(question: Question, guess: Guess) -> tuple[Floats, Floats]:
    """Return places from 0 (the smallest number) to 1 (the largest), and the probability of each.

    The distribution is uniform, or a normal distribution cut to the range if a mean or an sd is guessed. Raise
    PlanError if the mean is outside the range.
    """
    points = min(question.steps, FINEST)
    places, chances = np.arange(points + 1) / points, np.full(points + 1, 1 / (points + 1))
    if guess.mean is None and guess.sd is None:
        return places, chances
    low, width = float(question.min), float(question.max - question.min)
    centre = 0.5 if guess.mean is None else (guess.mean - low) / width
    if not 0 <= centre <= 1:
        raise PlanError(
            "bad_mean", f"a mean of {guess.mean:g} is outside the range from {question.min} to {question.max}"
        )
    from scipy.special import ndtr  # imported on use, because it is slow and every command would wait for it

    sd = USUAL_SD if guess.sd is None else guess.sd / width
    edges = (places[1:] + places[:-1]) / 2
    below = ndtr((edges - centre) / sd) if sd > 0 else (edges > centre).astype(float)
    return places, np.diff(below, prepend=0.0, append=1.0)


def level_shares(places: Floats, chances: Floats, levels: int) -> Floats:
    """Return the probability of each level if places from 0 to 1 are rounded at random to an adjacent level."""
    position = places * (levels - 1)
    lower = np.minimum(np.floor(position + 1e-9).astype(np.int64), levels - 2)
    up = np.clip(position - lower, 0.0, 1.0)
    shares = np.bincount(lower, chances * (1 - up), levels) + np.bincount(lower + 1, chances * up, levels)
    return shares.astype(np.float64)


KIND = Number(
    name="number",
    menu="Number",
    plan_name="a number",
    codebook_name="a number",
    share_name="bin",
    share_phrase="a bin",
    answers_name="bins",
    ddi_domain="numeric",
    exclusive=True,
    starter={"min": "", "max": ""},
    author_keys=dict.fromkeys(("min", "max", "step", "unit", "bins", "mechanism"), AuthorValue.TEXT),
    preset_labels=(),
    template="console/types/number.html",
    answer_name_keys=(),
    can_force_answer=False,
)
