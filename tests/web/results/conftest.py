"""Servers with results: one that nobody changes, and one of one's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.results.results_fixtures import House, campus, other_mechanisms


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Surveys that nobody changes."""
    made = House(tmp_path_factory.mktemp("house"))
    made.add(campus(), 1200)
    made.add(campus("west"), 800)
    made.add(other_mechanisms(), 900)
    made.add(campus("private"), 40, public=False)
    yield made
    made.store.close()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[House]:
    """An empty server of one's own."""
    made = House(tmp_path)
    yield made
    made.store.close()
