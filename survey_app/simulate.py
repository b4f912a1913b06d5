"""Made-up respondents by the million: demo data, previews, coverage studies. Never a client's coins.

`people` draws what they would say, `reports` what their devices would send, both as arrays. The distribution of the
bits is exactly the client's (a test compares them), but the generator is numpy's: fast, and not for secrets.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from client.definition import Field, Question, Survey
from client.mechanism import Flip, Geometric, Sampled, Subset
from client.sampling import WHOLE

CHUNK = 65_536
Indices = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]
Generator = np.random.Generator


class TruthError(Exception):
    """What is said about the population does not fit the survey."""


def people(survey: Survey, truth: Mapping[str, Any], count: int, rng: Generator) -> dict[str, Indices]:
    """The index of every question for each of `count` people; questions are independent but for what hides them.

    `truth` gives for a yes_no the share of yes; for a choice or scale the share of each label; for a multiple the share
    that picks each label; for a number its mean and sd. `{"no_answer": share, "of": …}` says how many skip.
    """
    unknown = set(truth) - survey.ids
    if unknown:
        raise TruthError(f"there is no question {min(unknown)!r}")
    found: dict[str, Indices] = {}
    for question in survey.questions:
        said = truth.get(question.id)
        skipped = 0.0
        if isinstance(said, Mapping) and "no_answer" in said:
            skipped, said = _share(question, said["no_answer"]), said.get("of")
        indices = _draw(question, said, count, rng)
        none = question.steps + 1 if question.levels else question.no_answer
        if skipped:
            if not question.optional:
                raise TruthError(f"{question.id} is not optional")
            indices = np.where(rng.random(count) < skipped, none, indices)
        if question.show_if:
            indices = np.where(_shown(survey, question, found), indices, none)
        found[question.id] = indices
    return found


def reports(survey: Survey, indices: Mapping[str, Indices], rng: Generator) -> Iterator[Bits]:
    """What the devices of these people send: rows of packed bits, some tens of thousands at a time."""
    count = len(next(iter(indices.values())))
    for start in range(0, count, CHUNK):
        part = {name: column[start : start + CHUNK] for name, column in indices.items()}
        yield np.packbits(_chunk(survey, part, min(CHUNK, count - start), rng), axis=1)


def _share(question: Question, value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise TruthError(f"{question.id}: {value!r} is not a share from 0 to 1")
    return float(value)


def _draw(question: Question, said: Any, count: int, rng: Generator) -> Indices:
    labels = question.labels
    if question.type == "number":
        return _numbers(question, said or {}, count, rng)
    if question.type == "yes_no":
        return (rng.random(count) < _share(question, 0.2 if said is None else said)).astype(np.int64)
    if said is not None and (not isinstance(said, Mapping) or set(said) - set(labels)):
        raise TruthError(f"{question.id}: give a share for each of {', '.join(labels[:8])}")
    if question.type == "multiple":
        chances = [_share(question, 0.3 if said is None else said.get(label, 0)) for label in labels]
        picked = rng.random((count, len(labels))) < np.array(chances)
        return picked @ (1 << np.arange(len(labels), dtype=np.int64))
    shares = np.array(
        [1 / (i + 1) if said is None else _share(question, said.get(label, 0)) for i, label in enumerate(labels)]
    )
    if shares.sum() <= 0:
        raise TruthError(f"{question.id}: all shares are 0")
    return rng.choice(len(labels), count, p=shares / shares.sum())


def _numbers(question: Question, said: Any, count: int, rng: Generator) -> Indices:
    low, high, step = float(question.min), float(question.max), float(question.step)
    try:
        mean, sd = float(said.get("mean", low + (high - low) / 3)), float(said.get("sd", (high - low) / 6))
    except (AttributeError, TypeError, ValueError):
        raise TruthError(f"{question.id}: give mean and sd") from None
    index = np.clip(np.rint((rng.normal(mean, sd, count) - low) / step), 0, question.steps).astype(np.int64)
    return index * question.bins // (question.steps + 1) if question.bins else index


def _shown(survey: Survey, question: Question, found: Mapping[str, Indices]) -> npt.NDArray[np.bool_]:
    """A parent without an answer has an index beyond its labels, or no bit set among them."""
    if question.show_if is None:
        raise ValueError("nothing hides this question")
    parent = next(one for one in survey.questions if one.id == question.show_if.question)
    places = [parent.labels.index(label) for label in question.show_if.labels]
    column = found[parent.id]
    if parent.type == "multiple":
        mask = sum(1 << place for place in places)
        return (column & mask) > 0
    return np.isin(column, places)


def _chunk(survey: Survey, indices: Mapping[str, Indices], count: int, rng: Generator) -> Bits:
    asked = np.ones((count, len(survey.fields)), dtype=bool)
    if survey.ask is not None:
        asked = _some(rng.random(asked.shape), survey.ask)
    columns: list[Bits] = []
    for place, field in enumerate(survey.fields):
        bits = _field(field, indices, count, rng)
        if survey.ask is not None:
            mark = asked[:, place : place + 1].astype(np.uint8)
            columns.append(mark)
            bits = bits * mark
        columns.append(bits)
    return np.concatenate(columns, axis=1)


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
