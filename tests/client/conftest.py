"""A person at a terminal, for tests of the client."""

from collections.abc import Iterator

import pytest


@pytest.fixture
def typed_lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield a list of lines to type; each has to be asked for by the end."""
    lines: list[str] = []

    def read(prompt: str) -> str:
        print(prompt)
        if not lines:
            raise EOFError
        return lines.pop(0)

    monkeypatch.setattr("builtins.input", read)
    yield lines
    assert not lines
