"""How often a true share lies outside its 95% interval at some look at an open survey: `python -m benchmarks.looks`.

The result is exact, not simulated. The count of a yes or no grows by a binomial number from look to look.
For each count, the chance that all intervals so far have covered the truth is updated at every look.
Every single interval is guaranteed.
"""

from decimal import Decimal

import click
import numpy as np
from scipy.stats import binom

from candor_client.mechanisms import Flip
from survey_app.authoring.mechanism_choice import make_flip
from survey_app.estimate.intervals import Options, binomial
from survey_app.results.checklist import LOOKS

EPSILONS = (1, 2, 4)
SHARES = (0.2, 0.0)


def missed_at_some_look(coin: Flip, share: float, looks: range = LOOKS) -> float:
    """Return the chance that the interval of a true share misses it at one or more of these numbers of reports."""
    chance_of_one = float(coin.q) + share * float(coin.p - coin.q)
    chances, reports = np.ones(1), 0
    for n in looks:
        growth = np.asarray(binom.pmf(np.arange(n - reports + 1), n - reports, chance_of_one), dtype=float)
        chances = np.convolve(chances, growth)
        reports = n
        first, last = _find_covering_counts(coin, share, n, round(n * chance_of_one))
        chances[:first] = 0
        chances[last + 1 :] = 0
    return 1 - float(chances.sum())


def _find_covering_counts(coin: Flip, share: float, n: int, inside: int) -> tuple[int, int]:
    """Return the smallest and the largest count whose interval covers the share.

    `inside` is a count that covers. Limits rise with the count, so the search ends at the first count that does not.
    """

    def covers(ones: int) -> bool:
        interval = binomial(ones, n, coin.p, coin.q, Options(), sample=False).interval
        return interval.low <= share <= interval.high

    first = last = inside
    while first > 0 and covers(first - 1):
        first -= 1
    while last < n and covers(last + 1):
        last += 1
    return first, last


@click.command()
def main() -> None:
    """Print how often a true share is missed at some look."""
    click.echo(f"Looks at {LOOKS[0]}, {LOOKS[1]}, … {LOOKS[-1]:,} reports; missed by a 95% interval at some look:")
    for share in SHARES:
        rates = [missed_at_some_look(make_flip(Decimal(epsilon)), share) for epsilon in EPSILONS]
        text = ", ".join(f"ε = {epsilon} {chance:.1%}" for epsilon, chance in zip(EPSILONS, rates, strict=True))
        click.echo(f"a true {share:.0%}: {text}")


if __name__ == "__main__":
    main()
