"""The tables of how many people a survey needs, in README and docs/planning.md: they are what their command writes."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import people


@pytest.mark.parametrize("page", people.TABLES, ids=lambda page: page.name)
def test_a_page_has_the_table_of_its_command(page: Path) -> None:
    (table,) = people.PLACE.findall(page.read_text())
    assert table == people.TABLES[page]()
    assert table in CliRunner().invoke(people.main, ["--print"]).output


def test_another_table_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "EPSILONS", (4, 2.01, 1))
    monkeypatch.setattr(people, "README_EPSILONS", (2.01, 1))
    for page, make_table in people.TABLES.items():
        assert make_table() not in page.read_text()
