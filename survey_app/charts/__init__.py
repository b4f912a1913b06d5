"""Small charts as SVG text: dots with intervals, distributions with whiskers.

Pure functions from data to text, the same text for the same data. Inside is nothing that a strict content security
policy would block: no script, no style attribute, only classes. A page has `STYLE` in its stylesheet and inlines the
text as it is; with `standalone=True` the text carries its own style, for white paper, and is a file that works alone.
Shares are drawn from 0 to 100%, so that two plots can be compared by eye, unless they are `zoomed`.
"""

from survey_app.charts.bars import distribution
from survey_app.charts.paint import STYLE
from survey_app.charts.rows import Row, Words, intervals
from survey_app.charts.strip import strip, strip_axis

__all__ = ["STYLE", "Row", "Words", "distribution", "intervals", "strip", "strip_axis"]
