"""Randomized response, run as it is in a survey: people, devices that flip, the debiased share.

The definition, the simulated devices and the estimator are Candor's own; here they are only repeated.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from benchmarks.reproductions.figures import Floats
from candor_client import Survey
from candor_client.mechanisms import Flip, Mechanism
from survey_app.assure.simulation.devices import reports
from survey_app.authoring import build
from survey_app.channels import channel_of
from survey_app.channels.design_variance import share_variance
from survey_app.figures import share_of
from survey_app.plan.assumed_people import draw_people

MOST_AT_ONCE = 2_000_000
Counts = npt.NDArray[np.int64]


def yes_no(privacy: str) -> Survey:
    """A survey of one question, with `epsilon: …` or `design: …`."""
    source = f"slug: again\ntitle: Again\nquestions:\n  - {{id: q, type: yes_no, text: Did you?, {privacy}}}\n"
    return build(source.encode()).survey


def flip_of(survey: Survey) -> Flip:
    """The mechanism of that question."""
    mechanism = survey.fields[0].mechanism
    if not isinstance(mechanism, Flip):
        raise TypeError("a yes or no is randomized by a flip")
    return mechanism


@dataclass(frozen=True)
class Runs:
    """For each run, how many of the n people would say yes, and the estimate from their reports."""

    n: int
    truths: Counts
    estimates: Floats


def run(survey: Survey, n: int, runs: int, rng: np.random.Generator, *, share: float, fixed: bool = False) -> Runs:
    """Surveys of n people each. They are drawn anew with this share of yes, or are the same people in every run."""
    at_once = max(1, MOST_AT_ONCE // n)
    truths, ones = [], []
    for start in range(0, runs, at_once):
        count = min(at_once, runs - start)
        if fixed:
            said = np.tile(np.arange(n) < math.floor(n * share), count).astype(np.int64)
        else:
            said = draw_people(survey, {"q": share}, n * count, rng)["q"]
        bits = np.concatenate([chunk[:, 0] >> 7 for chunk in reports(survey, {"q": said}, rng)])
        truths.append(said.reshape(count, n).sum(axis=1))
        ones.append(bits.reshape(count, n).sum(axis=1, dtype=np.int64))
    flip = flip_of(survey)
    estimates = [unbiased_share(flip, np.array([count]), n, 1) for count in np.concatenate(ones)]
    return Runs(n, np.concatenate(truths), np.array(estimates))


def spread(flip: Flip, n: int, share: float) -> tuple[float, float]:
    """The standard deviation of the estimate when people are drawn, and its excess kurtosis."""
    p, q = float(flip.p), float(flip.q)
    reported = q + share * (p - q)
    noise = reported * (1 - reported)
    return math.sqrt(share_variance(p, q, share) / n), (1 - 6 * noise) / (n * noise)


def fixed_spread(flip: Flip, n: int) -> tuple[float, float]:
    """The same when only the coins are random: √(p(1−p)/n)/(p−q) for a symmetric flip, whatever the answers."""
    p, q = float(flip.p), float(flip.q)
    noise = p * (1 - p)
    return math.sqrt(noise / n) / (p - q), (1 - 6 * noise) / (n * noise)


def ones_chances(flip: Flip, n: int, share: float) -> Floats:
    """The distribution of the number of stored ones when people are drawn."""
    p, q = float(flip.p), float(flip.q)
    chances: Floats = binom.pmf(np.arange(n + 1), n, q + share * (p - q))
    return chances


def fixed_ones_chances(flip: Flip, n: int, yes: int) -> Floats:
    """The same when `yes` of the n are known to say yes: a sum of two binomials."""
    said_yes = binom.pmf(np.arange(yes + 1), yes, float(flip.p))
    said_no = binom.pmf(np.arange(n - yes + 1), n - yes, float(flip.q))
    chances: Floats = np.convolve(said_yes, said_no)
    return chances


def unbiased_share(mechanism: Mechanism, counts: Counts, n: int, symbol: int) -> float:
    """The unbiased share of a symbol."""
    seen = channel_of(mechanism).observe(counts, n, share_of("", [symbol], mechanism.size))
    if seen is None:
        raise TypeError("its reports say nothing about single symbols")
    return seen.value


def estimates_of(flip: Flip, n: int) -> Floats:
    """The estimate for each number of ones, 0 … n."""
    return np.array([unbiased_share(flip, np.array([count]), n, 1) for count in range(n + 1)])
