"""Uninformative figures: their interval still covers at least four fifths of the possible range.

Readers would take any number for a finding, so pages, plots and the terminal replace it by `UNINFORMATIVE`, in grey,
and keep the interval. Documents and files keep all numbers, because programs can decide for themselves.
"""

from scipy.special import expit

from survey_app.estimate.group_estimates import Range
from survey_app.figures import FigureKind
from survey_app.results.regression_document import CoefficientLine
from survey_app.results.survey_document import Line

LEFT_OPEN = 0.8  # the part of the possible range from which on an interval is uninformative
NOTHING = "says nothing yet"
SHARE: Range = (0.0, 1.0)


def leaves_open(low: float, high: float, possible: Range) -> bool:
    """Return whether an interval covers nearly all of the possible range."""
    return high - low >= LEFT_OPEN * (possible[1] - possible[0])


def says_nothing(line: Line, within: Range = SHARE, ends: Range | None = None) -> bool:
    """Return whether a line is uninformative by its own interval, or by `interval`, which replaces it.

    `value_range` is the range of the share or the mean; a difference ranges from minus to plus the width of it.
    """
    width = within[1] - within[0]
    return leaves_open(
        *(ends or (line.low, line.high)), (-width, width) if line.kind == FigureKind.DIFFERENCE else within
    )


def tells_nothing(line: CoefficientLine) -> bool:
    """Return whether a log odds ratio is uninformative, judged by where it would move a chance of one half."""
    return leaves_open(float(expit(line.low)), float(expit(line.high)), SHARE)
