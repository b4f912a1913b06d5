"""The Laplace distribution: Smith's Figures 3 and 4, Lemma 4.4, Exercises 4.5 and 4.6."""

import math
from collections.abc import Sequence

import numpy as np

from benchmarks.curves import Axis, Series
from benchmarks.reproductions.figures import Section, format_figure, histogram, mean_of, share_of, spread_of
from benchmarks.reproductions.precision import CELLS, respondents

COUNTIES = 3143
HALF_EXCESS = 3.0  # the excess kurtosis of a Laplace distribution


def density(places: Sequence[float], scale: float, centre: float = 0.0) -> list[tuple[float, float]]:
    """Return the Laplace density at these places."""
    return [(x, math.exp(-abs(x - centre) / scale) / (2 * scale)) for x in places]


def figure_3(rng: np.random.Generator, runs: int) -> Section:
    """Return the section on two distributions that differ by a factor of at most e^¼."""
    section, runs = Section("Smith, Figure 3: two distributions within a factor of e^¼"), 20 * runs
    scale, epsilon = 4.0, 0.25
    section.say(
        "The text that we have does not say which two distributions are drawn. Any pair with the property will do; "
        "here P and Q are what a curator would release for a true count of 0 and of 1 with ε = ¼: Laplace of scale 4 "
        f"around 0 and around 1. The ratio of the densities is e^¼ = {format_figure(math.exp(epsilon))} "
        "everywhere left of "
        "0, e^−¼ everywhere right of 1, and between them in between, so no event separates them better than "
        "{y ≤ 0} does:"
    )
    p, q = rng.laplace(0, scale, runs), rng.laplace(1, scale, runs)
    tail = math.exp(-epsilon) / 2
    rows = []
    for name, in_p, in_q, chance_p, chance_q in (
        ("y ≤ 0", p <= 0, q <= 0, 0.5, tail),
        ("y > 1", p > 1, q > 1, tail, 0.5),
        ("0 < y ≤ 1", (p > 0) & (p <= 1), (q > 0) & (q <= 1), 0.5 - tail, 0.5 - tail),
        ("−5 < y ≤ 5", np.abs(p) < 5, np.abs(q) < 5, 1 - math.exp(-1.25), 1 - (math.exp(-1) + math.exp(-1.5)) / 2),
    ):
        rows.append((name, share_of(in_p, chance_p), share_of(in_q, chance_q), format_figure(chance_p / chance_q)))
    section.table(["event", "P", "simulated", "Q", "simulated", "P/Q"], rows)
    best = 1 - math.exp(-epsilon / 2) / 2
    is_right = np.concatenate([p <= 0.5, q > 0.5])
    share = share_of(is_right, best)
    section.say("Who must guess, from one release, which of the two it came from, guesses best by y ≤ ½:")
    section.table(["", "right guesses, 1 − e^(−ε/2)/2", "simulated"], [("best guess", share)])
    places = [float(x) for x in np.linspace(-15, 16, 249)]
    edges = np.arange(-15.0, 17.0)
    series = []
    for name, centre, draws in (("P: true count 0", 0.0, p), ("Q: true count 1", 1.0, q)):
        series.append(Series(name, density(places, scale, centre), histogram(draws, edges)))
    section.draw(
        "figure-3",
        "Figure 3: two Laplace densities, shifted by 1",
        series,
        title="Two distributions within a factor of e^¼ of each other",
        x=Axis("released count y"),
        y=Axis("density"),
        note=f"Lines: density. Marks: {runs:,} draws each, in bins of width 1.",
    )
    return section


def figure_4(rng: np.random.Generator, runs: int) -> Section:
    """Return the section on the densities for λ = 1, 2, 4, 7, and on the first half of Lemma 4.4."""
    section, runs = Section("Smith, Figure 4 and Lemma 4.4 (1); Fu, Lemma 4.4: one Laplace variable"), 10 * runs
    section.say(
        "E|Z| = λ, √E Z² = √2 λ, and P(|Z| > tλ) = e^−t (the lemma states it as a bound; it is an equality). Fu's "
        "Lemma 4.4 calls σ√2 the *expected error*; that is the root of the mean square. The expected absolute error "
        "is σ."
    )
    rows, series = [], []
    places = [float(x) for x in np.linspace(-10, 10, 321)]
    edges = np.arange(-10.0, 11.0)
    for scale in (1.0, 2.0, 4.0, 7.0):
        z = rng.laplace(0, scale, runs)
        rows.append(
            (
                f"{scale:g}",
                mean_of(np.abs(z), scale, scale),
                spread_of(z, math.sqrt(2) * scale, HALF_EXCESS),
                share_of(np.abs(z) > 2 * scale, math.exp(-2)),
            )
        )
        marks = [(x, y) for x, y in histogram(z, edges) if abs(x) > scale / 2]
        series.append(Series(f"λ = {scale:g}", density(places, scale), marks))
    section.table(
        ["λ", "mean absolute", "simulated", "root mean square", "simulated", "share beyond ±2λ", "simulated"],
        rows,
    )
    section.draw(
        "figure-4",
        "Figure 4: Laplace densities for four scales",
        series,
        title="The Laplace distribution",
        x=Axis("y"),
        y=Axis("density"),
        note=f"Lines: exp(−|y|/λ)/(2λ). Marks: {runs:,} draws each in bins of width 1, but for those at the peak.",
    )
    return section


def harmonic(d: int, power: int = 1) -> float:
    """Return 1 + 1/2^power + … + 1/d^power."""
    return math.fsum(1 / place**power for place in range(1, d + 1))


def lemma_4_4(rng: np.random.Generator, runs: int) -> Section:
    """Return the section on the largest of d Laplace variables."""
    section, runs = Section("Smith, Lemma 4.4 (2): the largest of d"), max(runs // 5, 1)
    section.say(
        "For d independent variables of scale λ = 1 and M the largest absolute value: E‖Z‖₁ = d; E M ≤ ln d + 1, "
        "exactly H_d = 1 + ½ + … + 1/d; and P(M > ln d + 1) ≤ e^−1 = 0.3679, exactly 1 − (1 − e^−1/d)^d."
    )
    rows = []
    for d in (10, 100, 1000):
        z = np.abs(rng.laplace(0, 1, (runs, d)))
        largest = z.max(axis=1)
        rows.append(
            (
                f"{d:,}",
                mean_of(z.sum(axis=1), d, math.sqrt(d)),
                format_figure(math.log(d) + 1),
                mean_of(largest, harmonic(d), math.sqrt(harmonic(d, 2))),
                share_of(largest > math.log(d) + 1, 1 - (1 - math.exp(-1) / d) ** d),
            )
        )
    section.table(
        ["d", "E‖Z‖₁", "simulated", "bound on E M", "E M", "simulated", "P(M > ln d + 1)", "simulated"],
        rows,
    )
    return section


def exercise_4_5(rng: np.random.Generator, runs: int) -> Section:
    """Return the section on counts for every county of the United States."""
    section, scale = Section("Smith, Exercise 4.5: 3,143 counties"), 2 / 0.1
    first, largest = np.empty(runs), np.empty(runs)
    for start in range(0, runs, 500):
        z = np.abs(rng.laplace(0, scale, (min(500, runs - start), COUNTIES)))
        first[start : start + 500], largest[start : start + 500] = z[:, 0], z.max(axis=1)
    bound = scale * (math.log(COUNTIES) + 1)
    section.say(
        "A histogram has sensitivity 2 (those who move leave one county and enter another), so λ = 2/ε = 20 at ε = "
        "0.1. The expected error for Suffolk County is **20** people; the largest error of all is at most "
        f"**{bound:.1f}** on average by the lemma, and {format_figure(scale * harmonic(COUNTIES))} exactly. "
        "(If neighbours "
        f"differ by adding or removing a person instead, the sensitivity is 1 and all is half as large.) {runs:,} "
        "censuses:"
    )
    section.table(
        ["expected error", "theory", "simulated"],
        [
            ("of one county", mean_of(first, scale, scale)),
            ("the largest", mean_of(largest, scale * harmonic(COUNTIES), scale * math.sqrt(harmonic(COUNTIES, 2)))),
        ],
    )
    return section


def exercise_4_6(rng: np.random.Generator, runs: int) -> Section:
    """Return the section on the number of records that Laplace noise needs, next to randomized response."""
    section = Section("Smith, Exercise 4.6: n for the Laplace mechanism, beside randomized response")
    section.say(
        "The root mean square error is √2/(nε), so **n(α, ε) = √2/(αε)**: halving α or ε doubles n, where randomized "
        "response needs four times as many (Exercise 2.6). The ratio of the two is about 1/(√2 αε): the finer the "
        "answer or the stronger the privacy, the more a curator whom everybody trusts would save. The error here is "
        "against the answer of these very people."
    )
    rows = []
    for alpha, epsilon in CELLS:
        n = math.ceil(math.sqrt(2) / (alpha * epsilon))
        noise = rng.laplace(0, 1 / (n * epsilon), runs)
        local = math.ceil(respondents(alpha, epsilon))
        rows.append(
            (
                f"{alpha:g}",
                f"{epsilon:g}",
                f"{n:,}",
                f"{local:,}",
                format_figure(local / n),
                spread_of(noise, math.sqrt(2) / (n * epsilon), HALF_EXCESS),
            )
        )
    section.table(
        ["α", "ε", "n, Laplace", "n, randomized response", "ratio", "error of Laplace at n", "simulated"],
        rows,
    )
    return section
