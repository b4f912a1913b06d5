"""What the devices of made-up people send, by the million: demo data, trials, coverage studies. Never a client's coins.

`survey_app.plan.people` draws what they would say; here it becomes noisy bits, as arrays. The distribution of the bits
is exactly the client's (a test compares them), but the generator is numpy's: fast, and not for secrets.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np

from client.definition import Field, Survey
from survey_app.channels import channel_of
from survey_app.channels.base import Generator, Indices
from survey_app.kinds import kind_of
from survey_app.tally import Bits, columns

CHUNK = 65_536


def reports(survey: Survey, indices: Mapping[str, Indices], rng: Generator) -> Iterator[Bits]:
    """What the devices of these people send: rows of packed bits, some tens of thousands at a time."""
    count = len(next(iter(indices.values())))
    for start in range(0, count, CHUNK):
        part = {name: column[start : start + CHUNK] for name, column in indices.items()}
        yield np.packbits(_chunk(survey, part, min(CHUNK, count - start), rng), axis=1)


def _chunk(survey: Survey, indices: Mapping[str, Indices], count: int, rng: Generator) -> Bits:
    asked = _asked(survey, count, rng) if survey.ask else None
    bits = np.zeros((count, survey.width), dtype=np.uint8)
    for position, at in enumerate(columns(survey)):
        mine = np.arange(count) if asked is None else np.flatnonzero(asked == position)
        symbols = _symbols(at.field, {name: column[mine] for name, column in indices.items()}, rng)
        bits[mine, at.part] = channel_of(at.field.mechanism).sample(symbols, rng)
        if at.asked is not None:
            bits[mine, at.asked] = 1
    return bits


def _asked(survey: Survey, count: int, rng: Generator) -> Indices:
    """The field that each device answers: the first whose cumulative chance exceeds what was drawn."""
    ends = np.cumsum([field.chance for field in survey.fields])
    return np.searchsorted(ends, rng.integers(0, ends[-1], count), side="right")


def _symbols(field: Field, indices: Mapping[str, Indices], rng: Generator) -> Indices:
    """What each device randomizes: a digit, or the place of several digits among those that can occur together."""
    digits = tuple(
        kind_of(question).sample_symbols(question, indices[question.id], rng) for question in field.questions
    )
    if not field.joint:
        return digits[0]
    symbols = _places(field)[digits]
    if (symbols < 0).any():
        raise ValueError("somebody answers a question that another answer hides")
    return symbols


@lru_cache(maxsize=16)
def _places(field: Field) -> Indices:
    """The symbol of each combination of digits; −1 where they cannot occur together."""
    table = np.full([question.size for question in field.questions], -1)
    for symbol, digits in enumerate(field.cells):
        table[digits] = symbol
    return table
