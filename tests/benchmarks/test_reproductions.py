"""The page of reproductions: its theory is computed again, its simulations are run again, and it is what was published.

Fresh runs are unseeded. A simulated number may lie seven standard errors from its theory; the rarest events that are
counted are expected six times in a run, so for each number the false-alarm rate is below 1e-7, nearly always far below,
and below 1e-6 for all. On the page itself, which does not change, the limit is four.
"""

import ast
import math
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks.reproductions import examples, linkage, noise, peers
from benchmarks.reproductions.devices import estimate_spread, fixed_spread, flip_of, run, yes_no
from benchmarks.reproductions.figures import Number, Section, format_figure, format_measurement, spread_of, wrap_text
from benchmarks.reproductions.libraries import CONTESTANTS, Contestant, Shares, candor
from benchmarks.reproductions.page import EXPERIMENTS, HEAD, Experiment, make, page
from benchmarks.reproductions.precision import respondents
from benchmarks.reproductions.response import laplace_share, plain_spread

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reproductions.md").read_text()
RUNS = 1_000
LIMIT, PUBLISHED_LIMIT = 7.0, 4.0
MEASURED = re.compile(r"(−?[\d,.]+) ± ([\d,.]+)")


def value(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def published(title: str) -> Iterator[tuple[str, str, str]]:
    """Theory, simulation and error, as printed in the tables of one section."""
    text = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        for left, cell in pairwise(cells):
            found = MEASURED.fullmatch(cell)
            if found and left != "–":
                yield left, found[1], found[2]


@pytest.fixture(scope="module")
def fresh() -> dict[str, Section]:
    """Every section once more, smaller and unseeded."""
    return {one.name: one.make(np.random.default_rng(), RUNS) for one in EXPERIMENTS}


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.name)
def test_a_fresh_run_agrees_with_theory_and_the_page_with_both(
    experiment: Experiment, fresh: dict[str, Section]
) -> None:
    section = fresh[experiment.name]
    for number in section.numbers:
        assert number.distance < LIMIT, number
    printed = list(published(section.title))
    assert [theory for theory, _, _ in printed] == [format_figure(number.theory) for number in section.numbers]
    for theory, simulated, error in printed:
        assert abs(value(simulated) - value(theory)) < PUBLISHED_LIMIT * value(error), (theory, simulated, error)


def test_the_page_shows_every_chart_and_there_is_no_other(fresh: dict[str, Section]) -> None:
    charts = {name for section in fresh.values() for name in section.charts}
    assert charts == {path.name for path in (DOCS / "reproductions").glob("*")}
    assert charts == set(re.findall(r"\(reproductions/([^)]*)\)", PAGE))
    for name in charts:
        ElementTree.parse(DOCS / "reproductions" / name)  # noqa: S314  our own files


def constant(text: str) -> str:
    """A text without its numbers, and without where its lines end."""
    return " ".join(re.sub(r"−?\d+([,.]\d+)*", "#", text).split())


def test_what_the_page_says_is_what_its_sections_say(fresh: dict[str, Section]) -> None:
    """All but the numbers: a fresh run has fewer runs, and other randomness."""
    said = constant(PAGE)
    assert said.startswith(constant(HEAD.format(seed=1, count=1, worst=1)))
    for section in fresh.values():
        assert constant(section.text) in said
    for part in peers.section({}).parts:
        assert part.startswith(("|", "With ")) or constant(part) in said  # what libraries and versions were found


@pytest.mark.parametrize("name", ["reproductions.md", "coverage.md", "variance.md"])
def test_no_placeholder_is_left_in_a_page(name: str) -> None:
    """Nothing between braces that Python would evaluate; {y ≤ 0} is a set of the text."""
    for inside in re.findall(r"\{([^{}]*)\}", (DOCS / name).read_text()):
        with pytest.raises(SyntaxError):
            ast.parse(inside.partition(":")[0].strip(), mode="eval")


def test_the_page_says_how_far_its_numbers_are_off() -> None:
    count, worst = re.findall(r"Of the (\d+) simulated[^.]*? off\s+by\s+([\d.]+)", PAGE)[0]
    titles = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    found = [one for title in titles for one in published(title)]
    assert len(found) == int(count)
    seen = max(abs(value(simulated) - value(theory)) / value(error) for theory, simulated, error in found)
    assert seen == pytest.approx(float(worst), abs=0.2)  # the page is rounded
    assert seen < PUBLISHED_LIMIT


def test_the_same_seed_makes_the_same_text() -> None:
    for place in range(len(EXPERIMENTS)):
        one, other = make(place, 50), make(place, 50)
        assert one.text == other.text
        assert one.charts == other.charts


@pytest.mark.parametrize(
    ("n", "plain", "response", "laplace", "response_fixed", "laplace_fixed"),
    [
        (50, 0.06124, 0.28654, 0.08337, 0.27992, 0.05657), (100, 0.04330, 0.20261, 0.05172, 0.19793, 0.02828),
        (200, 0.03062, 0.14327, 0.03373, 0.13996, 0.01414), (500, 0.01936, 0.09061, 0.02017, 0.08852, 0.00566),
        (1000, 0.01369, 0.06407, 0.01398, 0.06259, 0.00283), (2000, 0.00968, 0.04531, 0.00979, 0.04426, 0.00141),
        (5000, 0.00612, 0.02865, 0.00615, 0.02799, 0.00057),
    ],
)  # fmt: skip
def test_the_theory_of_figure_5_is_the_known_one(
    n: int, plain: float, response: float, laplace: float, response_fixed: float, laplace_fixed: float
) -> None:
    flip = flip_of(yes_no("epsilon: 0.5"))
    found = [
        plain_spread(n),
        estimate_spread(flip, n, 0.25),
        laplace_share(n, True),
        fixed_spread(flip, n),
        laplace_share(n, False),
    ]
    assert [sd for sd, _ in found] == pytest.approx([plain, response, laplace, response_fixed, laplace_fixed], abs=6e-6)
    bound = math.exp(0.25) / math.expm1(0.5) / math.sqrt(n)
    assert fixed_spread(flip, n)[0] == pytest.approx(bound, rel=1e-12)


def test_the_quarter_is_the_known_one(fresh: dict[str, Section]) -> None:
    theory = [number.theory for number in fresh["γ = ¼"].numbers]
    assert theory[:4] == pytest.approx([0.2, 0.09539, 0.01213, 0.0211], abs=5e-5)
    assert theory[4:] == pytest.approx([0.2, 0.08660, 0.00628, 0.0123], abs=5e-5)


def test_the_exercises_have_their_known_answers() -> None:
    assert linkage.reachable_range(Fraction(1, 5), Fraction(5, 4)) == (Fraction(4, 25), Fraction(1, 4))
    assert linkage.reachable_range(Fraction(1, 2), Fraction(5, 4)) == (Fraction(2, 5), Fraction(3, 5))
    known = {(0.05, 0.5): 1568, (0.05, 1): 369, (0.02, 0.5): 9795, (0.02, 1): 2302, (0.01, 0.1): 999_168}
    assert {cell: math.ceil(respondents(*cell)) for cell in known} == known
    assert 20 * (math.log(noise.COUNTIES) + 1) == pytest.approx(181.06, abs=0.01)
    assert 20 * noise.harmonic(noise.COUNTIES) == pytest.approx(20 * (math.log(noise.COUNTIES) + 0.57722), rel=1e-4)
    values = [Fraction(0), Fraction(7)]
    assert examples.sensitivity(examples.mean, values, 5) == Fraction(7, 5)
    assert examples.sensitivity(examples.histogram, [Fraction(0), Fraction(1)], 3, 3) == 6


def test_no_mechanism_goes_beyond_what_exercise_3_4_allows() -> None:
    """On a grid of two-output mechanisms: those within e^ε = 5/4 lie in the interval, those outside it break the bound."""
    for chance in (Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)):
        low, high = linkage.reachable_range(chance, Fraction(5, 4))
        for other in (Fraction(place, 200) for place in range(1, 200)):
            assert (low <= other <= high) == (linkage.largest_odds_ratio(chance, other) <= Fraction(5, 4))


def test_the_two_tables_joined_name_alice() -> None:
    assert linkage.anonymity(linkage.FIGURE_1) == 4
    assert linkage.anonymity(linkage.FIGURE_2) == 6
    assert len(linkage.FIGURE_1) == len(linkage.FIGURE_2) == 12
    assert (
        len(linkage.possible_conditions(linkage.FIGURE_1, "13012", 28))
        > 1
        < len(linkage.possible_conditions(linkage.FIGURE_2, "13012", 28))
    )
    assert linkage.conditions_in_both("13012", 28) == {"AIDS"}
    assert linkage.conditions_in_both("14850", 28) == set()


def test_a_wrong_theory_is_noticed() -> None:
    """Three tenths too much noise, or an estimate that is not debiased, are far beyond the limit."""
    rng = np.random.default_rng()
    flip, survey = flip_of(yes_no("epsilon: 0.5")), yes_no("epsilon: 0.38")
    found = run(survey, 100, RUNS, rng, share=0.25)
    assert spread_of(found.estimates, *estimate_spread(flip_of(survey), 100, 0.25)).distance < LIMIT
    assert spread_of(found.estimates, *estimate_spread(flip, 100, 0.25)).distance > LIMIT
    reported = found.estimates * float(flip.p - flip.q) + float(flip.q)
    assert Number(0.25, float(reported.mean()), float(reported.std()) / math.sqrt(RUNS)).distance > LIMIT


@pytest.mark.parametrize("k", peers.SIZES)
def test_candors_error_is_that_of_the_formula(k: int) -> None:
    """On fewer people; the sum of squares is nearly χ² with (k − 1) · runs degrees of freedom."""
    mechanism, people, runs = CONTESTANTS[0], 4_000, {8: 60, 32: 20, 128: 6}[k]
    answers = peers.answers_of(k)[:: peers.PEOPLE // people]
    truth = np.bincount(answers, minlength=k) / people
    seeds = np.random.default_rng().integers(2**32, size=runs).tolist()
    errors = [float(((candor(answers, k, seed) - truth) ** 2).mean()) for seed in seeds]
    assert mechanism.coins is not None
    expected = peers.theory(*mechanism.coins(k), k) * peers.PEOPLE / people
    number = Number(expected, float(np.mean(errors)), expected * math.sqrt(2 / (runs * (k - 1))))
    assert number.distance < LIMIT
    assert Number(expected * 3, number.simulated, number.error * 3).distance > LIMIT  # 9.6 ± 0.4: it would be seen


def test_the_theory_of_every_contestant_is_on_the_page() -> None:
    lines = {line.split("|")[1].strip(): line for line in PAGE.splitlines() if line.startswith("|")}
    for one in CONTESTANTS:
        cells = [cell.strip() for cell in lines[one.name].strip("|").split("|")][1::3]
        expected = [format_figure(peers.theory(*one.coins(k), k) * 1e6) if one.coins else "–" for k in peers.SIZES]
        assert cells == expected
    assert "not installed" not in PAGE
    assert "not run" not in PAGE


def test_a_library_that_is_missing_or_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "multi_freq_ldpy", None)
    place = next(place for place, one in enumerate(CONTESTANTS) if one.name.startswith("multi-freq-ldpy"))
    assert peers.measure(place, 0)[0].trouble == "not installed"

    def broken(answers: object, k: int, seed: int) -> Shares:
        raise TypeError("no strings, please")

    monkeypatch.setattr(peers, "CONTESTANTS", (Contestant("broken", broken, (1, 1, 0)),))
    cells = {(0, column): peers.measure(0, column) for column in range(3)}
    text = peers.section(cells).text
    assert "| broken | – | fails | – | – | fails | – | – | left out, slow | – |" in text
    assert "broken fails here: TypeError: no strings, please." in text.replace("\n", " ")
    assert "not run" in peers.section({}).text


def test_numbers_are_printed_with_the_digits_they_have() -> None:
    assert [format_figure(x) for x in (0.0453123, 172.604, 0.09999, 0, -2.5, 14_237.4)] == [
        "0.04531",
        "172.6",
        "0.09999",
        "0",
        "−2.500",
        "14,237",
    ]
    assert format_measurement(999.361, 0.7071) == "999.36 ± 0.71"
    assert format_measurement(0.0000301, 0.0000213) == "0.000030 ± 0.000021"
    assert wrap_text("- " + "word " * 40).split("\n")[1].startswith("  word")


def test_the_page_is_put_together_from_its_sections() -> None:
    section = Section("Title")
    section.say("Said.")
    section.table(["a", "theory", "simulated"], [("row", Number(1.0, 1.1, 0.05))])
    text = page([section])
    assert "Of the 1 simulated numbers here that have a theory" in " ".join(text.split())
    assert "off by 2.0 standard errors" in " ".join(text.split())
    assert text.endswith(
        "## Title\n\nSaid.\n\n| a | theory | simulated |\n|---|---|---|\n| row | 1.000 | 1.100 ± 0.050 |\n"
    )
