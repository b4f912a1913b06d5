"""The page of designs: it is what its command writes, and its numbers are the published ones."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import design
from benchmarks.design import DOCS, main

PLANNING = DOCS.with_name("planning.md")

YES_OR_NO = {
    3: "13,948 / 4,982 / **4,982** | 3,578 / 1,572 / **1,402** | 1,661 / 992 / **636** | 993 / 826 / **370** | 524 / 750 / **262**",
    6: "55,435 / 9,964 / **9,964** | 13,948 / 3,144 / **2,633** | 6,266 / 1,984 / **1,271** | 3,578 / 1,651 / **739** | 1,661 / 1,499 / **378**",
    9: "124,582 / 14,945 / **14,945** | 31,234 / 4,716 / **4,034** | 13,948 / 2,976 / **1,907** | 7,899 / 2,476 / **1,108** | 3,578 / 2,248 / **587**",
    12: "221,386 / 19,927 / **19,927** | 55,435 / 6,288 / **5,265** | 24,704 / 3,967 / **2,542** | 13,948 / 3,301 / **1,477** | 6,266 / 2,997 / **756**",
}  # fmt: skip
PAIRS = {
    "yes or no, yes or no": "1.24 | 0.84 | 0.64 | 0.56",
    "3 points, 3 points": "2.58 | 1.34 | 0.81 | 0.61",
    "yes or no, 5 points": "3.86 | 2.11 | 1.18 | 0.80",
    "5 points, 5 points": "7.91 | 3.80 | 1.68 | 0.90",
}
MIXED = {1: (222_048, 19_802, 6_950), 2: (56_099, 4_824, 1_909), 4: (14_619, 1_523, 587)}
DRAWN = (17_374, 4_771, 2_374, 1_466, 758)  # to the nearest; what is needed is rounded up


@pytest.mark.slow
def test_the_page_is_what_the_command_writes(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["--out", str(tmp_path / "design.md")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "design.md").read_text() == DOCS.read_text()


def test_respondents_are_the_published_ones() -> None:
    page = DOCS.read_text()
    for count, row in YES_OR_NO.items():
        assert f"\n| {count} | {row} |\n" in page
    for name, row in PAIRS.items():
        assert f"\n| {name} | {row} |\n" in page
    for epsilon, (split, best, hardest) in MIXED.items():
        assert re.search(rf"\n\| {epsilon} \| {split:,} \| [\d,]+ \| {best:,} \| .* \| {hardest:,} \|\n", page)
    assert re.search(r"\n\| yes or no \| 1\.42 \|", page)
    found = re.search(r"\n\| respondents \| (.*) \|\n", page)
    assert found
    for told, published in zip(found[1].split(" | "), DRAWN, strict=True):
        assert 0 <= int(told.replace(",", "")) - published <= 1


def test_the_page_would_show_another_design(monkeypatch: pytest.MonkeyPatch) -> None:
    assert design.yes_or_no_section() in DOCS.read_text()
    monkeypatch.setattr(design, "EPSILONS", (1.01, 2, 3, 4, 6))
    assert design.yes_or_no_section() not in DOCS.read_text()


def test_the_page_on_planning_quotes_this_one() -> None:
    rows = re.findall(r"^\| \d+ \| .*times fewer.*$", PLANNING.read_text(), re.MULTILINE)
    assert len(rows) == len(MIXED)
    assert all(f"\n{row}\n" in DOCS.read_text() for row in rows)
