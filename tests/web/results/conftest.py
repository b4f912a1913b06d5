"""Servers with results: one that nobody changes, and one of one's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.results.results_fixtures import Installation, campus, other_mechanisms


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Surveys that nobody changes."""
    made = Installation(tmp_path_factory.mktemp("installation"))
    made.add(campus(), 1200)
    made.add(campus("west"), 800)
    made.add(other_mechanisms(), 900)
    made.add(campus("private"), 40, public=False)
    yield made
    made.store.close()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Installation]:
    """An empty server of one's own."""
    made = Installation(tmp_path)
    yield made
    made.store.close()
