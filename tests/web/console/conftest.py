"""Two accounts, each in a browser of its own."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.fixtures import Installation
from tests.sign_in import signed_in


@pytest.fixture
def app(installation: Installation) -> Flask:
    """Return a server without any survey."""
    return installation.app


@pytest.fixture
def ada(app: Flask) -> FlaskClient:
    return signed_in(app, "ada")


@pytest.fixture
def eve(app: Flask) -> FlaskClient:
    return signed_in(app, "eve")
