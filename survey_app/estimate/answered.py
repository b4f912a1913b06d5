"""Of those who answered an optional multiple whose options are drawn, the share that chose each.

It is f_j/(1 − f_0), f_0 the share without an answer, which is drawn like an option. Each has a guarded Clopper–Pearson
interval given how many were asked about it; taken at half the error each, they hold together whatever ties the two
counts (Bonferroni), and then the ratio lies between L_j/(1 − L_0) and U_j/(1 − U_0): guaranteed, if a little wide.
"""

import math
from dataclasses import replace

from client.mechanism import Drawn
from client.question import Question
from survey_app.estimate.intervals import Interval, Limits, Options, binomial
from survey_app.estimate.question import Estimate, Evidence, clamp


def drawn_answered(evidence: Evidence, question: Question, options: Options) -> list[Estimate]:
    """The options in order; nothing where nobody may skip."""
    mechanism = evidence.field.mechanism
    if not question.optional or not isinstance(mechanism, Drawn):
        return []
    each = options.among(len(question.labels))
    half = replace(each, confidence=1 - each.alpha / 2)

    def share(place: int) -> tuple[int, float, Interval]:
        """How many were asked, the unbiased share, and its interval at half the error."""
        ones = int(evidence.counts[2 * place + 1])
        n = int(evidence.counts[2 * place]) + ones
        p, q = float(mechanism.p), float(mechanism.q)
        value = (ones / n - q) / (p - q) if n else math.nan
        return n, value, binomial(ones, n, mechanism.p, mechanism.q, half, sample=False).interval

    _, none, without = share(len(question.labels))
    estimates: list[Estimate] = []
    for place, label in enumerate(question.labels):
        n, value, within = share(place)
        low = within.low / (1 - without.low) if without.low < 1 else 0.0
        high = within.high / (1 - without.high) if without.high < 1 else 1.0
        interval = Interval(min(low, 1.0), min(high, 1.0), within.method)
        ratio = value / (1 - none) if none < 1 else math.nan
        point = clamp(ratio, interval.low, interval.high) if math.isfinite(ratio) else 0.5
        estimates.append(Estimate(label, "share", n, point, Limits(interval, interval), ratio, None, True))
    return estimates
