"""When a figure says nothing: its interval keeps at least four fifths of what was possible before anybody was asked.

Then any number would be read as a finding that is none, so pages, plots and the terminal say `NOTHING` in its place,
grey, and leave the interval beside it. Documents and files keep all numbers: a program decides for itself.
"""

from scipy.special import expit

from survey_app.estimate.group_estimates import Range
from survey_app.figures import FigureKind
from survey_app.results.regression_document import CoefficientLine
from survey_app.results.survey_document import Line

LEFT_OPEN = 0.8  # the part of the possible range from which on an interval tells nothing
NOTHING = "says nothing yet"
SHARE: Range = (0.0, 1.0)


def leaves_open(low: float, high: float, possible: Range) -> bool:
    """Whether an interval keeps (nearly) all that is possible."""
    return high - low >= LEFT_OPEN * (possible[1] - possible[0])


def says_nothing(line: Line, within: Range = SHARE, ends: Range | None = None) -> bool:
    """Whether a line says nothing by its interval, or by the one of its intervals that is shown.

    `within` is from what to what the share or the mean can be; a difference of two can be as much to either side.
    """
    most = within[1] - within[0]
    return leaves_open(
        *(ends or (line.low, line.high)), (-most, most) if line.kind == FigureKind.DIFFERENCE else within
    )


def tells_nothing(line: CoefficientLine) -> bool:
    """The same of log odds: they can be anything, so what counts is where they would move a chance of one half to."""
    return leaves_open(float(expit(line.low)), float(expit(line.high)), SHARE)
