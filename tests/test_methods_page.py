"""The numbers in docs/methods.md are those of the code, and whatever cites a section finds it."""

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from scipy.stats import norm

from candor_client.definition import Survey
from candor_client.mechanisms import Drawn, Geometric, Subset
from survey_app.authoring import mechanism_choice
from survey_app.authoring.authored_question import DESIGNS
from survey_app.authoring.mechanism_choice import bit_variance
from survey_app.channels.design_variance import level_variance, share_variance
from survey_app.channels.posterior import posterior_chance
from survey_app.plan.question_plan import make_question
from survey_app.results.caution import largest_shift
from tests.definitions import choice, define, field, subset, survey, yes_no

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "methods.md").read_text()
SECTIONS = re.findall(r"^## §(\d+) ", PAGE, re.MULTILINE)
CITING = [
    file
    for folder in ("client", "survey_app", "tests", "benchmarks", "docs", "static", "templates")
    for file in (ROOT / folder).rglob("*")
    if file.suffix in (".py", ".js", ".mjs", ".md", ".html", ".toml") and file != Path(__file__)
]


def test_the_sections_are_numbered_without_a_gap() -> None:
    numbers = [int(number) for number in SECTIONS]
    assert numbers == list(range(1, 17))


def sources(page: str) -> dict[str, str]:
    """What the list of sources has to say of each section."""
    return dict(re.findall(r"^- §(\d+): (.*(?:\n  .*)*)", page.partition("## Sources")[2], re.MULTILINE))


def named(entry: str) -> bool:
    """Whether an entry names somebody with a year and a title, points to where it does, or says that it is ours."""
    return bool(re.search(r"[A-Z][\w-]+.*? \(\d{4}\),\s+(\*[^*]{15,}\*|as in §\d+)", entry, re.DOTALL)) or bool(
        re.search(r"^ours, from \[|the titles stand in \[", entry, re.MULTILINE)
    )


def test_every_section_names_a_source_with_its_year_and_title() -> None:
    assert list(sources(PAGE)) == SECTIONS
    assert not [section for section, entry in sources(PAGE).items() if not named(entry)]
    assert not named("Warner, *Randomized response: a survey technique*") and not named("Warner (1965), JASA 60")


def test_every_section_that_is_cited_exists() -> None:
    cited = {
        number
        for file in CITING
        for line in re.findall(r"docs/methods\.md (§[^()\n]*)", file.read_text())
        for number in re.findall(r"§(\d+)", line)
    }
    assert {"1", "9", "13"} <= cited <= set(SECTIONS)


def test_nothing_cites_a_file_that_a_stranger_has_not() -> None:
    assert not [file for file in CITING if re.search(r"\bMETHODS(\.md)? §", file.read_text())]


def figures(value: float) -> str:
    """Four figures, as the tables have them."""
    return f"{value:.4g}"


def rows() -> Iterator[str]:
    """Every row of a table on the page that holds numbers."""
    for name, (p, q) in DESIGNS.items():
        coins = mechanism_choice.make_classic_flip(Fraction(p), Fraction(q))
        yield f"| `{name}` | {p}, {q} | {coins.epsilon:.4f} |"
    for epsilon in ("0.1", "1", "3"):
        yield f"| {epsilon} | {mechanism_choice.make_flip(Decimal(epsilon)).one} |"
    for epsilon, size in (("0.5", 5), ("1", 3), ("1", 5), ("1", 10), ("1", 100), ("3", 10), ("3", 100), ("1", 10_000)):
        best = mechanism_choice.choose_subset(size, Decimal(epsilon))
        yield f"| {epsilon} | {size:,} | subset, w = {best.weight} | {figures(bit_variance(best, 0))} |"
    for epsilon, options in (("1", 2), ("1", 5), ("3", 5), ("4", 5), ("3", 10)):
        made = mechanism_choice.choose([make_question("multiple", options=options)], Decimal(epsilon))
        mechanism = made.mechanism
        told = f"{mechanism.draw} drawn" if isinstance(mechanism, Drawn) else "all sets as one choice"
        yield f"| {options} | {epsilon} | {told} | {figures(made.variance)} |"
    for epsilon in ("0.5", "1", "2", "3", "4", "5"):
        made = mechanism_choice.choose([make_question("number", high=Decimal(1000))], Decimal(epsilon))
        mechanism = made.mechanism
        assert isinstance(mechanism, Subset)
        levels = made.questions[0].levels
        variance = level_variance(float(mechanism.p), float(mechanism.q), levels)
        laplace = mechanism_choice.choose([make_question("number", high=Decimal(1000))], Decimal(epsilon), laplace=True)
        assert isinstance(laplace.mechanism, Geometric)
        yield f"| {epsilon} | {levels} | {figures(variance)} | {figures(4 * laplace.variance)} |"


@pytest.mark.parametrize("row", list(rows()))
def test_a_row_of_numbers_is_what_the_code_computes(row: str) -> None:
    assert row in PAGE


def shift(definition: Survey) -> float:
    """How far one percent of invented reports can move a share, in percent of a report."""
    only = definition.fields[0]
    moved = largest_shift(definition, only, only.questions[0])
    assert moved is not None
    return 100 * moved


def sentences() -> Iterator[str]:
    """Every number that stands in a sentence of the page, with its neighbours."""
    effects = [share_variance(0.75, 0.25, share) / (share * (1 - share)) for share in (0.2, 0.05)]
    yield f"{effects[0]:.1f} at a share of 20%, {effects[1]:.1f} at 5%"
    split, one = mechanism_choice.make_flip(Decimal("0.1")), mechanism_choice.make_flip(Decimal(1))
    yield f"n·Var of {bit_variance(split, 0.2):.0f} with everything split, {10 * bit_variance(one, 0.2):.1f} with one"
    shifts = [
        survey(define([yes_no()], [field({"kind": "flip", "one": str(one.one), "zero": str(one.zero)}, "cheated")]))
    ]
    for size in (5, 100):
        alone = mechanism_choice.make_subset(size, 1, Decimal(1))
        shifts.append(survey(define([choice(options=size)], [field(subset(size, 1, alone.keep), "help")])))
    moved = [shift(one) for one in shifts]
    yield f"{moved[0]:.2f} b for yes or no, {moved[1]:.2f} b for one of 5 options, {moved[2]:.1f} b for one of 100"
    z, power = norm.ppf(0.975), norm.ppf(0.8)
    spread = sum(bit_variance(one, share) for share in (0.2, 0.3))
    yield f"{math.ceil((z + power) ** 2 * spread / 0.1**2):,} in each group"
    chance = posterior_chance(20, mechanism_choice.make_classic_flip(Fraction("3/4"), Fraction("1/4")).epsilon)
    yield f"{chance.cases} in {chance.of}"


@pytest.mark.parametrize("sentence", list(sentences()))
def test_a_number_in_a_sentence_is_what_the_code_computes(sentence: str) -> None:
    assert sentence in re.sub(r"\s+", " ", PAGE)
