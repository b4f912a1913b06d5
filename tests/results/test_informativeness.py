"""Figures that say nothing are not shown as findings: one rule, for shares, means and differences, wherever they stand."""

import numpy as np
import pytest

from survey_app.estimate.intervals import APPROXIMATE, Method, Options
from survey_app.figures import FigureKind
from survey_app.results.crosstab_document import Crosstab, make_crosstab
from survey_app.results.group_document import compare_groups
from survey_app.results.informativeness import UNINFORMATIVE, UNINFORMATIVE_PART, is_uninformative
from survey_app.results.results_text import format_crosstab, format_results, format_study
from survey_app.results.survey_document import Line, Results, results
from survey_app.tally import Tally
from survey_app.web.charts import distribution, intervals
from survey_app.web.results.plots import View, build_figures, chart_rows
from tests.definitions import COIN, define, field, number, subset, survey, yes_no
from tests.golden_files import Golden

WIDE, NARROW = Tally(8, np.array([4, 4])), Tally(4000, np.array([1200, 1300]))
PAIR = define([yes_no("cheated"), yes_no("seen")], [field(COIN, "cheated"), field(COIN, "seen")])


def line(low: float, high: float, kind: FigureKind = FigureKind.SHARE) -> Line:
    return Line(
        option="yes", kind=kind, n=40, estimate=(low + high) / 2, low=low, high=high, unbiased=None, reported=None,
        coverage=APPROXIMATE, sample_low=0.4, sample_high=0.5, sample_coverage=APPROXIMATE, method=Method.SCORE,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "kind", "within", "silent"),
    [
        (0.0, 1.0, FigureKind.SHARE, (0.0, 1.0), True),
        (0.1, 0.1 + UNINFORMATIVE_PART, FigureKind.SHARE, (0.0, 1.0), True),
        (0.1, 0.89, FigureKind.SHARE, (0.0, 1.0), False),
        (1.0, 1.0, FigureKind.SHARE, (0.0, 1.0), False),
        (-1.0, 1.0, FigureKind.DIFFERENCE, (0.0, 1.0), True),
        (-0.7, 0.85, FigureKind.DIFFERENCE, (0.0, 1.0), False),  # 1.55 of 2
        (2.0, 34.0, FigureKind.MEAN, (0.0, 40.0), True),
        (2.0, 33.0, FigureKind.MEAN, (0.0, 40.0), False),
        (-30.0, 35.0, FigureKind.DIFFERENCE, (0.0, 40.0), True),  # of two means
        (-30.0, 30.0, FigureKind.DIFFERENCE, (0.0, 40.0), False),
    ],
)
def test_an_interval_that_keeps_four_fifths_of_what_is_possible_says_nothing(
    low: float, high: float, kind: FigureKind, within: tuple[float, float], silent: bool
) -> None:
    assert is_uninformative(line(low, high, kind), within) is silent


def test_the_interval_that_is_shown_decides() -> None:
    wide = line(0.0, 1.0)
    assert View(Options()).replacement(wide) == UNINFORMATIVE
    assert View(Options(), sample=True).replacement(wide) == ""  # these respondents are known better


def test_a_plot_draws_no_point_for_what_says_nothing() -> None:
    wide, narrow = line(0.0, 0.9), line(0.2, 0.4)
    for draw, mark in ((intervals, "circle"), (distribution, "rect")):
        svg = draw(chart_rows([wide, narrow], View(Options()), ["wide", "narrow"]), title="Both")
        assert svg.count(f"<{mark} ") - svg.count('class="paper"') * (mark == "rect") == 1
        assert f"wide: {UNINFORMATIVE}, 0% to 90%" in svg and "narrow: 30%, 20% to 40%" in svg
        assert svg.count(" open") >= 1 and "45" not in svg.partition("<desc")[2].partition("</desc>")[0]


def test_the_terminal_says_so_of_shares_means_groups_and_cells() -> None:
    made = survey(PAIR)
    told = format_results(made, results(made, WIDE))
    assert told.count(UNINFORMATIVE) == sum(
        one.high - one.low >= UNINFORMATIVE_PART for one in _lines(results(made, WIDE))
    )
    assert UNINFORMATIVE in told and UNINFORMATIVE not in format_results(made, results(made, NARROW))
    mean = survey(define([number("hours", levels=3, max=6)], [field(subset(3, 1), "hours")]))
    assert UNINFORMATIVE in format_results(mean, results(mean, Tally(4, np.array([2, 1, 1]))))
    members = [(survey(PAIR | {"slug": slug}), tally) for slug, tally in (("thin", WIDE), ("thick", NARROW))]
    beside = [
        row
        for row in format_study(members[0][0], compare_groups(members, Options())).splitlines()
        if UNINFORMATIVE in row
    ]
    assert beside and all("thin" in row for row in beside)
    rng = np.random.default_rng()
    bits = np.packbits(rng.integers(0, 2, (40, 2), dtype=np.uint8), axis=1)
    crossed = make_crosstab(
        made, Tally(40, np.unpackbits(bits, axis=1)[:, :2].sum(axis=0)), [bits], "cheated", "seen", Options()
    )
    assert isinstance(crossed, Crosstab)
    silent = sum(is_uninformative(one) for lines in crossed.lists.values() for one in lines)
    assert format_crosstab(made, crossed).count(UNINFORMATIVE) == silent > 0


def test_on_a_page_a_mean_is_measured_by_its_own_range() -> None:
    made = survey(define([number("hours", levels=3, max=6)], [field(subset(3, 1), "hours")]))
    for tally, said in (
        (Tally(4, np.array([2, 1, 1])), UNINFORMATIVE),
        (Tally(4000, np.array([2000, 1000, 1000])), ""),
    ):
        (figure,) = build_figures(made, results(made, tally), View(Options()))
        assert [figure.replacement(one) for one in figure.means] == [said]
        assert (UNINFORMATIVE in figure.plots[0].svg) == bool(said)


def test_a_mean_off_the_middle_of_its_interval_says_why(golden: Golden) -> None:
    """Fewer reports of the highest level than noise alone would give: its share is below 0, and shown as 0."""
    made = survey(define([number("hours", levels=3, max=6)], [field(subset(3, 1), "hours")]))
    for counts, is_off in (([110, 80, 10], True), ([100, 50, 50], False)):
        document = results(made, Tally(200, np.array(counts)))
        (figure,) = build_figures(made, document, View(Options()))
        assert bool(figure.off_center_reason) == is_off
        (mean,) = (line for line in document.questions[0].estimates if line.kind == FigureKind.MEAN)
        if is_off:
            assert mean.unbiased is not None and f" {mean.unbiased:.1f}" in figure.off_center_reason
            golden(figure.off_center_reason)


def _lines(document: Results) -> list[Line]:
    return [one for part in document.parts for lines in part.lists.values() for one in lines]
