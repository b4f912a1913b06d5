"""The command line on an empty folder, with cheap passwords."""

from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner, Result

from survey_app import accounts
from survey_app.cli import main


@pytest.fixture(autouse=True)
def _cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@pytest.fixture
def run(tmp_path: Path) -> Any:
    def invoke(*arguments: str, text: str | None = None) -> Result:
        return CliRunner().invoke(main, ["--db", f"sqlite:///{tmp_path}/candor.db", *arguments], input=text)

    return invoke
