"""Simulated devices: millions of reports for demo data, trials and coverage studies, never for real answers.

`survey_app.plan.simulated_people` draws the answers; this module turns them into noisy bits, as arrays.
The bits have exactly the distribution of the client's bits, and a test compares them.
The random generator is numpy's: fast, and not fit for secrets.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np

from candor_client.definition import Field, Survey
from survey_app.channels import channel_of
from survey_app.channels.channel import Generator, Indices
from survey_app.kinds import kind_of
from survey_app.tally import Bits, columns

CHUNK = 65_536


def reports(survey: Survey, indices: Mapping[str, Indices], rng: Generator) -> Iterator[Bits]:
    """Yield the reports of devices with these answers: rows of packed bits, at most `CHUNK` at a time."""
    count = len(next(iter(indices.values())))
    for start in range(0, count, CHUNK):
        part = {name: column[start : start + CHUNK] for name, column in indices.items()}
        yield np.packbits(_randomize_chunk(survey, part, min(CHUNK, count - start), rng), axis=1)


def _randomize_chunk(survey: Survey, indices: Mapping[str, Indices], count: int, rng: Generator) -> Bits:
    field_numbers = _draw_field_numbers(survey, count, rng) if survey.ask else None
    bits = np.zeros((count, survey.width), dtype=np.uint8)
    for position, place in enumerate(columns(survey)):
        rows = np.arange(count) if field_numbers is None else np.flatnonzero(field_numbers == position)
        symbols = _draw_symbols(place.field, {name: column[rows] for name, column in indices.items()}, rng)
        bits[rows, place.bit_slice] = channel_of(place.field.mechanism).sample(symbols, rng)
        if place.asked_column is not None:
            bits[rows, place.asked_column] = 1
    return bits


def _draw_field_numbers(survey: Survey, count: int, rng: Generator) -> Indices:
    """Return the field that each device answers: the first whose cumulative chance exceeds the number drawn."""
    ends = np.cumsum([field.chance for field in survey.fields])
    return np.searchsorted(ends, rng.integers(0, ends[-1], count), side="right")


def _draw_symbols(field: Field, indices: Mapping[str, Indices], rng: Generator) -> Indices:
    """Return the symbol that each device randomizes.

    It is a digit or, in a joint field, the place of several digits among the possible combinations.
    Raise ValueError if a combination is impossible.
    """
    digits = tuple(
        kind_of(question).sample_symbols(question, indices[question.id], rng) for question in field.questions
    )
    if not field.joint:
        return digits[0]
    symbols = _symbol_table(field)[digits]
    if (symbols < 0).any():
        raise ValueError("a respondent answers a question that another answer hides")
    return symbols


@lru_cache(maxsize=16)
def _symbol_table(field: Field) -> Indices:
    """Return the symbol of each combination of digits; −1 if the combination is impossible."""
    table = np.full([question.size for question in field.questions], -1)
    for symbol, digits in enumerate(field.cells):
        table[digits] = symbol
    return table
