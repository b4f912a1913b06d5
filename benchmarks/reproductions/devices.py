"""Randomized response as in a survey: people, devices that flip, and the unbiased share.

The definition, the simulated devices and the estimator are Candor's own; this module only repeats them.
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
from survey_app.figures import make_share
from survey_app.plan.simulated_people import draw_people

MOST_AT_ONCE = 2_000_000
Counts = npt.NDArray[np.int64]


def yes_no(privacy: str) -> Survey:
    """Return a survey of one question, with `epsilon: …` or `design: …`."""
    source = f"slug: again\ntitle: Again\nquestions:\n  - {{id: q, type: yes_no, text: Did you?, {privacy}}}\n"
    return build(source.encode()).survey


def flip_of(survey: Survey) -> Flip:
    """Return the mechanism of the question in such a survey; raise TypeError if it is not a flip."""
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
    """Simulate surveys of n people each; with `fixed`, every run has the same people, otherwise each draws new ones."""
    at_once = max(1, MOST_AT_ONCE // n)
    truths, ones = [], []
    for start in range(0, runs, at_once):
        count = min(at_once, runs - start)
        if fixed:
            answers = np.tile(np.arange(n) < math.floor(n * share), count).astype(np.int64)
        else:
            answers = draw_people(survey, {"q": share}, n * count, rng)["q"]
        bits = np.concatenate([chunk[:, 0] >> 7 for chunk in reports(survey, {"q": answers}, rng)])
        truths.append(answers.reshape(count, n).sum(axis=1))
        ones.append(bits.reshape(count, n).sum(axis=1, dtype=np.int64))
    flip = flip_of(survey)
    estimates = [unbiased_share(flip, np.array([count]), n, 1) for count in np.concatenate(ones)]
    return Runs(n, np.concatenate(truths), np.array(estimates))


def estimate_spread(flip: Flip, n: int, share: float) -> tuple[float, float]:
    """Return the standard deviation and the excess kurtosis of the estimate if people are drawn."""
    p, q = float(flip.p), float(flip.q)
    reported = q + share * (p - q)
    noise = reported * (1 - reported)
    return math.sqrt(share_variance(p, q, share) / n), (1 - 6 * noise) / (n * noise)


def fixed_spread(flip: Flip, n: int) -> tuple[float, float]:
    """Return the standard deviation and the excess kurtosis of the estimate if only the coins are random.

    For a symmetric flip, the standard deviation is √(p(1−p)/n)/(p−q) for any answers.
    """
    p, q = float(flip.p), float(flip.q)
    noise = p * (1 - p)
    return math.sqrt(noise / n) / (p - q), (1 - 6 * noise) / (n * noise)


def ones_chances(flip: Flip, n: int, share: float) -> Floats:
    """Return the distribution of the number of stored ones if people are drawn."""
    p, q = float(flip.p), float(flip.q)
    chances: Floats = binom.pmf(np.arange(n + 1), n, q + share * (p - q))
    return chances


def fixed_ones_chances(flip: Flip, n: int, yes: int) -> Floats:
    """Return the distribution of the number of stored ones if exactly `yes` of n people say yes.

    It is that of a sum of two binomials.
    """
    ones_of_yes = binom.pmf(np.arange(yes + 1), yes, float(flip.p))
    ones_of_no = binom.pmf(np.arange(n - yes + 1), n - yes, float(flip.q))
    chances: Floats = np.convolve(ones_of_yes, ones_of_no)
    return chances


def unbiased_share(mechanism: Mechanism, counts: Counts, n: int, symbol: int) -> float:
    """Return the unbiased share of a symbol; raise TypeError if reports are uninformative about single symbols."""
    observation = channel_of(mechanism).observe(counts, n, make_share("", [symbol], mechanism.size))
    if observation is None:
        raise TypeError("its reports say nothing about single symbols")
    return observation.value


def estimates_of(flip: Flip, n: int) -> Floats:
    """Return the estimate for each number of ones, 0 … n."""
    return np.array([unbiased_share(flip, np.array([count]), n, 1) for count in range(n + 1)])
