"""Shares among those who answered, where options are drawn: guaranteed, whatever ties the two counts."""

import math
from typing import Any

import numpy as np
import pytest

from survey_app.assure.simulation.devices import reports
from survey_app.estimate.intervals import Method, Options
from survey_app.estimate.question_estimates import Estimate, Evidence, question_estimates
from survey_app.figures import FamilyName
from tests.definitions import define, drawn, field, multiple, survey
from tests.estimate.rare import lowest_share

SKIPPED = 1 << 3


def answered(evidence: Evidence) -> list[Estimate]:
    return question_estimates(evidence, evidence.field.questions[0], Options(), FamilyName.AMONG_ANSWERS)


def used(mechanism: dict[str, Any]) -> Any:
    return survey(define([multiple(optional=True)], [field(mechanism, "used")]))


def test_the_share_of_those_who_answered_is_the_ratio_of_two() -> None:
    """Two of four drawn, each option right with 5/6: 30 of 60 of an option are ½, 45 of 60 without an answer ⅞."""
    made = used(drawn(4, 2))
    counts = np.array([50, 10, 40, 20, 45, 15, 15, 45])
    found = answered(Evidence(made.fields[0], counts, 100))
    assert [one.option for one in found] == ["item 0", "item 1", "item 2"]
    none = (45 / 60 - 1 / 6) / (2 / 3)
    for one, ones in zip(found, (10, 20, 15), strict=True):
        assert one.unbiased == pytest.approx((ones / 60 - 1 / 6) / (2 / 3) / (1 - none))
        assert (one.n, one.interval.method, one.interval.coverage) == (60, Method.CLOPPER_PEARSON, "guaranteed")
        assert 0 <= one.interval.low <= one.estimate <= one.interval.high <= 1


def test_of_nobody_it_may_be_anything() -> None:
    made = used(drawn(4, 2))
    found = answered(Evidence(made.fields[0], np.array([5, 5, 5, 5, 0, 0, 0, 0]), 10))
    assert [(one.interval.low, one.interval.high) for one in found] == [(0, 1)] * 3
    assert all(math.isnan(one.unbiased) for one in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "skipping", "n"), [(1, 0.3, 400), (2, 0.8, 400), (3, 0.5, 150), (4, 0.0, 100), (2, 0.97, 300)]
)
def test_shares_of_those_who_answered_are_covered(draw: int, skipping: float, n: int) -> None:
    """Below .95 in 300 surveys by more than happens in one of 1e8; the intervals of shares of all would be noticed."""
    made, rng, runs = used(drawn(4, draw, 15 * 2**60)), np.random.default_rng(), 300
    held, of_all = np.zeros(3), np.zeros(3)
    true = np.array([0.9, 0.3, 0.0])
    for _ in range(runs):
        masks = (rng.random((n, 3)) < true) @ np.array([1, 2, 4])
        said = np.where(rng.random(n) < skipping, SKIPPED, masks)
        rows = np.concatenate(list(reports(made, {"used": said}, rng)))
        counts = np.unpackbits(rows, axis=1, count=made.width).sum(axis=0, dtype=np.int64)
        evidence, question = Evidence(made.fields[0], counts, n), made.questions[0]
        found = answered(evidence), question_estimates(evidence, question, Options())[:3]
        for seen, lines in zip((held, of_all), found, strict=True):
            seen += [one.interval.low <= share <= one.interval.high for one, share in zip(lines, true, strict=True)]
    assert min(held) / runs >= lowest_share(0.95, runs)
    assert (min(of_all) / runs < lowest_share(0.95, runs)) == (skipping > 0)
