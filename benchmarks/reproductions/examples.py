"""The worked examples: sensitivities by exhaustive search; a mean, a count and a histogram with Laplace noise."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from benchmarks.reproductions.devices import unbiased_share
from benchmarks.reproductions.figures import Number, Section, format_figure, mean_of, share_of, spread_of
from candor_client import Survey
from candor_client.mechanisms import Subset
from survey_app.assure.simulation.devices import reports
from survey_app.authoring import build

Data = tuple[Fraction, ...]
FEW = 2_000  # people at once


def sensitivity(
    query: Callable[[Data], Sequence[Fraction]], values: Sequence[Fraction], n: int, changed: int = 1
) -> Fraction:
    """Return the largest L1 distance from replacing `changed` of n records, found by trying all data sets."""
    largest = Fraction(0)
    for data in product(values, repeat=n):
        answer = query(data)
        for places in combinations(range(n), changed):
            for replacements in product(values, repeat=changed):
                changed_data = list(data)
                for place, value in zip(places, replacements, strict=True):
                    changed_data[place] = value
                distance = sum(
                    (abs(a - b) for a, b in zip(answer, query(tuple(changed_data)), strict=True)), Fraction(0)
                )
                largest = max(largest, distance)
    return largest


def mean(data: Data) -> list[Fraction]:
    """Return the mean, as a vector of length one."""
    return [sum(data, Fraction(0)) / len(data)]


def histogram(data: Data) -> list[Fraction]:
    """Return how many records are 0, 1 and 2."""
    return [Fraction(data.count(Fraction(value))) for value in range(3)]


def exercise_4_2() -> Section:
    """Return the section on the sensitivity of a mean, and of histograms when several people change."""
    section, top = Section("Smith, Exercise 4.2 and Fu, Example 4.9: sensitivities by trying everything"), Fraction(10)
    half = [Fraction(0), top / 2, top]
    section.say(
        "The mean of n numbers from [0, R], when one of them is replaced, moves by at most **R/n**; the histogram by "
        "at most 2, and if m people change, by at most **2m**. (Fu bounds the latter by the number of colours k, "
        "whatever m: three people who all move from blue to red move two counts by three each.) All data sets of n "
        "records on a small grid, R = 10:"
    )
    rows = [
        (f"mean of {n}, one record replaced", f"R/n = {top / n}", str(sensitivity(mean, half, n))) for n in (2, 3, 4)
    ]
    bins = [Fraction(value) for value in range(3)]
    rows += [
        (f"histogram of 3 bins, {m} of 3 records replaced", f"2m = {2 * m}", str(sensitivity(histogram, bins, 3, m)))
        for m in (1, 2, 3)
    ]
    section.table(["query", "theory", "by trying everything"], rows)
    section.say(
        "Lecture 1 calls data sets adjacent when one has a record *more*. Then M/n bounds the change only if n is "
        "that of the larger set and is public: a noise of scale M/(nε) with the true n differs between the two sets "
        "by itself, so the mean of an unknown number of people needs another mechanism (a noisy sum over a noisy "
        "count, for instance). In Candor the number of reports is public."
    )
    return section


def number_survey(epsilon: float) -> Survey:
    """Return a survey of one number from 0 to 100."""
    source = (
        "slug: again\ntitle: Again\nquestions:\n"
        f"  - {{id: q, type: number, text: How many?, min: 0, max: 100, step: 1, epsilon: {epsilon}}}\n"
    )
    return build(source.encode()).survey


def local_means(survey: Survey, answers: Sequence[int], runs: int, rng: np.random.Generator) -> list[float]:
    """Return the estimated means of repeated surveys among the same people.

    Raise TypeError if the number is not rounded to two levels.
    """
    mechanism, n = survey.fields[0].mechanism, len(answers)
    if not isinstance(mechanism, Subset) or mechanism.size != 2:
        raise TypeError("at this ε a number is rounded to two levels")
    means = []
    for start in range(0, runs, FEW):
        count = min(FEW, runs - start)
        answers_by_question = {"q": np.tile(np.array(answers, dtype=np.int64), count)}
        rows = np.concatenate(list(reports(survey, answers_by_question, rng)))
        upper = ((rows[:, 0] >> 6) & 1).reshape(count, n).sum(axis=1)
        means += [100 * unbiased_share(mechanism, np.array([n - c, c]), n, 1) for c in upper.tolist()]
    return means


def laplace_mean(rng: np.random.Generator, runs: int) -> Section:
    """Return the section on the mean of a data set, by a curator and by the devices themselves."""
    section, n, top, epsilon = (
        Section("Lecture 1, §5: a mean with Laplace noise, and without a curator"),
        500,
        100.0,
        0.5,
    )
    scale = top / (n * epsilon)
    answers = [place % 101 for place in range(n)]
    noise = rng.laplace(0, scale, runs)
    survey = number_survey(epsilon)
    local_runs = max(runs // 5, 1)
    local = np.array(local_means(survey, answers, local_runs, rng))
    mechanism = survey.fields[0].mechanism
    if not isinstance(mechanism, Subset):
        raise TypeError("a number with two levels is a subset of weight 1")
    slope = 1 / float(mechanism.p - mechanism.q)
    centred = [2 * answer / top - 1 for answer in answers]
    sd = top / 2 * math.sqrt(sum(slope**2 - t * t for t in centred) / n / n)
    true_mean = sum(answers) / n
    section.say(
        f"n = {n} numbers from [0, M] with M = {top:g}, ε = {epsilon}: noise of scale b = M/(nε) = "
        f"{format_figure(scale)}. "
        "The second row asks the same people with a Candor survey instead: each device rounds its number at random "
        "to 0 or 100 and flips that, so that nobody need be trusted. Theory: (M/2) √(Σ (C² − t²))/n with C = "
        "(e^ε+1)/(e^ε−1) and t the number scaled to [−1, 1]."
    )
    section.table(
        ["", "mean", "simulated", "standard deviation", "simulated", "P(error > 2b)", "simulated"],
        [
            (
                "Laplace, trusted curator",
                mean_of(true_mean + noise, true_mean, math.sqrt(2) * scale),
                spread_of(noise, math.sqrt(2) * scale, 3.0),
                share_of(np.abs(noise) > 2 * scale, math.exp(-2)),
            ),
            ("on the device", mean_of(local, true_mean, sd), spread_of(local, sd, -2 / n), "–", "–"),
        ],
    )
    return section


def counts_and_histograms(rng: np.random.Generator, runs: int) -> Section:
    """Return the section on a count, a malicious query, many queries at once, and a histogram."""
    section, epsilon, query_count, true_count = (
        Section("Near; Fu, Examples 4.8 and 4.9: counts and histograms"),
        0.1,
        10,
        14_237,
    )
    runs *= 10
    noise = rng.laplace(0, 1 / epsilon, runs)
    section.say(
        f"A count has sensitivity 1. Near's example, {true_count:,} people of forty or more at ε = {epsilon}: noise of "
        "scale 10 and an expected error of 10, whatever the size of the data; 95% of all answers lie within 30 of "
        "the truth. (The chapter prints 14,237 and, a page on, calls 14,235 the true answer. One of them is a slip; "
        "the noise would hide it.)",
        "m counts at once can all depend on the same person: sensitivity m, expected error m/ε each. A histogram of "
        "m bins has sensitivity 2 and an expected error of 2/ε. Neither the records nor the bins make it worse:",
    )
    section.table(
        [f"ε = {epsilon}", "expected error", "simulated"],
        [
            ("one count", mean_of(np.abs(noise), 1 / epsilon, 1 / epsilon)),
            (f"each of {query_count} arbitrary counts", _mean_absolute_error(rng, query_count / epsilon, runs)),
            (f"each of {query_count} bins of a histogram", _mean_absolute_error(rng, 2 / epsilon, runs)),
        ],
    )
    section.table(
        ["one count", "theory", "simulated"],
        [
            ("P(error ≤ 30)", share_of(np.abs(noise) <= 30, 1 - math.exp(-3))),
        ],
    )
    truth = rng.integers(0, 2, runs)
    guess = (truth + rng.laplace(0, 1 / epsilon, runs) > 0.5).astype(int)
    section.say(
        "Near's malicious query counts the records of one person with a low income. Its answer is 0 or 1, and with "
        "this noise the best guess, *above ½ or not*, is right little more often than a coin: 1 − e^(−ε/2)/2. The "
        f"one output that the chapter prints, 2.1987, is {format_figure(abs(2.198682025336349 - 1) * epsilon)} "
        "scales from "
        "the true 1 and says nothing either way."
    )
    section.table(
        ["", "theory", "simulated"],
        [("the best guess is right", share_of(guess == truth, 1 - math.exp(-epsilon / 2) / 2))],
    )
    return section


def _mean_absolute_error(rng: np.random.Generator, scale: float, runs: int) -> Number:
    return mean_of(np.abs(rng.laplace(0, scale, runs)), scale, scale)
