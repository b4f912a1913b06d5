"""A linkage attack by time: how many invitations a server can match with reports if it records when both arrive.

Blind tickets leave nothing else that links an invitation with its report. 300 people receive a mail.
Each person comes after an exponential time with a mean of 400 minutes and takes the ticket.
In one visit, the report follows after the time that answering takes (lognormal, median 3 minutes).
In two phases, it comes on another day. The attacker knows all times and distributions.
The attacker chooses the likeliest matching of all tickets with all reports (`linear_sum_assignment`).
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
    """Draw the times of reports that follow their ticket after the time that answering takes."""
    return taken + rng.lognormal(np.log(ANSWERING), SPREAD, len(taken))


def phases(rng: np.random.Generator, taken: Minutes) -> Minutes:
    """Draw the times of reports on another day, at hours independent of the first visit."""
    return rng.exponential(COMING, len(taken))


def habits(rng: np.random.Generator, taken: Minutes) -> Minutes:
    """Draw the times of reports on another day, at about the same hour as the first visit."""
    return taken + rng.normal(0, HABITS, len(taken))


def answering(gaps: Minutes) -> Minutes:
    """Return the log density of the minutes between a ticket and its report, for a single visit."""
    logs = np.log(np.maximum(gaps, 1e-9))
    return np.where(gaps > 0, -logs - ((logs - np.log(ANSWERING)) / SPREAD) ** 2 / 2, IMPOSSIBLE)


def returning(gaps: Minutes) -> Minutes:
    """Return the log density of the difference in the hour of the day, for two visits at about the same hour."""
    return -((gaps / HABITS) ** 2) / 2


WAYS: dict[str, tuple[Visits, Callable[[Minutes], Minutes]]] = {
    "one visit, one server that writes down times": (one_visit, answering),
    "phases, everybody comes anew": (phases, returning),
    "phases, everybody comes at about the same hour": (habits, returning),
}


def matched(way: str, people: int, rng: np.random.Generator) -> float:
    """Return the share of people whose report the likeliest matching finds."""
    visits, density = WAYS[way]
    ticket_times = rng.exponential(COMING, people)
    report_times = visits(rng, ticket_times)
    _, guesses = linear_sum_assignment(-density(report_times[None, :] - ticket_times[:, None]))
    return float(np.mean(guesses == np.arange(people)))


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
