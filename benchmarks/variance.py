"""How far the mechanism that authoring chooses is from the best known one: `python -m benchmarks.variance`.

A report supports its true symbol with probability p and any other with q.
Without sampling error, an estimated share has the variance [f p(1−p) + (1−f) q(1−q)]/(p−q)²/n.
The variance is averaged over k symbols of equal shares, and compared with these mechanisms:
k-ary randomized response (GRR), symmetric and optimized unary encoding (SUE, OUE) and local hashing with the best g
(OLH), all from Wang et al. 2017; subset selection with every weight (SS; Ye and Barg 2018); Hadamard response (HR;
Acharya et al. 2019); projective geometry response over every prime power (PGR; Feldman et al. 2022).
"""

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt

from benchmarks import spreads
from survey_app.authoring import mechanism_choice

DOCS = Path(__file__).parent.parent / "docs" / "variance.md"
GOAL = 1.01
EPSILONS = ("0.1", "0.2", "0.35", "0.5", "0.75", "1", "1.0986", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5")
SIZES = (*range(2, 301), *np.unique(np.geomspace(301, 10_000, 60).astype(int)).tolist())
RANGES = ((2, 9), (10, 99), (100, 999), (1000, 10_000))

Floats = npt.NDArray[np.float64]
Family = Callable[[int, float], tuple[Floats, Floats]]  # k, e^ε → p and q for each choice of parameters


def coin_variance(p: Floats, q: Floats, share: float) -> Floats:
    """Return n·Var of one estimated share, without sampling error."""
    variances: Floats = (share * p * (1 - p) + (1 - share) * q * (1 - q)) / (p - q) ** 2
    return variances


def grr(k: int, e: float) -> tuple[Floats, Floats]:
    return np.array([e / (e + k - 1)]), np.array([1 / (e + k - 1)])


def sue(k: int, e: float) -> tuple[Floats, Floats]:
    root = math.sqrt(e)
    return np.array([root / (1 + root)]), np.array([1 / (1 + root)])


def oue(k: int, e: float) -> tuple[Floats, Floats]:
    return np.array([0.5]), np.array([1 / (e + 1)])


def olh(k: int, e: float) -> tuple[Floats, Floats]:
    g = np.arange(2, int(e) + 4, dtype=float)
    return e / (e + g - 1), 1 / g


def ss(k: int, e: float) -> tuple[Floats, Floats]:
    w = np.arange(1, k, dtype=float)
    total = w * e + k - w
    return w * e / total, (w * e * (w - 1) + (k - w) * w) / ((k - 1) * total)


def hr(k: int, e: float) -> tuple[Floats, Floats]:
    return np.array([e / (1 + e)]), np.array([0.5])


def pgr(k: int, e: float) -> tuple[Floats, Floats]:
    """Return p and q for each field size r, with the smallest dimension t ≥ 3 that has k points; t = 2 is GRR."""
    r = PRIME_POWERS
    t = np.full(len(r), 3)
    while (small := (r**t - 1) // (r - 1) < k).any():
        t = t + small
    points, lines, intersections = (((r ** (t - step) - 1) // (r - 1)).astype(float) for step in (0, 1, 2))
    total = lines * e + points - lines
    return lines * e / total, (intersections * e + lines - intersections) / total


def prime_powers(most: int) -> npt.NDArray[np.int64]:
    """Return all powers of primes up to `most`: the numbers with exactly one prime divisor."""
    primes = [r for r in range(2, most + 1) if all(r % d for d in range(2, r))]
    return np.array([r for r in range(2, most + 1) if sum(r % prime == 0 for prime in primes) == 1])


PRIME_POWERS = prime_powers(128)  # 127² + 127 + 1 points hold every k up to 10,000
FAMILIES: dict[str, Family] = {"GRR": grr, "SUE": sue, "OUE": oue, "OLH": olh, "SS": ss, "HR": hr, "PGR": pgr}


def variance(family: Family, k: int, epsilon: float, share: float) -> float:
    """Return n·Var of one symbol's share, with the best parameters of a family."""
    return float(coin_variance(*family(k, math.exp(epsilon)), share).min())


def authoring_choice(k: int, epsilon: str) -> tuple[str, float]:
    """Return authoring's choice in words, and its average n·Var at equal shares, from its own integers."""
    mechanism = mechanism_choice.choose_subset(k, Decimal(epsilon))
    return f"SS, w = {mechanism.weight}", float(
        coin_variance(np.array([float(mechanism.p)]), np.array([float(mechanism.q)]), 1 / k)[0]
    )


@dataclass(frozen=True)
class GridPoint:
    """A point of the grid, one k and ε: n·Var of each family at its best, and of authoring's choice."""

    epsilon: str
    k: int
    choice: str
    variance: float
    families: dict[str, float]

    @property
    def best(self) -> float:
        return min(self.families.values())

    @property
    def ratio(self) -> float:
        return self.variance / self.best


def grid_points(epsilon: str, every: int = 1) -> Iterator[GridPoint]:
    """Yield the grid at one ε, or every `every`-th k of it."""
    for k in SIZES[::every]:
        families = {name: variance(family, k, float(epsilon), 1 / k) for name, family in FAMILIES.items()}
        yield GridPoint(epsilon, k, *authoring_choice(k, epsilon), families)


def report(grid: list[GridPoint]) -> str:
    """Return the page."""
    worst = max(grid, key=lambda place: round(place.ratio, 5))
    lines = [
        "# Variance beside the best known mechanism",
        "",
        "Made by `python -m benchmarks.variance`; the formulas and their sources stand there.",
        "",
        "## One of k options",
        "",
        "n·Var of one symbol's share from the coins alone, averaged over k symbols of equal shares: what authoring",
        "chooses, from its own integers, over the best of GRR, SUE, OUE, OLH (best g), SS (every weight), HR and PGR",
        "(every prime power).",
        f"{len(grid):,} pairs: every k to 300, and some to 10,000.",
        "",
        f"Worst of all: **{worst.ratio:.5f}** at k = {worst.k:,}, ε = {worst.epsilon} ({worst.choice}). "
        f"The goal is at most {GOAL}.",
        "",
        "### Worst ratio for each ε and range of k, and where",
        "",
        "| ε | " + " | ".join(f"k {low:,} to {high:,}" for low, high in RANGES) + " |",
        "|---|" + "---|" * len(RANGES),
    ]
    for epsilon in EPSILONS:
        cells = []
        for low, high in RANGES:
            cell_points = [place for place in grid if place.epsilon == epsilon and low <= place.k <= high]
            worst_point = max(cell_points, key=lambda place: round(place.ratio, 4))
            location = f" (k {worst_point.k:,}, {worst_point.choice})" if round(worst_point.ratio, 4) > 1 else ""
            cells.append(f"{worst_point.ratio:.4f}{location}")
        lines.append(f"| {epsilon} | {' | '.join(cells)} |")
    lines += ["", "### What other choices would cost", "", "| choice | worst ratio | at |", "|---|---|---|"]
    for names in (
        ("GRR", "OUE"),
        ("GRR", "OLH"),
        ("GRR", "HR"),
        ("OUE",),
        ("SUE",),
        ("OLH",),
        ("PGR",),
        ("HR",),
        ("GRR",),
    ):
        worst_point, ratio = worst_of_families(grid, names)
        lines.append(f"| {' or '.join(names)} | {ratio:,.2f} | k = {worst_point.k:,}, ε = {worst_point.epsilon} |")
    return "\n".join([*lines, *spreads.sections()]) + "\n"


def worst_of_families(grid: list[GridPoint], names: tuple[str, ...]) -> tuple[GridPoint, float]:
    """Return the point where the best of these families is worst relative to the best of all, and the ratio there."""
    ratios = [min(place.families[name] for name in names) / place.best for place in grid]
    at = int(np.argmax(ratios))
    return grid[at], ratios[at]


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=DOCS, show_default=False, help="The file to write.")
@click.option("--every", type=click.IntRange(1, 20), default=1, help="Only each so many-th k, for a try.")
def main(out: Path, every: int) -> None:
    """Write docs/variance.md."""
    with click.progressbar(EPSILONS, label="Variance", file=sys.stderr) as bar:
        grid = [place for epsilon in bar for place in grid_points(epsilon, every)]
    out.write_text(report(grid))
    print(f"{out}: worst ratio {max(place.ratio for place in grid):.5f}")


if __name__ == "__main__":
    main()
