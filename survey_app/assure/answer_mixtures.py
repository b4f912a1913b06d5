"""The symbols that an answer may become.

A number between two levels is rounded at random, so an answer is a mixture of symbols.
Every probability of a mixture is the average of the probabilities of its symbols.
"""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from candor_client.definition import Field
from survey_app.channels import Channel
from survey_app.channels.channel import Hits, Matrix
from survey_app.figures import Floats
from survey_app.kinds import kind_of

Mixture = tuple[tuple[int, float], ...]  # symbols, each with its probability under rounding


def mixture_of(field: Field, indices: Sequence[int]) -> Mixture:
    """Return the symbols of a field that the answer indices of its questions may become, each with its chance."""
    symbol_chances = [
        kind_of(question).symbol_chances(question, index)
        for question, index in zip(field.questions, indices, strict=True)
    ]
    mixture = []
    for digits in product(*symbol_chances):
        chance = 1.0
        for _, factor in digits:
            chance *= factor
        cell = tuple(digit for digit, _ in digits)
        mixture.append((field.symbols[cell] if field.joint else cell[0], chance))
    return tuple(mixture)


def average_over_mixture(mixture: Mixture, value_of: Callable[[int], Floats]) -> Floats:
    """Return the average of `value_of(symbol)` over the symbols that an answer may become."""
    average: Floats = np.sum([chance * value_of(symbol) for symbol, chance in mixture], axis=0)
    return average


def truthful_reports(channel: Channel, rows: Matrix, mixture: Mixture) -> tuple[Hits, float]:
    """Return which reports name the true symbol, and the chance that a report does.

    The true symbol of a mixture is its likeliest one.
    """
    symbol, _ = max(mixture, key=lambda entry: entry[1])
    chance = sum(weight * channel.match_chance(symbol, true) for true, weight in mixture)
    return channel.match_symbol(rows, symbol), chance
