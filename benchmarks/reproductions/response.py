"""Randomized response: Smith's Figure 5 and Fu's Figure 2."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import binom

from benchmarks.curves import Axis, Series
from benchmarks.reproductions.devices import (
    estimate_spread,
    estimates_of,
    fixed_ones_chances,
    fixed_spread,
    flip_of,
    ones_chances,
    run,
    yes_no,
)
from benchmarks.reproductions.figures import (
    Floats,
    Number,
    Section,
    format_figure,
    histogram,
    mean_of,
    share_of,
    spread_of,
)

SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
EPSILON, SHARE = 0.5, 0.25
PRIVACY = f"epsilon: {EPSILON}"


def plain_spread(n: int) -> tuple[float, float]:
    """Return the standard deviation and the excess kurtosis of the share among n people who are drawn."""
    noise = SHARE * (1 - SHARE)
    return math.sqrt(noise / n), (1 - 6 * noise) / (n * noise)


def laplace_share(n: int, drawn: bool) -> tuple[float, float]:
    """Return the standard deviation and the excess kurtosis of a share with Laplace noise of scale 1/(nε)."""
    noise, scale = SHARE * (1 - SHARE) / n if drawn else 0.0, 1 / (n * EPSILON)
    variance = noise + 2 * scale**2
    fourth = 12 * scale**4 + (noise * (1 - 6 * SHARE * (1 - SHARE)) / n**2 if drawn else 0.0)
    return math.sqrt(variance), fourth / variance**2


def figure_5a(rng: np.random.Generator, runs: int) -> Section:
    """Return the section on the standard deviation for each n: sample mean, randomized response and central Laplace."""
    section = Section("Smith, Figure 5 (a): what privacy costs in precision")
    survey = yes_no(PRIVACY)
    flip = flip_of(survey)
    with_drawn_people, with_fixed_people = [], []
    for n in SIZES:
        result = run(survey, n, runs, rng, share=SHARE)
        shares = result.truths / n
        noise = rng.laplace(0, 1 / (n * EPSILON), runs)
        with_drawn_people.append(
            (
                spread_of(shares, *plain_spread(n)),
                spread_of(result.estimates, *estimate_spread(flip, n, SHARE)),
                spread_of(shares + noise, *laplace_share(n, True)),
            )
        )
        fixed_result = run(survey, n, runs // 2, rng, share=SHARE, fixed=True)
        with_fixed_people.append(
            (spread_of(fixed_result.estimates, *fixed_spread(flip, n)), spread_of(noise, *laplace_share(n, False)))
        )
    section.say(
        f"ε = {EPSILON}, a coin of bias {SHARE}, {runs:,} runs at each n. *No privacy* is the sample mean; "
        "*randomized response* is a Candor survey of one question, from definition to debiased share; *Laplace* is a "
        "trusted curator who adds Laplace noise of scale 1/(nε) to the sample mean. Theory: √(π(1−π)/n); "
        "√(λ(1−λ)/n)/(p−q) with λ = q + π(p−q); √(π(1−π)/n + 2/(nε)²)."
    )
    section.table(
        ["n", "no privacy", "simulated", "randomized response", "simulated", "Laplace", "simulated"],
        ([f"{n:,}", *numbers] for n, numbers in zip(SIZES, with_drawn_people, strict=True)),
    )
    names = ("no privacy", "randomized response", "Laplace, trusted curator")
    section.draw(
        "figure-5a",
        "Figure 5 (a): standard deviation against n, with and without privacy",
        [_curve(name, [numbers[place] for numbers in with_drawn_people]) for place, name in enumerate(names)],
        title="Standard deviation of the estimated share",
        x=Axis("respondents n", log=True),
        y=Axis("standard deviation", log=True),
        note=f"ε = {EPSILON}, share {SHARE}. Lines: theory. Marks: {runs:,} runs each.",
    )
    last = with_drawn_people[SIZES.index(2000)][1]
    section.say(
        "The source says that at this ε randomized response becomes reasonable for n in the low thousands: at n = "
        f"2,000 its standard deviation is {format_figure(last.theory)}, about a fifth of the share itself.",
        f"The caption can also be read with *fixed* people, only the coins being random ({runs // 2:,} runs of the "
        "survey). Then the standard deviation of randomized response is exactly the bound of Proposition 2.3, "
        "e^(ε/2)/((e^ε−1)√n), and that of Laplace √2/(nε):",
    )
    section.table(
        ["n", "randomized response, fixed people", "simulated", "Laplace, fixed people", "simulated"],
        ([f"{n:,}", *numbers] for n, numbers in zip(SIZES, with_fixed_people, strict=True)),
    )
    return section


def _curve(name: str, numbers: Sequence[Number]) -> Series:
    """Return a series with theory as a line over n, and simulations as marks."""
    theory, simulated = ([getattr(number_pair, side) for number_pair in numbers] for side in ("theory", "simulated"))
    return Series(name, list(zip(SIZES, theory, strict=True)), list(zip(SIZES, simulated, strict=True)))


def figure_5b(rng: np.random.Generator, runs: int) -> Section:
    """Return the section on the distribution of the three estimates at n = 100."""
    section, n = Section("Smith, Figure 5 (b): the distribution at n = 100"), 100
    survey = yes_no(PRIVACY)
    flip = flip_of(survey)
    result = run(survey, n, runs, rng, share=SHARE)
    shares = result.truths / n
    laplace = shares + rng.laplace(0, 1 / (n * EPSILON), runs)
    counts = np.arange(n + 1)
    plain = binom.pmf(counts, n, SHARE)
    grid, chances = estimates_of(flip, n), ones_chances(flip, n, SHARE)
    outside = float(chances[(grid < 0) | (grid > 1)].sum())
    scale = 1 / (n * EPSILON)
    beyond = float(plain @ (np.exp(-counts / n / scale) + np.exp(-(1 - counts / n) / scale)) / 2)
    sd, excess = estimate_spread(flip, n, SHARE)
    section.say(
        f"{runs:,} executions with ε = {EPSILON} and bias {SHARE}. The source notes that randomized response, without "
        "further processing, gives estimates outside [0, 1]. So it does, in one run of ten; Candor keeps such "
        "estimates as they are (clipping them would bias every later sum) and displays the nearest possible share "
        "beside an interval."
    )
    section.table(
        ["estimate", "mean", "simulated", "standard deviation", "simulated", "outside [0, 1]", "simulated"],
        [
            (
                "no privacy",
                mean_of(shares, SHARE, plain_spread(n)[0]),
                spread_of(shares, *plain_spread(n)),
                "0",
                f"0 of {runs:,}",
            ),
            (
                "randomized response",
                mean_of(result.estimates, SHARE, sd),
                spread_of(result.estimates, sd, excess),
                share_of((result.estimates < 0) | (result.estimates > 1), outside),
            ),
            (
                "Laplace",
                mean_of(laplace, SHARE, laplace_share(n, True)[0]),
                spread_of(laplace, *laplace_share(n, True)),
                format_figure(beyond, 1),
                f"{int(((laplace < 0) | (laplace > 1)).sum())} of {runs:,}",
            ),
        ],
    )
    step = float(grid[1] - grid[0])
    places = [float(x) for x in np.arange(0.04, 0.48, 0.005)]
    density = [float(plain @ np.exp(-np.abs(x - counts / n) / scale) / (2 * scale)) for x in places]
    marks = [(x, y) for x, y in histogram(laplace, np.arange(0.03, 0.5, 0.02)) if y > 0]
    section.draw(
        "figure-5b",
        "Figure 5 (b): densities of the three estimates",
        [
            Series("no privacy", *_lattice_densities(counts / n, plain, shares, 1 / n)),
            Series("randomized response", *_lattice_densities(grid, chances, result.estimates, step)),
            Series("Laplace", list(zip(places, density, strict=True)), marks),
        ],
        title="Density of the estimated share",
        x=Axis("estimated share"),
        y=Axis("density"),
        note=f"n = {n}, ε = {EPSILON}, share {SHARE}. Lines: theory. Marks: {runs:,} runs. "
        "Where estimates are a lattice, probability over its step.",
    )
    return section


def _lattice_densities(
    grid: Floats, chances: Floats, estimates: Floats, step: float
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Return the chances of lattice points as a density, and the shares of runs at these points."""
    likely = np.nonzero(chances > 2e-4)[0]
    hits = np.bincount(np.rint((estimates - grid[0]) / step).astype(int), minlength=len(grid))
    line = [(float(grid[i]), float(chances[i] / step)) for i in likely]
    return line, [(float(grid[i]), float(hits[i] / len(estimates) / step)) for i in likely if hits[i]]


def fus_figure_2(rng: np.random.Generator, runs: int) -> Section:
    """Return the section on Fu's simulation: γ = ¼, a hundred students, 20 of them cheaters."""
    section, n, share = Section("Fu, Figure 2: γ = ¼, n = 100, p = 0.2"), 100, 0.2
    survey = yes_no("design: coin")
    flip = flip_of(survey)
    grid = estimates_of(flip, n)
    drawn_result, fixed_result = (
        run(survey, n, runs, rng, share=share),
        run(survey, n, runs, rng, share=share, fixed=True),
    )
    rows, chances_of = [], {}
    for name, result, (sd, excess), chances in (
        ("100 people drawn with p = 0.2", drawn_result, estimate_spread(flip, n, share), ones_chances(flip, n, share)),
        ("the same 20 cheaters every time", fixed_result, fixed_spread(flip, n), fixed_ones_chances(flip, n, 20)),
    ):
        chances_of[name] = chances
        rows.append(
            (
                name,
                mean_of(result.estimates, share, sd),
                spread_of(result.estimates, sd, excess),
                share_of(result.estimates < 0, float(chances[grid < 0].sum())),
                share_of(result.estimates <= 0, float(chances[grid <= 0].sum())),
            )
        )
    section.say(
        f"{runs:,} runs with p̃ = 2·(share of yes) − ½. The source does not say whether its `run_survey` draws the "
        "cheaters anew in each run, so both readings are given. Its bound, Var ≤ 1/(16γ²n), is a standard deviation "
        "of 0.1; that some estimates are negative comes out too, in about one run of 80 or 160."
    )
    section.table(
        [
            *("", "mean", "simulated", "standard deviation", "simulated"),
            *("P(estimate < 0)", "simulated", "P(estimate ≤ 0)", "simulated"),
        ],
        rows,
    )
    step = float(grid[1] - grid[0])
    section.draw(
        "quarter",
        "Fu's Figure 2: distribution of the estimate",
        [
            Series(name, *_lattice_chances(grid, chances, result.estimates, step))
            for (name, chances), result in zip(chances_of.items(), (drawn_result, fixed_result), strict=True)
        ],
        title="Estimated share of cheaters, γ = ¼",
        x=Axis("estimate p̃"),
        y=Axis("probability"),
        note=f"n = {n}, true share {share}. Lines: exact. Marks: {runs:,} runs.",
    )
    return section


def _lattice_chances(
    grid: Floats, chances: Floats, estimates: Floats, step: float
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    line, marks = _lattice_densities(grid, chances, estimates, step)
    return [(x, y * step) for x, y in line], [(x, y * step) for x, y in marks]
