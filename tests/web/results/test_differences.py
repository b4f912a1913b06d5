"""The difference of two displayed shares is the displayed difference, to its last digit.

It holds whatever the reports say, so the surveys and their reports are made up anew each time.
"""

from decimal import Decimal

import numpy as np
import pytest

from candor_client import Survey
from survey_app.estimate.intervals import Options
from survey_app.results.crosstab_document import Crosstab, make_crosstab
from survey_app.results.group_document import compare_groups
from survey_app.results.results_text import format_crosstab, format_study
from survey_app.tally import Bits
from survey_app.web.results.crosstab_view import CrosstabView
from survey_app.web.results.group_comparison import build_comparisons
from survey_app.web.results.plots import View
from tests.results.figure_kinds import FIELDS, make_survey
from tests.results.test_coherence import answered_by, tallied

TIMES = 40
ALL = [name for name in FIELDS if "hidden" not in name]
NAMES = [name for name in ALL if "level" not in name and "noise" not in name]
VIEW = View(Options())


def number(text: str) -> Decimal:
    """What a reader reads; the unit does not matter to a difference."""
    return Decimal(text.rstrip("% h").replace("−", "-").replace(",", ""))


def agrees(gap: str, one: str, other: str) -> bool:
    """Whether a difference that is shown is that of two shown figures, but for one unit of their last digit."""
    unit = Decimal(1).scaleb(-len(one.rstrip("% h").partition(".")[2]))
    assert number(gap).as_tuple().exponent == number(one).as_tuple().exponent
    return abs(number(one) - number(other) - number(gap)) <= unit


def random_survey(rng: np.random.Generator, *, names: list[str] = NAMES) -> tuple[Survey, Bits]:
    made = make_survey(rng.choice(names, 2).tolist())
    return made, answered_by(made, int(rng.integers(20, 1500)), rng)


def test_a_reader_who_subtracts_would_notice() -> None:
    """What was seen: other 100.0%, woman 84.4%, and “other minus woman: 75”."""
    assert agrees("15.6", "100.0%", "84.4%") and agrees("15.5", "100.0%", "84.4%")
    assert not agrees("75.0", "100.0%", "84.4%")
    with pytest.raises(AssertionError):
        agrees("16", "100.0%", "84.4%")


def test_shown_differences_of_rows_are_those_of_the_shown_shares() -> None:
    rng, compared = np.random.default_rng(), 0
    for _ in range(TIMES):
        made, rows = random_survey(rng)
        pair = made.questions[0].id, made.questions[-1].id
        document = make_crosstab(made, tallied(made, rows), [rows], *pair, Options())
        assert isinstance(document, Crosstab)
        tables = {table.key: table for table in CrosstabView.of(made, document, VIEW).tables}
        within = [
            [line and tables["within_rows"].form(line.estimate) for line in lines]
            for _, lines in tables["within_rows"].rows
        ]
        if "differences" not in tables:
            continue
        places = {name: place for place, (name, _) in enumerate(tables["within_rows"].rows)}
        text, least = format_crosstab(made, document), places[document.row_options[0]]
        for name, lines in tables["differences"].rows:
            for column, line in enumerate(lines):
                mine, first = within[places[name]][column], within[least][column]
                if line and mine and first:
                    gap = tables["differences"].form(line.estimate)
                    assert agrees(gap, mine, first)
                    assert line.low <= line.estimate <= line.high
                    assert VIEW.replacement(line) or gap in text  # the terminal writes the same
                    compared += 1
    assert compared > TIMES


def test_shown_differences_of_groups_are_those_of_the_shown_figures() -> None:
    rng, compared = np.random.default_rng(), 0
    for _ in range(TIMES):
        made, rows = random_survey(rng, names=ALL)
        cut = len(rows) // 3
        members = [(made, tallied(made, part)) for part in (rows[:cut], rows[cut:])]
        document = compare_groups(members, Options())
        text = format_study(made, document)
        for part in build_comparisons(made, document, VIEW):
            for answer in part.answers:
                form, gap_form = part.forms(answer.kind)
                (_, first, _), (_, other, gap) = answer.groups
                if first and other and gap:
                    assert agrees(gap_form(gap.estimate), form(other.estimate), form(first.estimate))
                    assert gap.low <= gap.estimate <= gap.high
                    compared += 1
        assert text
    assert compared > TIMES
