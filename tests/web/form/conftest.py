"""Fixtures for tests that only read the pages of the form."""

import pytest
from flask.testing import FlaskClient

from tests.fixtures import Installation


@pytest.fixture
def web(installation: Installation) -> FlaskClient:
    return installation.client
