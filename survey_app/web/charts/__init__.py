"""Small charts as SVG text: dots with intervals, distributions with whiskers.

These are pure functions: the same data gives the same text. The text contains nothing that a strict content security
policy would block: no script and no style attribute, only classes. A page has `STYLE` in its stylesheet and inlines the
text. With `standalone=True` the text carries its own style, for white paper, and works as a file. Shares are drawn from
0 to 100%, so that two plots can be compared, unless they are `zoomed`.
"""

from survey_app.web.charts.bars import distribution
from survey_app.web.charts.chart_style import STYLE
from survey_app.web.charts.interval_rows import Row, Words, intervals
from survey_app.web.charts.strip import strip, strip_axis

__all__ = ["STYLE", "Row", "Words", "distribution", "intervals", "strip", "strip_axis"]
