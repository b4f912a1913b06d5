"""What ε means for people, against the published table."""

from decimal import Decimal

import pytest

from survey_app.plan import epsilon_guide, power
from survey_app.plan.report_variance import respondents_for_margin, z_score
from tests.published_plans import LN3, yes_spread


def test_the_table_for_people() -> None:
    rows = epsilon_guide.list_levels()
    assert [row.rare for row in rows] == [292, 24_372, 5_951, 4_902, 2_213, 1_405, 631, 409]
    assert [row.usual for row in rows] == [246, 6_266, 1_661, 1_399, 727, 524, 331, 276]
    assert [row.shown for row in rows] == [None, 12_345, 2_935, 2_399, 1_025, 612, 214, 95]
    assert [round(100 * row.suspicion) for row in rows] == [100, 8, 13, 14, 21, 28, 51, 74]
    assert [round(100 * row.guess) for row in rows] == [100, 62, 73, 75, 83, 88, 95, 98]
    assert rows[2].suspicion == pytest.approx(0.1252, abs=5e-5)


def test_the_table_with_a_rounded_quantile_is_the_published_one() -> None:
    """Three cells were published with z = 1.96; with it they come out as they were printed, without it one less."""
    rounded = 2 * 0.9750021048517795 - 1  # the confidence whose z is 1.96
    assert z_score(rounded) == pytest.approx(1.96, abs=1e-12)
    levels: list[str | Decimal] = ["0.5", "1", LN3, Decimal(5).ln(), "2", "3", "4"]
    rare = [respondents_for_margin(yes_spread(level)(0.05), 0.025, rounded) for level in levels]
    usual = [respondents_for_margin(yes_spread(level)(0.2), 0.05, rounded) for level in levels]
    shown = [power.positive_respondents(yes_spread(level), 0.05, 0.8, rounded) for level in levels]
    assert rare == [24_373, 5_951, 4_902, 2_213, 1_405, 631, 409]
    assert usual == [6_266, 1_661, 1_399, 727, 525, 331, 276]
    assert shown == [12_345, 2_935, 2_400, 1_025, 612, 214, 95]
