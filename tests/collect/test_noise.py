"""Noise from outside: at 2000 refusals each expected status is missing with a chance below 1e-6."""

import pytest

from tests.fuzz import check_noise
from tests.house import House
from tests.soak import part_of

pytestmark = pytest.mark.slow


def test_two_thousand_damaged_requests_cause_no_error_and_no_false_count(house: House) -> None:
    check_noise(house, 2000)


@pytest.mark.soak
def test_a_million_damaged_requests_cause_no_error_and_no_false_count(house: House) -> None:
    check_noise(house, part_of(10**6))
