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
MEAN_DELAY = 400.0  # minutes after the mail, in the mean
MEDIAN_DURATION, SPREAD = 3.0, 0.5  # the median in minutes, and the standard deviation of its logarithm
HABITS = 60.0  # minutes by which a person of habits misses the hour of the first visit, as a standard deviation
IMPOSSIBLE = -1e3  # the logarithm of a density

Minutes = npt.NDArray[np.float64]
Visits = Callable[[np.random.Generator, Minutes], Minutes]


def draw_in_one_visit(rng: np.random.Generator, ticket_times: Minutes) -> Minutes:
    """Draw the times of reports that follow their ticket after the time that answering takes."""
    return ticket_times + rng.lognormal(np.log(MEDIAN_DURATION), SPREAD, len(ticket_times))


def draw_in_phases(rng: np.random.Generator, ticket_times: Minutes) -> Minutes:
    """Draw the times of reports on another day, at hours independent of the first visit."""
    return rng.exponential(MEAN_DELAY, len(ticket_times))


def draw_at_same_hour(rng: np.random.Generator, ticket_times: Minutes) -> Minutes:
    """Draw the times of reports on another day, at about the same hour as the first visit."""
    return ticket_times + rng.normal(0, HABITS, len(ticket_times))


def answering_density(gaps: Minutes) -> Minutes:
    """Return the log density of the minutes between a ticket and its report, for a single visit."""
    logs = np.log(np.maximum(gaps, 1e-9))
    return np.where(gaps > 0, -logs - ((logs - np.log(MEDIAN_DURATION)) / SPREAD) ** 2 / 2, IMPOSSIBLE)


def returning_density(gaps: Minutes) -> Minutes:
    """Return the log density of the difference in the hour of the day, for two visits at about the same hour."""
    return -((gaps / HABITS) ** 2) / 2


SCENARIOS: dict[str, tuple[Visits, Callable[[Minutes], Minutes]]] = {
    "one visit, one server that writes down times": (draw_in_one_visit, answering_density),
    "phases, everybody comes anew": (draw_in_phases, returning_density),
    "phases, everybody comes at about the same hour": (draw_at_same_hour, returning_density),
}


def match_share(scenario: str, people: int, rng: np.random.Generator) -> float:
    """Return the share of people whose report the likeliest matching finds."""
    visits, density = SCENARIOS[scenario]
    ticket_times = rng.exponential(MEAN_DELAY, people)
    report_times = visits(rng, ticket_times)
    _, guesses = linear_sum_assignment(-density(report_times[None, :] - ticket_times[:, None]))
    return float(np.mean(guesses == np.arange(people)))


@click.command()
@click.option("--runs", default=200, show_default=True, type=click.IntRange(2))
@click.option("--people", default=PEOPLE, show_default=True, type=click.IntRange(2))
def main(runs: int, people: int) -> None:
    """Print how many people of so many are told apart by the clock, and how many by guessing."""
    rng = np.random.default_rng()
    for way in SCENARIOS:
        shares = [match_share(way, people, rng) for _ in range(runs)]
        error = np.std(shares, ddof=1) / np.sqrt(runs)
        click.echo(f"{way:48} {np.mean(shares):7.2%} ± {error:.2%}")
    click.echo(f"{'by guessing':48} {1 / people:7.2%}")


if __name__ == "__main__":
    main()
