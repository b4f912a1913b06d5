"""A test of whether devices drew their blocks with the chances in the definition; it costs no ε.

If each device answers one field, the asked bits of n reports are multinomial(n, chances), whatever the answers are. So
a chi-square test on the asked columns detects people who stopped after seeing their question, and fabricated reports
(docs/methods.md §15). If some expected counts are small, the distribution of the statistic is simulated with a fixed
seed, so that every page and terminal shows the same result.
"""

from dataclasses import dataclass

import numpy as np

from candor_client.definition import Field, Survey
from survey_app.estimate.hypotheses import LEAST_EXPECTED, Test, chi_square_test, resampling_test
from survey_app.figures import Floats
from survey_app.tally import Counts, Tally, columns

SIMULATED = 9_999
SEED = 15


@dataclass(frozen=True)
class BlockDraw:
    """A field, the probability that a device draws it, and the number of devices that did."""

    field: Field
    chance: float
    n: int
    expected: float


def count_draws(survey: Survey, tally: Tally) -> list[BlockDraw]:
    """Return how often each field was drawn; empty if every device answers all fields."""
    rows: list[BlockDraw] = []
    for place in columns(survey):
        if place.asked_column is not None:
            chance = float(survey.answer_probability(place.field))
            rows.append(BlockDraw(place.field, chance, int(tally.counts[place.asked_column]), chance * tally.reports))
    return rows


def run_draw_test(draws: list[BlockDraw]) -> Test | None:
    """Test the numbers of draws with Pearson's chi-square; return None without reports or with a single field."""
    observed, chances = np.array([draw.n for draw in draws]), np.array([draw.chance for draw in draws])
    n = int(observed.sum())
    if len(draws) < 2 or not n:
        return None
    statistic = float(_chi_square(observed, chances, n))
    name, df = "chi-square of the blocks drawn", len(draws) - 1
    if n * chances.min() >= LEAST_EXPECTED:
        return chi_square_test(name, statistic, df, n)
    simulated = _chi_square(np.random.default_rng(SEED).multinomial(n, chances, SIMULATED), chances, n)
    return resampling_test(f"{name}, simulated", statistic, df, n, "bootstrap", simulated)


def _chi_square(observed: Counts, chances: Floats, n: int) -> Floats:
    statistic: Floats = ((observed - n * chances) ** 2 / (n * chances)).sum(axis=-1)
    return statistic
