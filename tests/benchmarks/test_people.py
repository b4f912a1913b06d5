"""The README's table of how many people a survey needs: it is what its command writes."""

import pytest
from click.testing import CliRunner

from benchmarks import people


def test_the_readme_has_the_table_of_its_command() -> None:
    (found,) = people.PLACE.findall(people.README.read_text())
    assert found == people.table() == CliRunner().invoke(people.main, ["--print"]).output


def test_another_table_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "EPSILONS", (4, 2.01, 1))
    assert people.table() not in people.README.read_text()
