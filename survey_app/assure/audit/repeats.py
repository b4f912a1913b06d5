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
FEWEST_BITS = 64
MOST_FIELDS = 8  # that are tested together
MOST_BITS = 42_000  # the Mersenne Twister is recognized after 2 · 19,937
LOOKED_AT = (0, 63, 127)  # bits of an id


_chance = secrets.SystemRandom()


@dataclass(frozen=True)
class Oddity:
    """The most extreme result of a test: its p-value in an honest client, and a description."""

    p_value: float
    told: str


def repeated_noise(survey: Survey, given: Inputs, reports: Reports, error: float) -> Oddity:
    """Return the strongest sign that two processes, or two parts of one process, share their noise.

    The starts of processes are a separate family of tests, so that equal starts are found most easily.
    """
    each = [reports.process == process for process in np.unique(reports.process)]
    tests: list[tuple[Floats, int, float, str]] = []  # sums by distance, number of terms, bound, label
    begun: list[tuple[Floats, int, float, str]] = []  # the tests at equal places of two processes
    for what, series, largest in _series(survey, given, reports):
        runs = [[_in_line(values[mine], reports.place[mine]) for values in series] for mine in each]
        for number, one in enumerate(runs):
            length = len(one[0])
            tests.append((_products(one, one)[1 : length // 2], length * len(series), largest, f"{what}, {{}} apart"))
            for other in runs[:number]:
                shortest = min(length, len(other[0]))
                ahead, behind = _products(one, other), _products(other, one)
                both = np.concatenate([ahead[1 : shortest // 2], behind[1 : shortest // 2]])
                tests.append((both, shortest * len(series), largest, f"{what}, in two processes"))
                begun.append((ahead[:1], shortest * len(series), largest, f"{what}, where two processes begin"))
    rare = 2 * (len(tests) + len(begun)) / error
    found = [_oddest(tests, rare), _oddest(begun, rare)]
    worst = min(found, key=lambda one: one.p_value)
    return Oddity(min(1.0, 2 * worst.p_value + error / 2), worst.told)


def _oddest(tests: list[tuple[Floats, int, float, str]], rare: float) -> Oddity:
    count = sum(len(sums) for sums, *_ in tests)
    worst, told = 1.0, ""
    for sums, n, largest, what in tests:
        if len(sums):
            place = int(np.abs(sums).argmax())
            chance = _tail(abs(float(sums[place])), _spread(n, largest, rare), largest**2)
            if chance < worst:
                worst, told = chance, f"the same noise again: {what.format(place + 1)}"
    return Oddity(worst * count, told)


def noise_of_many(survey: Survey, given: Inputs, reports: Reports) -> Oddity:
    """Return the strongest sign that three or more fields share their noise, even if no two of them do.

    The test uses products over sets of fields.
    """
    fields = _some(survey)
    worst, told, tested = 1.0, "", 0
    for said in _ways(survey):
        each = [_noise(survey, given, reports, at, said=said) for at in fields]
        for some in _sets(len(fields)):
            tested += 1
            reached = abs(float(np.prod([each[place][0] for place in some], axis=0).sum()))
            chance = _tail(reached, len(reports.inputs), math.prod(each[place][1] for place in some))
            if chance < worst:
                names = [question.id for place in some for question in fields[place].field.questions]
                worst, told = chance, f"noise of {', '.join(names)} hangs together"
    return Oddity(min(1.0, worst * max(tested, 1)), told)


def _sets(count: int) -> Iterator[tuple[int, ...]]:
    for size in range(3, count + 1):
        yield from combinations(range(count), size)


def _ways(survey: Survey) -> tuple[bool, ...]:
    """Return the values of `by_bit` to test.

    One coin shared by two reports may make both untrue or, in a field of one bit, make both bits 1.
    """
    return (False, True) if any(field.mechanism.width == 1 for field in survey.fields) else (False,)


def _noise(survey: Survey, given: Inputs, reports: Reports, at: Columns, *, said: bool) -> tuple[Floats, float]:
    """Return a number of mean zero and variance one for every report, and the largest possible number.

    The number depends on whether the report to a field is true or, with `by_bit` in a field of one bit, whether the bit
    is 1. Reports that were not asked this field get zero.
    """
    values, largest = np.zeros(len(reports.inputs)), 1.0
    index = survey.fields.index(at.field)
    for number, mixtures in enumerate(given.mixtures):
        rows = reports.inputs == number
        if at.asked is not None:
            rows &= reports.bits[:, at.asked] == 1
        channel, own = channel_of(at.field.mechanism), reports.bits[rows, at.part]
        hits, chance = truthful_reports(channel, own, mixtures[index])
        if said and at.field.mechanism.width == 1 and mixtures[index] == ((0, 1.0),):
            hits, chance = ~hits, 1 - chance
        values[rows] = (hits - chance) / math.sqrt(chance * (1 - chance))
        largest = max(largest, math.sqrt(chance / (1 - chance)), math.sqrt((1 - chance) / chance))
    return values, largest


def _series(survey: Survey, given: Inputs, reports: Reports) -> Iterator[tuple[str, list[Floats], float]]:
    """Yield a label, series of numbers of mean zero and variance one for all reports, and the largest possible number.

    The numbers depend on whether each field of a report is true, or whether its bit is 1.
    With `ask` there is one series for the field that was asked, and one for which half of the fields was drawn.
    """
    for said in _ways(survey):
        each = [_noise(survey, given, reports, at, said=said) for at in _some(survey)]
        values = [one for one, _ in each]
        if survey.ask:
            values = [np.sum(values, axis=0)]
        yield "what is said" if said else "what is true", values, max(largest for _, largest in each)
    if not survey.ask:
        return
    chances = np.array([float(survey.part(field)) for field in survey.fields])
    half = np.cumsum(chances) <= max(0.5, float(chances[0]))
    one = float(chances[half].sum())
    places = [int(at.asked or 0) for at, mine in zip(columns(survey), half, strict=True) if mine]
    drawn = reports.bits[:, places].sum(axis=1)
    if 0 < one < 1:
        root = math.sqrt(one * (1 - one))
        yield "what was asked", [(drawn - one) / root], max(one, 1 - one) / root


def _some(survey: Survey) -> list[Columns]:
    """Return the fields to test; a random sample if all fields are asked and there are many."""
    fields = list(columns(survey))
    return fields if survey.ask or len(fields) <= MOST_FIELDS else _chance.sample(fields, MOST_FIELDS)


def _in_line(values: Floats, places: np.ndarray) -> Floats:
    """Return the values at the places of their lines, with zeros for lines that are no report."""
    found = np.zeros(int(places.max()) + 1)
    found[places] = values
    return found


def _products(one: list[Floats], other: list[Floats]) -> Floats:
    """Return the sum of left[i] · right[i + k] over all series, for every k."""
    size = next_fast_len(len(one[0]) + len(other[0]), real=True)
    each = [np.conj(rfft(mine, size)) * rfft(theirs, size) for mine, theirs in zip(one, other, strict=True)]
    found: Floats = irfft(np.sum(each, axis=0), size)[: len(other[0])]
    return found


def _spread(n: int, largest: float, rare: float) -> float:
    """Return a bound on the sum of squares of n numbers; it fails with probability 1/rare at most (Bernstein)."""
    unlikely = math.log(rare)
    return n + largest * math.sqrt(2 * n * unlikely) + largest**2 * unlikely


def _tail(reached: float, spread: float, largest: float) -> float:
    """Return a bound on the probability that a sum of products is this large, in either direction.

    The bound is Freedman's, or Bernstein's if the products are independent.
    """
    return 2 * math.exp(-(reached**2) / (2 * (spread + largest * reached / 3)))


def recurrence(reports: Reports) -> Oddity:
    """Return the strongest sign that a bit of the ids follows a linear rule far shorter than in random bits."""
    worst, told, tested = 0.0, "", 0
    for process in np.unique(reports.process):
        ids = reports.ids[reports.process == process]
        for stride in STRIDES:
            for place in LOOKED_AT:
                bits = ids[::stride, place][:MOST_BITS].tolist()
                if len(bits) < FEWEST_BITS:
                    continue
                tested += 1
                length = shortest_rule(bits)
                unlikely = min(0.0, 2.0 * length + 1 - len(bits))  # (2^(2L+1) + 1)/3 of 2^n rows have a rule ≤ L
                if unlikely < worst:
                    worst = unlikely
                    told = f"bit {place} of the ids follows a rule of {length} bits, in {len(bits)} reports"
    return Oddity(min(1.0, math.ldexp(max(tested, 1), max(int(worst), -1_000))), told)


def shortest_rule(bits: list[int]) -> int:
    """Return the linear complexity: the length of the shortest linear feedback register that generates these bits."""
    rule = before = 1
    length, since, seen = 0, 1, 0
    for place, bit in enumerate(bits):
        seen = seen << 1 | bit
        if (rule & seen).bit_count() & 1:
            kept = rule
            rule ^= before << since
            if 2 * length <= place:
                length, before, since = place + 1 - length, kept, 0
        since += 1
    return length
