from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server import Server


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the ledger of whoever runs it."""
    monkeypatch.setenv("CANDOR_LEDGER", str(tmp_path / "default-ledger.json"))


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()
