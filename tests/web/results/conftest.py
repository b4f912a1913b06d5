"""Servers with results: one that tests share and do not change, and an empty one for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.results.results_fixtures import Installation, campus, other_mechanisms


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield a server whose surveys no test changes."""
    made = Installation(tmp_path_factory.mktemp("installation"))
    made.add(campus(), 1200)
    made.add(campus("west"), 800)
    made.add(other_mechanisms(), 900)
    made.add(campus("private"), 40, public=False)
    yield made
    made.store.close()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Installation]:
    """Yield an empty server for one test."""
    made = Installation(tmp_path)
    yield made
    made.store.close()
