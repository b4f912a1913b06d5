"""Uninformative figures: their interval still covers at least four fifths of the possible range.

Readers would take any number for a finding, so pages, plots and the terminal replace it by `UNINFORMATIVE`, in grey,
and keep the interval. Documents and files keep all numbers, because programs can decide for themselves.
"""

from scipy.special import expit

from survey_app.estimate.group_estimates import Range
from survey_app.figures import FigureKind
from survey_app.results.regression_document import CoefficientLine
from survey_app.results.survey_document import Line

UNINFORMATIVE_PART = 0.8  # from this part of the possible range, an interval is uninformative
UNINFORMATIVE = "uninformative"
SHARE_RANGE: Range = (0.0, 1.0)


def is_uninformative_interval(low: float, high: float, value_range: Range) -> bool:
    """Return whether an interval covers nearly all of the possible range."""
    return high - low >= UNINFORMATIVE_PART * (value_range[1] - value_range[0])


def is_uninformative(line: Line, value_range: Range = SHARE_RANGE, interval: Range | None = None) -> bool:
    """Return whether a line is uninformative by its own interval, or by `interval`, which replaces it.

    `value_range` is the range of the share or the mean; a difference ranges from minus to plus the width of it.
    """
    width = value_range[1] - value_range[0]
    return is_uninformative_interval(
        *(interval or (line.low, line.high)), (-width, width) if line.kind == FigureKind.DIFFERENCE else value_range
    )


def is_uninformative_coefficient(line: CoefficientLine) -> bool:
    """Return whether a log odds ratio is uninformative, judged by where it would move a chance of one half."""
    return is_uninformative_interval(float(expit(line.low)), float(expit(line.high)), SHARE_RANGE)
