"""A person at a terminal."""

from collections.abc import Iterator

import pytest


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Lines to be typed; what is left at the end was never asked for."""
    lines: list[str] = []

    def read(prompt: str) -> str:
        print(prompt)
        if not lines:
            raise EOFError
        return lines.pop(0)

    monkeypatch.setattr("builtins.input", read)
    yield lines
    assert not lines
