"""Whether noise comes again: a later report, or another start of the same client, that draws what was drawn before.

Of every report one number is taken: whether it says what is true, less the chance that it does. In an honest client
these are independent, with mean zero and variance one; so their products with those of reports k lines later, summed,
are a martingale for every k, and Freedman's inequality (1975) bounds how large they become. All distances are looked at
at once, by Fourier's transform, within a process and between any two. A generator that is linear, as Mersenne's twister
and the Math.random of browsers are, repeats nothing for ages, but its bits follow a recurrence: Berlekamp and Massey's
algorithm (1969) finds it in the ids, where every report takes the same number of bits.
"""

import math
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from client.definition import Survey
from survey_app.assure.audit.inputs import Inputs
from survey_app.assure.audit.reading import Reports
from survey_app.assure.mixtures import truthful_reports
from survey_app.channels import channel_of
from survey_app.figures import Floats
from survey_app.tally import Columns, columns

STRIDES = (1, 64)  # browsers take their numbers from a store of 64, backwards: every 64th report goes straight
FEWEST_BITS = 64
MOST_FIELDS = 8  # that are looked at together
MOST_BITS = 42_000  # Mersenne's twister betrays itself after 2 · 19,937
LOOKED_AT = (0, 63, 127)  # bits of an id


_chance = secrets.SystemRandom()


@dataclass(frozen=True)
class Oddity:
    """The oddest thing of its kind: how unlikely it is in an honest client, and what it is."""

    p_value: float
    told: str


def repeated_noise(survey: Survey, given: Inputs, reports: Reports, error: float) -> Oddity:
    """Whether two processes, or two moments of one, have their noise in common; above all whether they begin alike."""
    each = [reports.process == process for process in np.unique(reports.process)]
    tests: list[tuple[Floats, int, float, str]] = []  # sums of products by distance, of how many, their bound
    begun: list[tuple[Floats, int, float, str]] = []  # those at the same place of two processes
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
    """Whether three fields or more have their noise in common, where any two have not: products over sets of fields."""
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
    """One coin for two people may make both lie or, where it is their only bit, both say yes."""
    return (False, True) if any(field.mechanism.width == 1 for field in survey.fields) else (False,)


def _noise(survey: Survey, given: Inputs, reports: Reports, at: Columns, *, said: bool) -> tuple[Floats, float]:
    """Of every report that was asked a field, whether it is true, or with `said` of an only bit whether it is 1.

    Less its chance, with variance one; and how large that may be.
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
    """For every report numbers of mean zero and variance one, and how large they may be.

    Whether what it says is true, or yes, in each field; with `ask` in the one, and also which half of the fields was
    drawn.
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
    """The fields; of many, where all are asked, those that chance picks."""
    fields = list(columns(survey))
    return fields if survey.ask or len(fields) <= MOST_FIELDS else _chance.sample(fields, MOST_FIELDS)


def _in_line(values: Floats, places: np.ndarray) -> Floats:
    """As they were printed, with a zero for what was no report."""
    found = np.zeros(int(places.max()) + 1)
    found[places] = values
    return found


def _products(one: list[Floats], other: list[Floats]) -> Floats:
    """For every k the sum of one[i] · other[i + k], over all series."""
    size = next_fast_len(len(one[0]) + len(other[0]), real=True)
    each = [np.conj(rfft(mine, size)) * rfft(theirs, size) for mine, theirs in zip(one, other, strict=True)]
    found: Floats = irfft(np.sum(each, axis=0), size)[: len(other[0])]
    return found


def _spread(n: int, largest: float, rare: float) -> float:
    """What the squares of n such numbers sum to at the most, but for a chance of 1/rare (Bernstein)."""
    unlikely = math.log(rare)
    return n + largest * math.sqrt(2 * n * unlikely) + largest**2 * unlikely


def _tail(reached: float, spread: float, largest: float) -> float:
    """How likely a sum of such products reaches this, either way (Freedman; Bernstein where they are independent)."""
    return 2 * math.exp(-(reached**2) / (2 * (spread + largest * reached / 3)))


def recurrence(reports: Reports) -> Oddity:
    """Whether a bit of the ids follows from earlier ones by a linear rule that is far shorter than chance makes it."""
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
                unlikely = min(0.0, 2.0 * length + 1 - len(bits))  # of 2^n rows, (2^(2L+1) + 1)/3 have a rule up to L
                if unlikely < worst:
                    worst = unlikely
                    told = f"bit {place} of the ids follows a rule of {length} bits, in {len(bits)} reports"
    return Oddity(min(1.0, math.ldexp(max(tested, 1), max(int(worst), -1_000))), told)


def shortest_rule(bits: list[int]) -> int:
    """The linear complexity: the length of the shortest register with linear feedback that makes these bits."""
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
