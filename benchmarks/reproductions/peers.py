"""The errors of estimated shares, Candor's next to those of other libraries: ε = 1, a hundred thousand people.

All libraries estimate the shares of the same people, so the error is that of the mechanism alone.
If a library is missing or fails, its cell says so, and the rest of the page is made.
"""

import math
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import metadata

import numpy as np

from benchmarks.reproductions import RUNS, SEED
from benchmarks.reproductions.figures import Number, Section, format_figure, format_measurement
from benchmarks.reproductions.libraries import CONTESTANTS, EPSILON, Answers, Shares

PEOPLE, SIZES = 100_000, (8, 32, 128)
LIBRARIES = ("diffprivlib", "multi-freq-ldpy", "opendp", "pure-ldp", "xxhash", "numpy")
MILLION = 1e6  # errors are printed in millionths


@dataclass(frozen=True)
class Cell:
    """A mean squared error and its standard error, or why there is none."""

    runs: int
    value: float = 0.0
    error: float = 0.0
    trouble: str = ""
    message: str = ""


def answers_of(k: int) -> Answers:
    """Return the answers of all people: shares in proportion to 1, ½, ⅓, …, rounded to whole people."""
    weights = 1 / np.arange(1, k + 1)
    ends = np.rint(np.cumsum(weights) / weights.sum() * PEOPLE).astype(np.int64)
    return np.repeat(np.arange(k), np.diff(ends, prepend=0))


def theory(p: Fraction, q: Fraction, k: int) -> float:
    """Return the mean, over k options, of the variance that the coins cause.

    It is [q(1−q)/(p−q)² + (1−p−q)/(k(p−q))]/n.
    """
    return float((q * (1 - q) / (p - q) ** 2 + (1 - p - q) / (k * (p - q))) / PEOPLE)


def measure(place: int, column: int, runs: int = RUNS) -> tuple[Cell, Cell]:
    """Return the mean squared errors of one contestant at one k, in millionths: of estimates and displayed points.

    A contestant has its own number of runs, which is reduced in proportion if the page has fewer runs.
    """
    contestant, k = CONTESTANTS[place], SIZES[column]
    if not contestant.runs[column]:
        slow = Cell(0, trouble="left out, slow")
        return slow, slow
    count = math.ceil(contestant.runs[column] * runs / RUNS)
    answers = answers_of(k)
    truth = np.bincount(answers, minlength=k) / PEOPLE
    seeds = np.random.SeedSequence([SEED, place, k]).generate_state(count).tolist()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the peers, about their own habits
            estimates = [contestant.estimate(answers, k, seed) for seed in seeds]
    except ModuleNotFoundError:
        missing = Cell(0, trouble="not installed")
        return missing, missing
    except Exception as trouble:  # a peer may fail in any way
        failure = Cell(0, trouble="fails", message=f"{type(trouble).__name__}: {trouble}")
        return failure, failure
    points = [contestant.displayed(shares) if contestant.displayed else shares for shares in estimates]
    raw, displayed = _summarize_errors(estimates, truth), _summarize_errors(points, truth)
    if (
        contestant.coins
    ):  # k errors that sum to zero, each squared: their mean varies by 2/(runs · (k − 1)) of its square
        raw = replace(raw, error=theory(*contestant.coins(k), k) * MILLION * math.sqrt(2 / (len(seeds) * (k - 1))))
    return raw, displayed


def _summarize_errors(estimates: list[Shares], truth: Shares) -> Cell:
    errors = np.concatenate([(shares - truth) ** 2 * MILLION for shares in estimates])
    return Cell(len(estimates), float(errors.mean()), float(errors.std(ddof=1)) / math.sqrt(len(errors)))


def section(cells: dict[tuple[int, int], tuple[Cell, Cell]]) -> Section:
    """Return the section with the table; cells without a measurement say so."""
    result = Section("How far off the shares are, beside other libraries")
    result.say(
        f"Mean squared error of the estimated shares of k options, in millionths (10⁻⁶), at ε = {EPSILON} and n = "
        f"{PEOPLE:,} people whose true shares fall like 1, ½, ⅓, …; the error is against the shares of these very "
        "people. Theory: [q(1−q)/(p−q)² + (1−p−q)/(k(p−q))]/n. Every contestant gets the same people; how many runs "
        "it gets depends on how slow it is, and the Monte Carlo error says so."
    )
    head = ["", *(name for k in SIZES for name in (f"k = {k}: theory", "simulated", "runs"))]
    rows: list[list[str | Number]] = []
    missing = Cell(0, trouble="not run")
    for place, contestant in enumerate(CONTESTANTS):
        row: list[str | Number] = [contestant.name]
        displayed_row: list[str | Number] = ["the same, as displayed"]
        for column, k in enumerate(SIZES):
            raw, displayed = cells.get((place, column), (missing, missing))
            row += _format_cells(raw, theory(*contestant.coins(k), k) * MILLION if contestant.coins else None)
            displayed_row += _format_cells(displayed, None)
        rows += [row, displayed_row] if contestant.displayed else [row]
    result.table(head, rows)
    result.say(_describe_versions(cells))
    result.say(
        "ᶜ multi-freq-ldpy clips its estimates at zero and rescales them to sum to one; there is no other output, so "
        "there is no theory to stand beside. Compare it with Candor's displayed points, which are projected on the "
        "simplex. ᵈ The library randomizes but does not estimate: debiased here. ᵒ OpenDP draws from the operating "
        "system and takes no seed: its two rows are the only numbers of this page that change when it is made again.",
        "Candor chooses subset selection at every k here; at weight 1 it would be GRR. multi-freq-ldpy's subset "
        "selection is the same mechanism up to the rounding of its weight. No library but Candor gives an interval.",
    )
    return result


def _describe_versions(cells: dict[tuple[int, int], tuple[Cell, Cell]]) -> str:
    """Return the versions that were measured, and the libraries that failed."""
    versions = []
    for name in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            versions.append(f"{name} {metadata.version(name)}")
    failures = {CONTESTANTS[place].name: raw.message for (place, _), (raw, _) in sorted(cells.items()) if raw.message}
    return f"With {', '.join(versions)}." + "".join(
        f" {name} fails here: {message}." for name, message in failures.items()
    )


def _format_cells(cell: Cell, expected: float | None) -> list[str | Number]:
    if cell.trouble:
        return ["–" if expected is None else format_figure(expected), cell.trouble, "–"]
    if expected is None:
        return ["–", format_measurement(cell.value, cell.error), str(cell.runs)]
    return [Number(expected, cell.value, cell.error), str(cell.runs)]
