"""Whoever only reads the pages of the form."""

import pytest
from flask.testing import FlaskClient

from tests.fixtures import House


@pytest.fixture
def web(house: House) -> FlaskClient:
    return house.client
