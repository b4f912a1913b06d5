"""The paper for JOSS: its form, its references, and its numbers, which the commands in its comments print.

A comment below a paragraph lists its figures and where they come from: `<!-- 1,399: candor plan … -->` is run here;
`<!-- 252: make coverage → docs/coverage.md -->` takes minutes, and is compared with the page that the command wrote.
"""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from survey_app.cli import main

ROOT = Path(__file__).parent.parent
_, HEAD, TEXT = (ROOT / "paper" / "paper.md").read_text().split("---\n", 2)
REFERENCES = (ROOT / "paper" / "paper.bib").read_text()
COMMENT = re.compile(r"<!-- (.*?): (.*?)(?: → (\S+))? -->")
PROSE = re.sub(r"\[@[^\]]*\]|@\w+|\$[^$]*\$|`[^`]*`", "", TEXT)  # without citations, formulas and code
FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?%?")
SOURCES = COMMENT.findall(TEXT)


def stands_in(figure: str, text: str) -> bool:
    """Whether a text has this very number, not one that merely holds its digits."""
    return bool(re.search(rf"(?<![\d.,]){re.escape(figure)}(?![\d%]|[.,]\d)", text))


def listed(figures: str) -> list[str]:
    return figures.split(", ")


def test_the_head_is_what_joss_asks_for() -> None:
    head: dict[str, Any] = YAML(typ="safe", pure=True).load(HEAD)
    assert set(head) == {"title", "tags", "authors", "affiliations", "date", "bibliography"}
    assert [author["name"] for author in head["authors"]] == ["Candor contributors"]
    assert head["bibliography"] == "paper.bib"
    titles = re.findall(r"^# (.*)$", TEXT, re.MULTILINE)
    assert titles[:3] == ["Summary", "Statement of need", "State of the field"] and titles[-1] == "References"
    assert 750 <= len(COMMENT.sub("", TEXT).split()) <= 1750


def test_every_reference_is_cited_and_every_citation_has_its_reference() -> None:
    cited = set(re.findall(r"@(\w+)", TEXT))
    known = re.findall(r"^@\w+\{(\w+),", REFERENCES, re.MULTILINE)
    assert len(known) == len(set(known)) and set(known) == cited


def test_every_figure_has_a_source() -> None:
    """Of three digits and more, and all parts of a hundred; a paragraph ends with its comments."""
    unsourced = []
    for paragraph in re.split(r"\n\n", PROSE):
        sourced = {figure for figures, *_ in COMMENT.findall(paragraph) for figure in listed(figures)}
        told = [one for one in FIGURE.findall(COMMENT.sub("", paragraph)) if one.endswith("%") or len(one) > 2]
        unsourced += [one for one in (figure.rstrip(",") for figure in told) if one not in sourced]
    assert not unsourced
    assert len(SOURCES) >= 5


@pytest.mark.parametrize(("figures", "command", "page"), SOURCES, ids=[command for _, command, _ in SOURCES])
def test_every_source_has_its_figures(figures: str, command: str, page: str) -> None:
    said = COMMENT.sub("", PROSE)
    assert all(stands_in(figure, said) for figure in listed(figures)), "they are in the text"
    if page:
        printed = (ROOT / page).read_text()
        assert f"`{command}`" in printed, "the page says what writes it"
    else:
        done = CliRunner().invoke(main, shlex.split(command)[1:])
        assert done.exit_code == 0
        printed = done.stdout
    assert not [figure for figure in listed(figures) if not stands_in(figure, printed)]


def test_a_wrong_figure_would_be_found() -> None:
    assert stands_in("252", "261 lines: 252 hold") and not stands_in("25", "261 lines: 252 hold")
    assert stands_in("1,399", "with Candor  1,399  ±5") and not stands_in("399", "with Candor  1,399  ±5")
    assert not stands_in("5", "a suspicion of 5%") and not stands_in("8", "at ε 8.5")
