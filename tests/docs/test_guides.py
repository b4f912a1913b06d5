"""The numbers that the guides tell respondents and researchers are those of the code, rounded so that nobody is told too little."""

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import pytest

from candor_client.description import SUSPICION
from candor_client.report import ID_BYTES
from candor_client.spending import SERVER_LIMIT, SURVEY_LIMIT
from survey_app.authoring import ADVISED_TOTAL, CONFIRMED_TOTAL, mechanism_choice
from survey_app.authoring.authored_question import DESIGNS
from survey_app.authoring.mechanism_choice import bit_variance
from survey_app.channels.posterior import best_guess_chance, posterior_bound
from survey_app.plan.epsilon_guide import list_levels
from survey_app.store.steps import STEP
from tests.module_graph import ROOT

RESPONDENTS, RESEARCHERS, TUTORIAL = (
    (ROOT / "docs" / f"{name}.md").read_text() for name in ("respondents", "researchers", "tutorial")
)
TWO_COINS = mechanism_choice.make_classic_flip(*map(Fraction, DESIGNS["coin"]))


def at_most(chance: float) -> int:
    """In a hundred; rounded up, so that protection never looks better than it is."""
    return math.ceil(100 * chance - 1e-9)


def for_respondents() -> Iterator[str]:
    named = {"two coins (1.1)": TWO_COINS.epsilon} | {name: Decimal(name) for name in ("0.5", "1", "2", "3", "4")}
    for name, epsilon in named.items():
        raised, guessed = posterior_bound(1 / SUSPICION, float(epsilon)), best_guess_chance(float(epsilon))
        yield f"| {name} | {at_most(raised)} in 100 | {at_most(guessed)} times in 100 |"
    yes, no = (round(100 * share) for share in (TWO_COINS.p, TWO_COINS.q))
    yield f"of 100 people whose answer is yes, {yes} say yes; and of 100 whose answer is no, {no} say yes too"
    yield f"nothing before {2 * STEP} reports are there; after that they move by at least {STEP} at a time"
    yield f"stops you at ε = {SURVEY_LIMIT} for one survey, all its versions together, and at {SERVER_LIMIT} for all"
    yield f"with {['', 'sixteen'][ID_BYTES == 16]} random bytes"


def for_researchers() -> Iterator[str]:
    named = {"ln 3": "ln 3, two coins", "ln 5": "ln 5, `forced_die`"}
    for level in list_levels():
        if level.epsilon is not None:
            chances = (at_most(posterior_bound(prior, level.epsilon)) for prior in (0.01, 0.05, 0.5))
            told = " | ".join(f"{chance} in 100" for chance in chances)
            yield f"| {named.get(level.name, level.name)} | {told} | {level.usual:,} |"
    usual = {level.name: level.usual for level in list_levels()}
    yield f"takes {usual['no privacy']} people where two coins take {usual['ln 3']:,}"
    known = [
        f"±{196 * math.sqrt(bit_variance(mechanism_choice.make_flip(Decimal(one)), 0.2) / 100):.1f}" for one in (2, 1)
    ]
    yield f"100 respondents know a yes of 20% to {known[0]} points at ε = 2, and to {known[1]} at ε = 1"
    yield f"Without any privacy it would be {list_levels()[0].usual}."
    yield f"ε = ln {SUSPICION - 1} ≈ {math.log(SUSPICION - 1):.2f}"
    yield f"results begin at {2 * STEP} reports, or at {STEP} when you close"
    yield f"Above {ADVISED_TOTAL} authors are advised against it, above {CONFIRMED_TOTAL} they have to\nconfirm it"


@pytest.mark.parametrize("told", list(for_respondents()))
def test_respondents_are_told_what_the_code_computes(told: str) -> None:
    assert told in RESPONDENTS


@pytest.mark.parametrize("told", list(for_researchers()))
def test_researchers_are_told_what_the_code_computes(told: str) -> None:
    assert told in RESEARCHERS


def test_no_row_of_a_table_of_odds_is_left_unchecked() -> None:
    for page, checked in ((RESPONDENTS, for_respondents()), (RESEARCHERS, for_researchers())):
        rows = set(re.findall(r"^\| (?:[\d.]+|ln|two).*\|$", page, re.MULTILINE))
        assert rows and rows <= set(checked)


def test_the_tutorial_tells_the_odds_of_its_own_survey() -> None:
    before = round(100 / SUSPICION)
    assert f"with a chance of {before} in 100 may, having seen the report, think at most " in TUTORIAL
    assert f"at most {at_most(posterior_bound(1 / SUSPICION, 2))} in 100" in TUTORIAL and "\nepsilon: 2\n" in TUTORIAL


def test_what_the_guide_calls_parts_of_a_page_is_what_they_are_called() -> None:
    strings = "\n".join(file.read_text() for file in ROOT.glob("survey_app/languages/*.toml"))
    named = re.findall(r'"(This device|Do not[^"]*)"|the page \*([^*]+)\*', RESPONDENTS)
    assert len(named) >= 3
    assert all(f'en = "{a or b}"' in strings for a, b in named)
    (heading,) = re.findall(r"The results page has, under \*([^*]+)\*", TUTORIAL)
    assert any(heading in file.read_text() for file in ROOT.glob("templates/results/*.html"))
