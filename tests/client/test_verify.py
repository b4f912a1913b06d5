"""The device trusts no figure but its own."""

import re
from decimal import Decimal

import pytest

from candor_client import verify
from candor_client.errors import ClaimExceeded, LimitExceeded
from tests.definitions import COIN, define, field, simple, subset, survey, worked_example, yes_no

LN3 = Decimal("1.0986122886681098")


def test_the_worked_example_spends_what_it_claims() -> None:
    assert verify(survey(worked_example())) == pytest.approx(LN3 + 2, abs=Decimal("1e-15"))


def test_a_claim_below_the_integers_is_refused() -> None:
    assert verify(survey(simple() | {"epsilon": "1.098612288669"}))
    assert verify(survey(simple() | {"epsilon": "1.098612288"}))  # within 1e-9
    with pytest.raises(ClaimExceeded, match=r"claims ε = 1\.098612287"):
        verify(survey(simple() | {"epsilon": "1.098612287"}))


def test_a_claim_above_the_integers_is_fine() -> None:
    assert verify(survey(simple() | {"epsilon": 5})) == pytest.approx(LN3, abs=Decimal("1e-15"))


@pytest.mark.parametrize("limit", [2, 1.0987, "1.0987", Decimal("1.098612288669"), None])
def test_a_limit_that_is_kept(limit: float | str | Decimal | None) -> None:
    assert verify(survey(simple()), limit)


@pytest.mark.parametrize("limit", [1, 1.0986, "1.0986", 0, -1, Decimal("1.098612287")])
def test_a_limit_that_would_be_broken(limit: float | str | Decimal) -> None:
    with pytest.raises(LimitExceeded, match="your limit is"):
        verify(survey(simple()), limit)


@pytest.mark.parametrize("limit", ["a lot", float("nan"), float("inf"), ""])
def test_a_limit_that_is_no_number(limit: float | str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(limit))):
        verify(survey(simple()), limit)


def test_with_ask_the_largest_field_counts() -> None:
    three = define(
        [yes_no("a"), yes_no("b"), yes_no("c")],
        [field(COIN, "a"), field(subset(2, 1, 15 * 2**60), "b"), field(COIN, "c")],
    )
    ln15 = Decimal(15).ln()
    assert verify(survey(three)) == pytest.approx(2 * LN3 + ln15, abs=Decimal("1e-15"))
    assert verify(survey(three | {"ask": 1})) == pytest.approx(ln15, abs=Decimal("1e-15"))
