"""How precise randomized response is: Smith's Exercises 2.5 and 2.6."""

import math

import numpy as np

from benchmarks.reproductions.devices import estimates_of, fixed_ones_chances, fixed_spread, flip_of, run, yes_no
from benchmarks.reproductions.figures import Section, format_figure, share_of, spread_of
from benchmarks.reproductions.response import EPSILON, PRIVACY

CELLS = ((0.1, 0.1), (0.05, 0.5), (0.05, 1.0), (0.02, 0.5), (0.02, 1.0))  # α and ε


def exercise_2_5(rng: np.random.Generator, runs: int) -> Section:
    """Return the section on a tail bound, with c = 2."""
    section, n, share = Section("Smith, Exercise 2.5: the tail of randomized response"), 1000, 0.25
    survey = yes_no(PRIVACY)
    flip = flip_of(survey)
    p, q = float(flip.p), float(flip.q)
    yes = math.floor(n * share)
    result = run(survey, n, runs, rng, share=share, fixed=True)
    chances, grid = fixed_ones_chances(flip, n, yes), estimates_of(flip, n)
    section.say(
        "A = Σ (Y_i − q)/(p − q) is a sum of independent terms, each in an interval of length 1/(p−q) = "
        "(e^ε+1)/(e^ε−1). By Hoeffding, P(|A − Σφ(x_i)| ≥ t √n (e^ε+1)/(e^ε−1)) ≤ 2 exp(−2t²): **c = 2**. No larger "
        "c will do for every ε and t: as ε → 0 and n grows the probability tends to 2Φ(−2t), which falls like "
        "exp(−2t²) up to a factor 1/t.",
        f"Exact and simulated tails at ε = {EPSILON}, n = {n:,}, {yes} people with φ = 1:",
    )
    rows = []
    for t in (1.0, 1.1, 1.25):
        distance = t * math.sqrt(n) / (p - q) / n
        exact = float(chances[np.abs(grid - yes / n) >= distance].sum())
        hits = np.abs(result.estimates - yes / n) >= distance
        rows.append((f"{t:g}", format_figure(2 * math.exp(-2 * t * t)), share_of(hits, exact)))
    section.table(["t", "Hoeffding's bound", "exact", "simulated"], rows)
    return section


def respondents(alpha: float, epsilon: float) -> float:
    """Return n(α, ε) of Exercise 2.6: e^ε/((e^ε−1)² α²)."""
    return math.exp(epsilon) / (math.exp(epsilon) - 1) ** 2 / alpha**2


def exercise_2_6(rng: np.random.Generator, runs: int) -> Section:
    """Return the section on the number of respondents for a standard deviation of α."""
    section, runs = Section("Smith, Exercise 2.6: how large must n be?"), max(runs // 5, 1)
    section.say(
        "From Proposition 2.3, with equality: **n(α, ε) = e^ε/((e^ε−1)² α²)** = 1/(2α sinh(ε/2))², which is 1/(ε²α²) "
        "times about 1 − ε²/12. Halving α takes four times as many people, exactly; halving a small ε too, nearly. "
        f"The last two columns run {runs:,} surveys of that size, rounded up, among the same people."
    )
    rows = []
    for alpha, epsilon in CELLS:
        n = math.ceil(respondents(alpha, epsilon))
        survey = yes_no(f"epsilon: {epsilon}")
        result = run(survey, n, runs, rng, share=0.25, fixed=True)
        rows.append(
            (
                f"{alpha:g}",
                f"{epsilon:g}",
                f"{n:,}",
                f"{1 / (epsilon * alpha) ** 2:,.0f}",
                format_figure(respondents(alpha / 2, epsilon) / respondents(alpha, epsilon)),
                format_figure(respondents(alpha, epsilon / 2) / respondents(alpha, epsilon)),
                spread_of(result.estimates, *fixed_spread(flip_of(survey), n)),
            )
        )
    section.table(
        [
            "α",
            "ε",
            "n(α, ε)",
            "1/(ε²α²)",
            "× n if α is halved",
            "× n if ε is halved",
            "standard deviation at n",
            "simulated",
        ],
        rows,
    )
    return section
