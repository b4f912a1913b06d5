"""An installation for tests of pages, with surveys of ada's; checking passwords is cheap, and counted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from survey_app import accounts, create_app
from survey_app.store import State, Store
from tests.definitions import worked_example
from tests.fixtures import Installation, build
from tests.rsgi_client import RsgiClient
from tests.sign_in import CountingHasher


@pytest.fixture(autouse=True)
def hasher(monkeypatch: pytest.MonkeyPatch) -> CountingHasher:
    cheap = CountingHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(accounts, "_hasher", cheap)
    monkeypatch.setattr(accounts, "_nobody", cheap.hash("nobody"))
    return cheap


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Return the path of the database, in a folder of its own."""
    folder = tmp_path / "server"
    folder.mkdir()
    return folder / "candor.db"


@pytest.fixture
def installation(database: Path) -> Iterator[Installation]:
    built = build(database.parent)
    yield built
    built.close()


@pytest.fixture
def app(installation: Installation) -> Flask:
    """Return a server with surveys of ada's: `exam` is private, `ready` is not open."""
    for slug, state, public in (
        ("exam", State.OPEN, False),
        ("census", State.OPEN, True),
        ("ready", State.READY, True),
    ):
        installation.publish(worked_example() | {"slug": slug}, state=state, public=public)
    return installation.app


@pytest.fixture
def store(app: Flask, installation: Installation) -> Store:
    return installation.store


@pytest.fixture
def limited_app(app: Flask, database: Path) -> Flask:
    """Return a server on the same database, with rate limits."""
    made = create_app({"DB": f"sqlite:///{database}"})
    made.test_client_class = RsgiClient
    return made
