"""Tests of reused noise: a later report, or a restart of the same client, that draws the same noise again.

Each report gives one number: 1 or 0 for a true or false report, minus its chance, scaled to variance one.
In an honest client these numbers are independent, with mean zero and variance one.
So for every k, the summed products with the numbers of reports k lines later are a martingale.
Freedman's inequality (1975) bounds that sum.
A Fourier transform tests all distances at once, within a process and between any two processes.
A linear generator repeats nothing for very long, but its bits follow a recurrence.
The Mersenne Twister and the Math.random of browsers are linear.
The algorithm of Berlekamp and Massey (1969) finds the recurrence in the ids, where every report uses the same number
of bits.
"""

import math
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from candor_client.definition import Survey
from survey_app.assure.answer_mixtures import truthful_reports
from survey_app.assure.audit.inputs import Inputs
from survey_app.assure.audit.report_reader import Reports
from survey_app.channels import channel_of
from survey_app.figures import Floats
from survey_app.tally import Columns, columns

STRIDES = (1, 64)  # browsers use a cache of 64 numbers, backwards: every 64th report is in order
MIN_BITS = 64
MOST_FIELDS = 8  # that are tested together
MOST_BITS = 42_000  # the Mersenne Twister is recognized after 2 · 19,937
TESTED_ID_BITS = (0, 63, 127)  # bits of an id


_chance = secrets.SystemRandom()


@dataclass(frozen=True)
class Oddity:
    """The most extreme result of a test: its p-value in an honest client, and a description."""

    p_value: float
    detail: str


def check_repeated_noise(survey: Survey, inputs: Inputs, reports: Reports, error: float) -> Oddity:
    """Return the strongest sign that two processes, or two parts of one process, share their noise.

    The starts of processes are a separate family of tests, so that equal starts are found most easily.
    """
    masks = [reports.process == process for process in np.unique(reports.process)]
    tests: list[tuple[Floats, int, float, str]] = []  # sums by distance, number of terms, bound, label
    start_tests: list[tuple[Floats, int, float, str]] = []  # the tests at equal places of two processes
    for label, series, largest in _series(survey, inputs, reports):
        runs = [[_align_to_lines(values[mask], reports.place[mask]) for values in series] for mask in masks]
        for number, series_here in enumerate(runs):
            length = len(series_here[0])
            tests.append(
                (
                    _lagged_products(series_here, series_here)[1 : length // 2],
                    length * len(series),
                    largest,
                    f"{label}, {{}} reports apart",
                )
            )
            for series_there in runs[:number]:
                shortest = min(length, len(series_there[0]))
                forward, backward = (
                    _lagged_products(series_here, series_there),
                    _lagged_products(series_there, series_here),
                )
                products = np.concatenate([forward[1 : shortest // 2], backward[1 : shortest // 2]])
                tests.append((products, shortest * len(series), largest, f"{label}, in two processes"))
                start_tests.append(
                    (forward[:1], shortest * len(series), largest, f"{label}, at the start of two processes")
                )
    rare = 2 * (len(tests) + len(start_tests)) / error
    oddities = [_strongest_oddity(tests, rare), _strongest_oddity(start_tests, rare)]
    worst = min(oddities, key=lambda series_here: series_here.p_value)
    return Oddity(min(1.0, 2 * worst.p_value + error / 2), worst.detail)


def _strongest_oddity(tests: list[tuple[Floats, int, float, str]], rare: float) -> Oddity:
    count = sum(len(sums) for sums, *_ in tests)
    worst, detail = 1.0, ""
    for sums, n, largest, label in tests:
        if len(sums):
            place = int(np.abs(sums).argmax())
            chance = _tail(abs(float(sums[place])), _spread(n, largest, rare), largest**2)
            if chance < worst:
                worst, detail = chance, f"the same noise twice: {label.format(place + 1)}"
    return Oddity(worst * count, detail)


def check_shared_noise(survey: Survey, inputs: Inputs, reports: Reports) -> Oddity:
    """Return the strongest sign that three or more fields share their noise, even if no two of them do.

    The test uses products over sets of fields.
    """
    fields = _sample_fields(survey)
    worst, detail, count = 1.0, "", 0
    for by_bit in _by_bit_values(survey):
        numbers = [_noise(survey, inputs, reports, at, by_bit=by_bit) for at in fields]
        for subset in _subsets_of_fields(len(fields)):
            count += 1
            total = abs(float(np.prod([numbers[place][0] for place in subset], axis=0).sum()))
            chance = _tail(total, len(reports.inputs), math.prod(numbers[place][1] for place in subset))
            if chance < worst:
                names = [question.id for place in subset for question in fields[place].field.questions]
                worst, detail = chance, f"the noise of {', '.join(names)} is not independent"
    return Oddity(min(1.0, worst * max(count, 1)), detail)


def _subsets_of_fields(count: int) -> Iterator[tuple[int, ...]]:
    for size in range(3, count + 1):
        yield from combinations(range(count), size)


def _by_bit_values(survey: Survey) -> tuple[bool, ...]:
    """Return the values of `by_bit` to test.

    One coin shared by two reports may make both untrue or, in a field of one bit, make both bits 1.
    """
    return (False, True) if any(field.mechanism.width == 1 for field in survey.fields) else (False,)


def _noise(survey: Survey, inputs: Inputs, reports: Reports, at: Columns, *, by_bit: bool) -> tuple[Floats, float]:
    """Return a number of mean zero and variance one for every report, and the largest possible number.

    The number depends on whether the report to a field is true or, with `by_bit` in a field of one bit, whether the bit
    is 1. Reports that were not asked this field get zero.
    """
    values, largest = np.zeros(len(reports.inputs)), 1.0
    index = survey.fields.index(at.field)
    for number, mixtures in enumerate(inputs.mixtures):
        rows = reports.inputs == number
        if at.asked_column is not None:
            rows &= reports.bits[:, at.asked_column] == 1
        channel, field_bits = channel_of(at.field.mechanism), reports.bits[rows, at.bit_slice]
        hits, chance = truthful_reports(channel, field_bits, mixtures[index])
        if by_bit and at.field.mechanism.width == 1 and mixtures[index] == ((0, 1.0),):
            hits, chance = ~hits, 1 - chance
        values[rows] = (hits - chance) / math.sqrt(chance * (1 - chance))
        largest = max(largest, math.sqrt(chance / (1 - chance)), math.sqrt((1 - chance) / chance))
    return values, largest


def _series(survey: Survey, inputs: Inputs, reports: Reports) -> Iterator[tuple[str, list[Floats], float]]:
    """Yield a label, series of numbers of mean zero and variance one for all reports, and the largest possible number.

    The numbers depend on whether each field of a report is true, or whether its bit is 1.
    With `ask` there is one series for the field that was asked, and one for which half of the fields was drawn.
    """
    for by_bit in _by_bit_values(survey):
        numbers = [_noise(survey, inputs, reports, at, by_bit=by_bit) for at in _sample_fields(survey)]
        values = [chance for chance, _ in numbers]
        if survey.ask:
            values = [np.sum(values, axis=0)]
        yield "stored bits" if by_bit else "truthful reports", values, max(largest for _, largest in numbers)
    if not survey.ask:
        return
    chances = np.array([float(survey.answer_probability(field)) for field in survey.fields])
    half = np.cumsum(chances) <= max(0.5, float(chances[0]))
    chance = float(chances[half].sum())
    places = [int(at.asked_column or 0) for at, is_in_half in zip(columns(survey), half, strict=True) if is_in_half]
    hits = reports.bits[:, places].sum(axis=1)
    if 0 < chance < 1:
        root = math.sqrt(chance * (1 - chance))
        yield "questions asked", [(hits - chance) / root], max(chance, 1 - chance) / root


def _sample_fields(survey: Survey) -> list[Columns]:
    """Return the fields to test; a random sample if all fields are asked and there are many."""
    fields = list(columns(survey))
    return fields if survey.ask or len(fields) <= MOST_FIELDS else _chance.sample(fields, MOST_FIELDS)


def _align_to_lines(values: Floats, places: np.ndarray) -> Floats:
    """Return the values at the places of their lines, with zeros for lines that are no report."""
    result = np.zeros(int(places.max()) + 1)
    result[places] = values
    return result


def _lagged_products(left: list[Floats], right: list[Floats]) -> Floats:
    """Return the sum of left[i] · right[i + k] over all series, for every k."""
    size = next_fast_len(len(left[0]) + len(right[0]), real=True)
    products = [
        np.conj(rfft(left_row, size)) * rfft(right_row, size) for left_row, right_row in zip(left, right, strict=True)
    ]
    sums: Floats = irfft(np.sum(products, axis=0), size)[: len(right[0])]
    return sums


def _spread(n: int, largest: float, rare: float) -> float:
    """Return a bound on the sum of squares of n numbers; it fails with probability 1/rare at most (Bernstein)."""
    unlikely = math.log(rare)
    return n + largest * math.sqrt(2 * n * unlikely) + largest**2 * unlikely


def _tail(total: float, spread: float, largest: float) -> float:
    """Return a bound on the probability that a sum of products is this large, in either direction.

    The bound is Freedman's, or Bernstein's if the products are independent.
    """
    return 2 * math.exp(-(total**2) / (2 * (spread + largest * total / 3)))


def recurrence(reports: Reports) -> Oddity:
    """Return the strongest sign that a bit of the ids follows a linear rule far shorter than in random bits."""
    worst, detail, count = 0.0, "", 0
    for process in np.unique(reports.process):
        ids = reports.ids[reports.process == process]
        for stride in STRIDES:
            for bit in TESTED_ID_BITS:
                bits = ids[::stride, bit][:MOST_BITS].tolist()
                if len(bits) < MIN_BITS:
                    continue
                count += 1
                length = linear_complexity(bits)
                log_p = min(0.0, 2.0 * length + 1 - len(bits))  # (2^(2L+1) + 1)/3 of 2^n rows have a rule ≤ L
                if log_p < worst:
                    worst = log_p
                    detail = f"bit {bit} of the ids follows a linear rule of {length} bits, in {len(bits)} reports"
    return Oddity(min(1.0, math.ldexp(max(count, 1), max(int(worst), -1_000))), detail)


def linear_complexity(bits: list[int]) -> int:
    """Return the linear complexity: the length of the shortest linear feedback register that generates these bits."""
    rule = previous = 1
    length, since, history = 0, 1, 0
    for position, bit in enumerate(bits):
        history = history << 1 | bit
        if (rule & history).bit_count() & 1:
            earlier = rule
            rule ^= previous << since
            if 2 * length <= position:
                length, previous, since = position + 1 - length, earlier, 0
        since += 1
    return length
