"""The page of benchmarks: what its charts say, and what it refuses."""

import re
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import postgres
from benchmarks.__main__ import main
from benchmarks.page import MARGIN, WIDTH, Bars, Section
from survey_app.web.charts import STYLE

SVG = "{http://www.w3.org/2000/svg}"
SPEED = Bars("speed", "Speed", "× ours", (("ours", 1.0), ("a <peer>", 0.0625), ("another", 1234.5)))


def parse(chart: Bars) -> ElementTree.Element:
    return ElementTree.fromstring(chart.draw())  # noqa: S314  our own text


def places(chart: Bars) -> list[float]:
    return [float(one.get("cx", "")) for one in parse(chart).iter(f"{SVG}circle")]


def test_a_chart_says_what_it_shows() -> None:
    root = parse(SPEED)
    assert next(root.iter(f"{SVG}title")).text == "Speed"
    assert next(root.iter(f"{SVG}desc")).text == "× ours: ours 1.00; a <peer> 0.0625; another 1,234"


def test_every_class_has_a_rule() -> None:
    ruled = set(re.findall(r"\.([a-z][a-z0-9]*)", STYLE))
    used = {name for element in parse(SPEED).iter() for name in element.get("class", "").split()}
    assert used <= ruled | {"bars", "row", "label"}


@given(st.lists(st.floats(1e-6, 1e9), min_size=1, max_size=5))
def test_dots_stand_in_the_order_of_their_numbers_on_an_axis_with_ticks(values: list[float]) -> None:
    chart = Bars("any", "Any", "s", tuple((f"{value}", value) for value in sorted(values)))
    found = places(chart)
    assert found == sorted(found)
    assert found[0] >= MARGIN and found[-1] <= WIDTH - MARGIN
    assert any(one.get("class") == "tick" for one in parse(chart).iter(f"{SVG}text"))


def test_equal_ratios_have_equal_distances() -> None:
    first, second, third = places(Bars("three", "Three", "s", (("a", 1.0), ("b", 10.0), ("c", 100.0))))
    assert second - first == pytest.approx(third - second, abs=0.2)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_what_has_no_place_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match=r"chart|axis"):
        Bars("bad", "Bad", "s", (("a", value),)).draw()


def test_a_section_has_what_was_printed_and_its_charts_in_words() -> None:
    assert Section("Speed", "How fast.", "\na 1\nb 2\n", [SPEED]).markdown() == (
        "\n## Speed\n\nHow fast.\n\n![Speed, × ours: ours 1.00; a <peer> 0.0625; another 1,234](benchmarks/speed.svg)\n"
        "\n```text\na 1\nb 2\n```\n"
    )


def test_a_part_of_the_tables_makes_no_page() -> None:
    said = CliRunner().invoke(main, ["aggregate", "--quick", "--out", "anywhere"])
    assert said.exit_code == 2
    assert "name some, or give --out, not both" in said.output


def test_where_there_is_no_postgresql_its_table_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(postgres, "find_spec", lambda name: None)
    assert postgres.main(quick=True) == []
    assert "not measured: PostgreSQL (not installed: psycopg)" in capsys.readouterr().out
