"""Small charts as SVG text: dots with intervals, distributions with whiskers.

Pure functions from data to text, the same text for the same data. Inside is nothing that a strict content security
policy would block: no script, no style attribute, only classes. A page has `STYLE` in its stylesheet and inlines the
text as it is; with `standalone=True` the text carries its own style, light and dark, and is a file that works alone.
"""

from survey_app.charts.bars import distribution
from survey_app.charts.paint import STYLE
from survey_app.charts.rows import Row, Words, intervals

__all__ = ["STYLE", "Row", "Words", "distribution", "intervals"]
