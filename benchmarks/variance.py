"""How far the mechanism that authoring chooses is from the best known one: `python -m benchmarks.variance`.

A report supports its true symbol with probability p and any other with q. The coins alone then give an estimated share
the variance [f p(1−p) + (1−f) q(1−q)]/(p−q)²/n. It is averaged over k symbols of equal shares, and compared with the
mechanisms of the field: k-ary randomized response (GRR), symmetric and optimized unary encoding (SUE, OUE), local
hashing with the best g (OLH; all Wang et al. 2017), subset selection with every weight (SS; Ye and Barg 2018), Hadamard
response (HR; Acharya et al. 2019), projective geometry response over every prime power (PGR; Feldman et al. 2022).
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


def noise(p: Floats, q: Floats, share: float) -> Floats:
    """n·Var of one estimated share, from the coins alone."""
    found: Floats = (share * p * (1 - p) + (1 - share) * q * (1 - q)) / (p - q) ** 2
    return found


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
    """For each field size r the smallest dimension t ≥ 3 that holds k points; t = 2 is GRR on r + 1 symbols."""
    r = PRIME_POWERS
    t = np.full(len(r), 3)
    while (small := (r**t - 1) // (r - 1) < k).any():
        t = t + small
    points, lines, both = (((r ** (t - less) - 1) // (r - 1)).astype(float) for less in (0, 1, 2))
    total = lines * e + points - lines
    return lines * e / total, (both * e + lines - both) / total


def prime_powers(most: int) -> npt.NDArray[np.int64]:
    """All powers of primes up to a number: those that one prime alone divides."""
    primes = [r for r in range(2, most + 1) if all(r % d for d in range(2, r))]
    return np.array([r for r in range(2, most + 1) if sum(r % prime == 0 for prime in primes) == 1])


PRIME_POWERS = prime_powers(128)  # 127² + 127 + 1 points hold every k up to 10,000
FAMILIES: dict[str, Family] = {"GRR": grr, "SUE": sue, "OUE": oue, "OLH": olh, "SS": ss, "HR": hr, "PGR": pgr}


def variance(family: Family, k: int, epsilon: float, share: float) -> float:
    """n·Var of one symbol's share, with the best parameters."""
    return float(noise(*family(k, math.exp(epsilon)), share).min())


def chosen(k: int, epsilon: str) -> tuple[str, float]:
    """What authoring chooses, and its average n·Var at equal shares, from its own integers."""
    made = mechanism_choice.categories(k, Decimal(epsilon))
    return f"SS, w = {made.weight}", float(noise(np.array([float(made.p)]), np.array([float(made.q)]), 1 / k)[0])


@dataclass(frozen=True)
class Place:
    """One k and ε: n·Var of each family at its best, and of what authoring chooses."""

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


def places(epsilon: str, every: int = 1) -> Iterator[Place]:
    """The whole grid at one ε, or each so many-th k of it."""
    for k in SIZES[::every]:
        families = {name: variance(family, k, float(epsilon), 1 / k) for name, family in FAMILIES.items()}
        yield Place(epsilon, k, *chosen(k, epsilon), families)


def report(grid: list[Place]) -> str:
    """The page."""
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
            part = [place for place in grid if place.epsilon == epsilon and low <= place.k <= high]
            top = max(part, key=lambda place: round(place.ratio, 4))
            where = f" (k {top.k:,}, {top.choice})" if round(top.ratio, 4) > 1 else ""
            cells.append(f"{top.ratio:.4f}{where}")
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
        top, ratio = alone(grid, names)
        lines.append(f"| {' or '.join(names)} | {ratio:,.2f} | k = {top.k:,}, ε = {top.epsilon} |")
    return "\n".join([*lines, *spreads.sections()]) + "\n"


def alone(grid: list[Place], names: tuple[str, ...]) -> tuple[Place, float]:
    """Where the better of these families is farthest from the best of all, and how far."""
    ratios = [min(place.families[name] for name in names) / place.best for place in grid]
    at = int(np.argmax(ratios))
    return grid[at], ratios[at]


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=DOCS, show_default=False, help="The file to write.")
@click.option("--every", type=click.IntRange(1, 20), default=1, help="Only each so many-th k, for a try.")
def main(out: Path, every: int) -> None:
    """Write docs/variance.md."""
    with click.progressbar(EPSILONS, label="Variance", file=sys.stderr) as bar:
        grid = [place for epsilon in bar for place in places(epsilon, every)]
    out.write_text(report(grid))
    print(f"{out}: worst ratio {max(place.ratio for place in grid):.5f}")


if __name__ == "__main__":
    main()
