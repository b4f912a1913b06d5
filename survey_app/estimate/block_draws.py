"""Whether devices drew their blocks as often as the definition says: a check that costs nobody any ε.

Where each device answers one field, the asked bits of n reports are multinomial(n, chances), whatever anybody would
answer. So a chi-square on the asked columns tells when people broke off after they saw what they were asked, or when
reports were made up (docs/methods.md §15). Where some blocks are expected seldom, the distribution of the statistic is
simulated; always from the same numbers, so that a page and a terminal say the same.
"""

from dataclasses import dataclass

import numpy as np

from candor_client.definition import Field, Survey
from survey_app.estimate.hypotheses import LEAST_EXPECTED, Test, by_chi_square, by_draws
from survey_app.figures import Floats
from survey_app.tally import Counts, Tally, columns

SIMULATED = 9_999
SEED = 15


@dataclass(frozen=True)
class Draw:
    """A field, how likely a device draws it, and how many did."""

    field: Field
    chance: float
    n: int
    expected: float


def draws(survey: Survey, tally: Tally) -> list[Draw]:
    """How often each field was drawn; nothing where every device answers all of them."""
    found: list[Draw] = []
    for at in columns(survey):
        if at.asked is not None:
            chance = float(survey.part(at.field))
            found.append(Draw(at.field, chance, int(tally.counts[at.asked]), chance * tally.reports))
    return found


def draw_test(drawn: list[Draw]) -> Test | None:
    """Pearson's chi-square of the numbers drawn; nothing to test without reports, or with one field."""
    seen, chances = np.array([one.n for one in drawn]), np.array([one.chance for one in drawn])
    n = int(seen.sum())
    if len(drawn) < 2 or not n:
        return None
    statistic = float(_chi_square(seen, chances, n))
    name, df = "chi-square of the blocks drawn", len(drawn) - 1
    if n * chances.min() >= LEAST_EXPECTED:
        return by_chi_square(name, statistic, df, n)
    others = _chi_square(np.random.default_rng(SEED).multinomial(n, chances, SIMULATED), chances, n)
    return by_draws(f"{name}, simulated", statistic, df, n, "bootstrap", others)


def _chi_square(seen: Counts, chances: Floats, n: int) -> Floats:
    found: Floats = ((seen - n * chances) ** 2 / (n * chances)).sum(axis=-1)
    return found
