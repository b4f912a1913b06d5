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


@pytest.mark.parametrize("path", ["/", "/results/exam", "/api/surveys/exam", "/login", "/nowhere"])
def test_an_address_that_is_not_text_is_refused_wherever_it_leads(house: House, path: str) -> None:
    """Before, every page that reads its parameters ended in a 500."""
    house.publish()
    with house.client.open(path, environ_overrides={"QUERY_STRING": "language=\xff"}) as response:
        assert response.status_code == 400
        assert "is not UTF-8" in response.get_data(as_text=True)


def test_to_respondents_such_an_address_is_a_link_that_leads_nowhere(house: House) -> None:
    house.publish()
    with house.client.open("/s/exam", environ_overrides={"QUERY_STRING": "\xff"}) as response:
        assert response.status_code == 404
