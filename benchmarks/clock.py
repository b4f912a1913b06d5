"""Who is who by the clock: what a server that writes down when tickets are taken and when reports come can guess.

Blind tickets leave nothing else by which to link an invitation with its report. 300 people get a mail; each comes after
an exponential time of 400 minutes in the mean and takes the ticket. In one visit the report follows after the minutes
that answering takes (lognormal, median 3); in phases it comes on another day, anew. Whoever guesses knows all moments
and distributions and takes the likeliest matching of all tickets with all reports (`linear_sum_assignment`).
"""

from collections.abc import Callable

import click
import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

PEOPLE = 300
COMING = 400.0  # minutes after the mail, in the mean
ANSWERING, SPREAD = 3.0, 0.5  # the median in minutes, and the standard deviation of its logarithm
HABITS = 60.0  # minutes by which a person of habits misses the hour of the first visit, as a standard deviation
IMPOSSIBLE = -1e3  # the logarithm of a density

Minutes = npt.NDArray[np.float64]
Visits = Callable[[np.random.Generator, Minutes], Minutes]


def one_visit(rng: np.random.Generator, taken: Minutes) -> Minutes:
    """Reports that follow their ticket after the minutes that answering takes."""
    return taken + rng.lognormal(np.log(ANSWERING), SPREAD, len(taken))


def phases(rng: np.random.Generator, taken: Minutes) -> Minutes:
    """Reports of another day, when everybody comes anew."""
    return rng.exponential(COMING, len(taken))


def habits(rng: np.random.Generator, taken: Minutes) -> Minutes:
    """Reports of another day, when everybody comes at about the same hour again."""
    return taken + rng.normal(0, HABITS, len(taken))


def answering(gaps: Minutes) -> Minutes:
    """The logarithm of the density of the minutes between a ticket and its report, in one visit."""
    logs = np.log(np.maximum(gaps, 1e-9))
    return np.where(gaps > 0, -logs - ((logs - np.log(ANSWERING)) / SPREAD) ** 2 / 2, IMPOSSIBLE)


def returning(gaps: Minutes) -> Minutes:
    """The same for people of habits, by the hour of the day."""
    return -((gaps / HABITS) ** 2) / 2


WAYS: dict[str, tuple[Visits, Callable[[Minutes], Minutes]]] = {
    "one visit, one server that writes down times": (one_visit, answering),
    "phases, everybody comes anew": (phases, returning),
    "phases, everybody comes at about the same hour": (habits, returning),
}


def matched(way: str, people: int, rng: np.random.Generator) -> float:
    """The share of people whose report the likeliest matching finds."""
    visits, density = WAYS[way]
    taken = rng.exponential(COMING, people)
    sent = visits(rng, taken)
    _, guessed = linear_sum_assignment(-density(sent[None, :] - taken[:, None]))
    return float(np.mean(guessed == np.arange(people)))


@click.command()
@click.option("--runs", default=200, show_default=True, type=click.IntRange(2))
@click.option("--people", default=PEOPLE, show_default=True, type=click.IntRange(2))
def main(runs: int, people: int) -> None:
    """Print how many people of so many are told apart by the clock, and how many by guessing."""
    rng = np.random.default_rng()
    for way in WAYS:
        shares = [matched(way, people, rng) for _ in range(runs)]
        error = np.std(shares, ddof=1) / np.sqrt(runs)
        click.echo(f"{way:48} {np.mean(shares):7.2%} ± {error:.2%}")
    click.echo(f"{'by guessing':48} {1 / people:7.2%}")


if __name__ == "__main__":
    main()
