"""What the devices of made-up people send, by the million: demo data, trials, coverage studies. Never a client's coins.

`survey_app.plan.people` draws what they would say; here it becomes noisy bits, as arrays. The distribution of the bits
is exactly the client's (a test compares them), but the generator is numpy's: fast, and not for secrets.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from client.definition import Field, Question, Survey
from client.mechanism import Flip, Geometric, Sampled, Subset
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
    asked = np.ones((count, len(survey.fields)), dtype=bool)
    if survey.ask is not None:
        asked = _some(rng.random(asked.shape), survey.ask)
    bits = np.zeros((count, survey.width), dtype=np.uint8)
    for at, marks in zip(columns(survey), asked.T, strict=True):
        bits[:, at.part] = _field(at.field, indices, count, rng) * marks[:, None]
        if at.asked is not None:
            bits[:, at.asked] = marks
    return bits


def _some(keys: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.bool_]:
    """In each row, which keys are among its `count` smallest."""
    chosen = np.zeros(keys.shape, dtype=bool)
    if count >= keys.shape[1]:
        chosen[:] = True
    elif count:
        places = np.argpartition(keys, count - 1, axis=1)[:, :count]
        np.put_along_axis(chosen, places, True, axis=1)
    return chosen


def _field(field: Field, indices: Mapping[str, Indices], count: int, rng: Generator) -> Bits:
    symbols = np.zeros(count, dtype=np.int64)
    for question in field.questions:
        symbols = symbols * (1 if isinstance(field.mechanism, Sampled) else question.size) + _digit(
            question, indices[question.id], rng
        )
    mechanism = field.mechanism
    rows = np.arange(count)
    if isinstance(mechanism, Flip):
        chances = np.where(symbols == 1, float(mechanism.p), float(mechanism.q))
        return (rng.random(count) < chances).astype(np.uint8)[:, None]
    if isinstance(mechanism, Geometric):
        return _geometric(mechanism, symbols, rng)
    if isinstance(mechanism, Sampled):
        return _sampled(mechanism, symbols, rng)
    if isinstance(mechanism, Subset):
        held = rng.random(count) < float(mechanism.p)
        keys = rng.random((count, mechanism.size))
        keys[rows, symbols] = np.where(held, -1.0, 2.0)
        return _some(keys, mechanism.weight).astype(np.uint8)
    bits = rng.random((count, mechanism.size)) < float(mechanism.q)
    bits[rows, symbols] = rng.random(count) < float(mechanism.p)
    return bits.astype(np.uint8)


def _digit(question: Question, index: Indices, rng: Generator) -> Indices:
    """Numbers with levels are rounded at random, as on the device."""
    if not question.levels:
        return index
    position = np.minimum(index, question.steps) * (question.levels - 1)
    level = position // question.steps
    level = level + (rng.integers(0, question.steps, len(index)) < position % question.steps)
    return np.where(index > question.steps, question.levels, level)


def _sampled(mechanism: Sampled, masks: Indices, rng: Generator) -> Bits:
    count, size = len(masks), mechanism.size
    asked = _some(rng.random((count, size)), mechanism.draw)
    selected = (masks[:, None] >> np.arange(size)) & 1
    heads = rng.random((count, size)) < np.where(selected == 1, float(mechanism.p), float(mechanism.q))
    bits = np.zeros((count, 2 * size), dtype=np.uint8)
    bits[:, 0::2] = asked & ~heads
    bits[:, 1::2] = asked & heads
    return bits


def _geometric(mechanism: Geometric, levels: Indices, rng: Generator) -> Bits:
    tails = 1 - mechanism.ratio / WHOLE
    noisy = levels + rng.geometric(tails, len(levels)) - rng.geometric(tails, len(levels))
    half = 1 << (mechanism.width - 1)
    stored = np.clip(noisy, -half, half - 1) & ((1 << mechanism.width) - 1)
    bits: Bits = ((stored[:, None] >> np.arange(mechanism.width - 1, -1, -1)) & 1).astype(np.uint8)
    return bits
