"""Of those who answered an optional multiple whose options are drawn, the share that chose each.

It is f_j/(1 − f_0), f_0 the share without an answer, which is drawn like an option. Each has a guarded Clopper–Pearson
interval given how many were asked about it; taken at half the error each, they hold together whatever ties the two
counts (Bonferroni), and then the ratio lies between L_j/(1 − L_0) and U_j/(1 − U_0): guaranteed, if a little wide.
"""

import math
from dataclasses import replace

from client.mechanisms import Drawn
from client.question import Question
from survey_app.estimate.intervals import Interval, Limits, Options
from survey_app.estimate.question import Estimate, Evidence, clamp, question_estimates


def drawn_answered(evidence: Evidence, question: Question, options: Options) -> list[Estimate]:
    """The options in order; nothing where nobody may skip."""
    if not question.optional or not isinstance(evidence.field.mechanism, Drawn):
        return []
    each = options.among(len(question.labels))
    half = replace(each, confidence=1 - each.alpha / 2)
    *chosen, none = question_estimates(evidence, question, half)
    without = none.interval
    estimates: list[Estimate] = []
    for one in chosen:
        within = one.interval
        low = within.low / (1 - without.low) if without.low < 1 else 0.0
        high = within.high / (1 - without.high) if without.high < 1 else 1.0
        interval = Interval(min(low, 1.0), min(high, 1.0), within.method)
        ratio = one.unbiased / (1 - none.unbiased) if none.unbiased < 1 else math.nan
        point = clamp(ratio, interval.low, interval.high) if math.isfinite(ratio) else 0.5
        estimates.append(Estimate(one.option, "share", one.n, point, Limits(interval, interval), ratio, None, True))
    return estimates
