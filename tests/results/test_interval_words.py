"""How intervals were made, in words: the paragraph names the methods of the document's lines, all of them and no other.

Nothing works a method out a second time: it is said where an interval is made, and every line carries it.
"""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from candor_client import Survey
from survey_app.assure.simulation.trial import simulate_tally
from survey_app.estimate.intervals import APPROXIMATE, GUARANTEED, PROVED, Interval, Method, Options
from survey_app.plan.simulated_people import draw_people
from survey_app.results.crosstab_document import Crosstab, make_crosstab
from survey_app.results.group_document import compare_groups
from survey_app.results.methods import SurveyStatus, describe_interval_methods, list_interval_methods, methods_paragraph
from survey_app.results.regression_document import regress_on_groups
from survey_app.results.survey_document import Results, results, table_rows
from survey_app.tally import Tally
from tests.definitions import (
    COIN,
    define,
    field,
    survey,
    yes_no,
)  # fmt: skip
from tests.golden_files import Golden
from tests.results.figure_kinds import FIELDS, make_survey

CHOICES = [
    Options(), Options(narrow=True), Options(population=9000), Options(0.9, simultaneous=True),
    Options(narrow=True, population=9000),
]  # fmt: skip


def named_in(text: str, options: Options) -> set[Method]:
    """The methods that a paragraph names."""
    return {method for method, words in describe_interval_methods(options).items() if words in text}


def tallied(made: Survey, reports: int, rng: np.random.Generator) -> Tally:
    """What so many made-up people report."""
    return simulate_tally(made, draw_people(made, {}, reports, rng), reports, rng)


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(
    names=st.lists(st.sampled_from(list(FIELDS)), min_size=1, max_size=4),
    ask=st.booleans(),
    options=st.sampled_from(CHOICES),
    reports=st.sampled_from([1, 2, 5, 40, 300]),
    seed=st.integers(0, 2**32),
)
def test_the_paragraph_names_the_methods_of_the_document_and_no_other(
    names: list[str], ask: bool, options: Options, reports: int, seed: int
) -> None:
    made = make_survey(names, ask=ask)
    document = results(made, tallied(made, reports, np.random.default_rng(seed)), options)
    said = methods_paragraph(made, document, SurveyStatus(options, shows_sample_intervals=False, is_final=True))
    assert named_in(said, options) == {line.method for _, _, line in table_rows(document.parts)}


def test_without_an_estimate_the_paragraph_names_no_interval(golden: Golden) -> None:
    made = make_survey(["coin"])
    document = results(made, Tally(1, np.array([1])))
    said = methods_paragraph(made, document, SurveyStatus(Options(), shows_sample_intervals=False, is_final=True))
    assert list_interval_methods(document) == named_in(said, Options()) == set()
    golden(said)


@pytest.mark.parametrize("options", CHOICES)
def test_every_method_has_words_of_its_own(options: Options) -> None:
    words = describe_interval_methods(options)
    assert set(words) == set(Method)
    for method, text in words.items():
        assert [other for other, longer in words.items() if text in longer] == [method]


def test_the_words_promise_what_the_labels_promise() -> None:
    for method, text in describe_interval_methods(Options(population=9000)).items():
        label = Interval(0, 1, method).coverage
        assert label == (GUARANTEED if method in PROVED else APPROXIMATE)
        assert (f"({APPROXIMATE}" in text) == (label == APPROXIMATE)


def test_every_method_comes_of_something_that_can_be_asked_for() -> None:
    """Words for what never occurs would be as idle as a method without words."""
    rng, made = np.random.default_rng(), make_survey(list(FIELDS))
    seen: set[Method] = set()
    for options in CHOICES:
        seen |= list_interval_methods(results(made, tallied(made, 900, rng), options))
    simple = make_survey(["one of three"])
    whole = results(simple, Tally(90, np.array([40, 30, 20])), totals={"q0a": [simple.questions[0].labels]})
    seen |= list_interval_methods(whole)
    assert whole.questions[0].totals[0].method == Method.CERTAIN
    pair = make_survey(["coin", "one of three"])
    rows = rng.choice(np.array([0b00000000, 0b01000000, 0b10100000, 0b11000000], dtype=np.uint8), (200, 1))
    crossed = make_crosstab(pair, Tally(200, np.zeros(4, dtype=np.int64)), [rows], "q0a", "q1a", Options())
    assert isinstance(crossed, Crosstab)
    assert {name: {line.method for line in lines} for name, lines in crossed.lists.items()} == {
        "estimates": {Method.SCORE},
        "within_rows": {Method.SCORE},
        "differences": {Method.MOVER},
    }
    groups = [(survey(define([yes_no()], [field(COIN, "cheated")], slug=slug)), Tally(200, np.array([ones])))
              for slug, ones in (("a", 80), ("b", 110))]  # fmt: skip
    study = compare_groups(groups, Options(), {"a": 1, "b": 1})
    assert study.total
    together = {
        line.method for part in (*study.total.questions, *study.differences[0].questions) for line in part.estimates
    }
    fit = regress_on_groups(groups, "cheated", "yes", {"a": {"year": 1}, "b": {"year": 2}}, Options())
    assert together == {Method.SCORE, Method.MOVER}
    assert {one.method for one in fit.coefficients} == {Method.WALD}
    assert seen | {Method.SCORE, Method.MOVER, Method.WALD} == set(Method)


def test_what_a_population_cannot_change_is_named_beside_what_it_does() -> None:
    """The mean of two levels is rounded by a coin, so a finite population does not narrow it."""
    made, options = make_survey(["two levels", "coin"]), Options(population=9000)
    document = results(made, Tally(100, np.array([40, 60, 45])), options)
    assert [[line.method for line in part.estimates] for part in document.questions] == [
        [Method.CLOPPER_PEARSON],
        [Method.FINITE_POPULATION, Method.FINITE_POPULATION],
    ]


def sample_lines(document: Results) -> list[tuple[float | None, str | None]]:
    return [(line.sample_low, line.sample_coverage) for _, _, line in table_rows(document.parts)]


def test_an_interval_for_the_respondents_has_a_coverage_of_its_own() -> None:
    made = make_survey(["coin", "points"])
    found = sample_lines(results(made, Tally(100, np.array([40, 50, 30, 20]))))
    assert {coverage for low, coverage in found if low is not None} == {APPROXIMATE}
    assert {coverage for low, coverage in found if low is None} == {None}  # of the mean there is none
    assert not any(math.isnan(low) for low, _ in found if low is not None)
