"""The style of charts: every colour and stroke, defined once, for light and dark.

The colours are from Okabe and Ito (2008), adjusted until each has a contrast of 3 to 1 with the paper. Colour alone
never carries information: series also differ in dashes and marks, a raw share in its shape. A standalone file is for
paper: dark ink and no background, regardless of the reader's colour scheme.
"""

from itertools import pairwise

LIGHT = {
    "ink": "#1d2327",
    "faint": "#5c666d",
    "paper": "#fdfcf9",
    "grid": "#dcdad3",
    "accent": "#0b5d7a",
    "bar": "#a9cbdf",
}
DARK = {
    "ink": "#e6e9ec",
    "faint": "#a3adb5",
    "paper": "#16191c",
    "grid": "#343a40",
    "accent": "#7cc7e6",
    "bar": "#2c5a75",
}
SERIES_LIGHT = ("#0b5d7a", "#c04f00", "#007a59", "#a03f78", "#1d2327", "#7a6200")
SERIES_DARK = ("#7cc7e6", "#f0954a", "#3fcf9f", "#e59ac4", "#e6e9ec", "#e3d04f")

SHAPE_RULES = """\
.chart text{font:14px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.chart .heading{font-size:15px;font-weight:600}
.chart .tick,.chart .note,.chart .key,.chart .range{font-size:13px}
.chart .estimate{font-weight:600}
.chart .value{font-variant-numeric:tabular-nums}
.chart .grid,.chart .axis,.chart .track{stroke-width:1}
.chart .interval{stroke-width:4;stroke-linecap:round}
.chart .whisker{stroke-width:1.75;fill:none}
.chart .interval.open{stroke-width:2}
.chart .estimate.open{font-size:13px;font-weight:400}
.chart .point,.chart .own{stroke-width:1.5}
.chart .reported{stroke-width:1.5;fill:none}
.chart .curve{fill:none;stroke-width:2;stroke-linejoin:round}
.chart .mark{stroke-width:1}
.chart .s1 .curve{stroke-dasharray:7 3}
.chart .s2 .curve{stroke-dasharray:2 3}
.chart .s3 .curve{stroke-dasharray:9 3 2 3}
.chart .s4 .curve{stroke-dasharray:12 4}
.chart .s5 .curve{stroke-dasharray:4 2}
"""

INK_RULES = """\
.chart text{{fill:{ink}}}
.chart .tick,.chart .note,.chart .range,.chart .name{{fill:{faint}}}
.chart .grid,.chart .track{{stroke:{grid}}}
.chart .axis{{stroke:{faint}}}
.chart .interval{{stroke:{accent}}}
.chart .whisker{{stroke:{ink}}}
.chart .interval.open,.chart .whisker.open{{stroke:{faint}}}
.chart .estimate.open{{fill:{faint}}}
.chart .point{{fill:{accent};stroke:{paper}}}
.chart .own{{fill:{paper};stroke:{accent}}}
.chart .reported{{stroke:{faint}}}
.chart .bar{{fill:{bar}}}
"""


def _ink_rules(colours: dict[str, str], series: tuple[str, ...]) -> str:
    rules = [INK_RULES.format(**colours)]
    for place, colour in enumerate(series):
        rules.append(
            f".chart .s{place} .curve{{stroke:{colour}}}\n"
            f".chart .s{place} .mark{{fill:{colour};stroke:{colours['paper']}}}\n"
        )
    return "".join(rules)


PAPER = SHAPE_RULES + _ink_rules(LIGHT | {"paper": "#ffffff"}, SERIES_LIGHT)

# On a page a chart fills a phone and stops growing before its text looks like a heading.
STYLE = (
    ".chart{display:block;width:100%;max-width:26rem;height:auto}\n"
    + SHAPE_RULES
    + _ink_rules(LIGHT, SERIES_LIGHT)
    + "@media (prefers-color-scheme:dark){\n"
    + _ink_rules(DARK, SERIES_DARK)
    + "}\n"
)


def contrast(first: str, second: str) -> float:
    """Return the WCAG 2 contrast ratio between two colours written #rrggbb."""
    lightness = sorted((_luminance(first), _luminance(second)))
    return (lightness[1] + 0.05) / (lightness[0] + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[start:stop], 16) / 255 for start, stop in pairwise((1, 3, 5, 7))]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
