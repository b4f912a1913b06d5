"""What the devices of made-up people send, by the million: demo data, trials, coverage studies. Never a client's coins.

`survey_app.plan.people` draws what they would say; here it becomes noisy bits, as arrays. The distribution of the bits
is exactly the client's (a test compares them), but the generator is numpy's: fast, and not for secrets.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from client.definition import Field, Survey
from client.mechanisms import Drawn, Flip, Geometric, Subset
from client.question import Question
from client.sampling import WHOLE
from survey_app.plan.people import Generator, Indices
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
        bits[mine, at.part] = _field(at.field, {name: column[mine] for name, column in indices.items()}, len(mine), rng)
        if at.asked is not None:
            bits[mine, at.asked] = 1
    return bits


def _asked(survey: Survey, count: int, rng: Generator) -> Indices:
    """The field that each device answers: the first whose cumulative chance exceeds what was drawn."""
    ends = np.cumsum([field.chance for field in survey.fields])
    return np.searchsorted(ends, rng.integers(0, ends[-1], count), side="right")


def _smallest(keys: npt.NDArray[np.float64], count: int) -> Indices:
    """In each row, the places of its `count` smallest keys, in no order."""
    if count == keys.shape[1]:
        return np.broadcast_to(np.arange(count), keys.shape)
    return np.argpartition(keys, count - 1, axis=1)[:, :count]


def _field(field: Field, indices: Mapping[str, Indices], count: int, rng: Generator) -> Bits:
    symbols = _symbols(field, indices, rng)
    mechanism = field.mechanism
    if isinstance(mechanism, Flip):
        chances = np.where(symbols == 1, float(mechanism.p), float(mechanism.q))
        return (rng.random(count) < chances).astype(np.uint8)[:, None]
    if isinstance(mechanism, Geometric):
        return _geometric(mechanism, symbols, rng)
    if isinstance(mechanism, Drawn):
        return _drawn(mechanism, symbols, rng)
    return _subset(mechanism, symbols, rng)


def _symbols(field: Field, indices: Mapping[str, Indices], rng: Generator) -> Indices:
    """What each device randomizes: a digit, or the place of several digits among those that can occur together."""
    digits = tuple(_digit(question, indices[question.id], rng) for question in field.questions)
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


def _digit(question: Question, index: Indices, rng: Generator) -> Indices:
    """Numbers with levels are rounded at random, as on the device."""
    if not question.levels:
        return index
    position = np.minimum(index, question.steps) * (question.levels - 1)
    level = position // question.steps
    level = level + (rng.integers(0, question.steps, len(index)) < position % question.steps)
    return np.where(index > question.steps, question.levels, level)


def _subset(mechanism: Subset, symbols: Indices, rng: Generator) -> Bits:
    """The true symbol has the smallest key if it is held, else the largest."""
    count = len(symbols)
    held = rng.random(count) < float(mechanism.p)
    keys = rng.random((count, mechanism.size))
    keys[np.arange(count), symbols] = np.where(held, -1.0, 2.0)
    bits = np.zeros(keys.shape, dtype=np.uint8)
    np.put_along_axis(bits, _smallest(keys, mechanism.weight), 1, axis=1)
    return bits


def _drawn(mechanism: Drawn, masks: Indices, rng: Generator) -> Bits:
    """What was selected among the asked options is one of their sets, kept or another one."""
    count = len(masks)
    asked = _smallest(rng.random((count, mechanism.size)), mechanism.draw)
    place = np.arange(mechanism.draw)
    truth = ((masks[:, None] >> asked & 1) << place).sum(axis=1)
    held = rng.random(count) < mechanism.keep / WHOLE
    other = rng.integers(0, mechanism.sets - 1, count)
    sent = np.where(held, truth, other + (other >= truth))
    bits = np.zeros((count, mechanism.width), dtype=np.uint8)
    np.put_along_axis(bits, 2 * asked + (sent[:, None] >> place & 1), 1, axis=1)
    return bits


def _geometric(mechanism: Geometric, levels: Indices, rng: Generator) -> Bits:
    """The device's own arithmetic: one word decides how many of the tails it lies below, or as far from the top."""
    rising = np.array(mechanism.tails[::-1], dtype=np.uint64)
    up = rng.integers(0, WHOLE, len(levels), dtype=np.uint64)
    down = np.uint64(WHOLE - 1) - up
    above, below = (len(rising) - np.searchsorted(rising, word, side="right") for word in (up, down))
    sent = np.clip(levels + above - below, 0, mechanism.size - 1)
    bits: Bits = (sent[:, None] == np.arange(mechanism.size)).astype(np.uint8)
    return bits
