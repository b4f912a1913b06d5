"""Whether reports can be what honest devices sent: tests of the counts, which know when they raise a false alarm.

Two things hold whatever people answer (docs/methods.md §9). *Range*: a symbol that nobody has is still named with
probability q, one that everybody has is named with p at the most, so its count lies between Bin(n, q) and Bin(n, p).
*Draws*: which field a device is asked, and which options of a drawn one, is chance alone. What a single report may look
like is checked when it comes in. **No test finds fakes that carry honest-looking noise**; only invitations bound how
many there can be, and each estimate says how far they could move it (`results.caution`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from scipy.special import bdtr, bdtrc

from client.definition import Survey
from survey_app.channels import Channel, channel_of
from survey_app.channels.base import SeenBit
from survey_app.estimate.asked import draw_test, draws
from survey_app.estimate.hypotheses import LEAST_EXPECTED, Test, by_chi_square
from survey_app.explain.written import count, p_value
from survey_app.tally import Columns, Counts, Tally, columns

LEVEL = 0.001  # of all range tests of a survey together, and of its tests of draws together: false alarms of one look


@dataclass(frozen=True)
class Impossible:
    """A count that honest devices hardly send, whatever people answer; `p_value` is that of the kindest answers."""

    questions: tuple[str, ...]
    seen: SeenBit
    few: bool
    p_value: float


def out_of_range(survey: Survey, tally: Tally, level: float = LEVEL) -> list[Impossible]:
    """The symbols named too seldom or too often to be honest; with honest devices none, but for a chance of `level`."""
    all_seen = list(_seen(survey, tally))
    found: list[Impossible] = []
    for questions, one in all_seen:
        few = float(bdtr(one.ones, one.n, one.least)) if one.n else 1.0
        many = float(bdtrc(one.ones - 1, one.n, one.most)) if one.ones else 1.0
        if min(few, many) < level / (2 * len(all_seen)):
            found.append(Impossible(questions, one, few < many, min(few, many)))
    return found


def odd_draws(survey: Survey, tally: Tally, level: float = LEVEL) -> list[tuple[tuple[str, ...], Test]]:
    """Fields whose draws were no chance: what was asked of devices, or which options; none but for `level`.

    The first of them, without questions, is about which field was drawn.
    """
    tests: list[tuple[tuple[str, ...], Test | None]] = []
    if survey.ask:
        tests.append(((), draw_test(draws(survey, tally))))
    for at in columns(survey):
        channel = channel_of(at.field.mechanism)
        asked = channel.asked_counts(tally.counts[at.part])
        if asked is not None:
            tests.append((_ids(at), _option_test(channel, asked)))
    real = [(questions, test) for questions, test in tests if test]
    return [(questions, test) for questions, test in real if test.p_value < level / len(real)]


def suspicions(survey: Survey, tally: Tally) -> list[str]:
    """What cannot come of honest devices, a sentence each; nothing where all is well."""
    told: list[str] = []
    for one in out_of_range(survey, tally):
        seen = one.seen
        how, than, whoever = ("seldom", "fewer", "nobody") if one.few else ("often", "more", "everybody")
        told.append(
            f"“{seen.says}” ({' + '.join(one.questions)}) was named too {how} to be honest: {count(seen.ones)} times"
            f" in {count(seen.n)} reports, {than} than chance allows even if {whoever} had it ({p_value(one.p_value)})."
        )
    for questions, test in odd_draws(survey, tally):
        what = f"the options of {' + '.join(questions)} were drawn" if questions else "devices drew their questions"
        told.append(f"Not by chance: how often {what} (χ² = {test.statistic:.1f}, {p_value(test.p_value)}).")
    return told


def _seen(survey: Survey, tally: Tally) -> Iterator[tuple[tuple[str, ...], SeenBit]]:
    for at in columns(survey):
        n = tally.reports if at.asked is None else int(tally.counts[at.asked])
        for seen in channel_of(at.field.mechanism).seen(at.field, tally.counts[at.part], n):
            yield _ids(at), seen


def _option_test(channel: Channel, asked: Counts) -> Test | None:
    """Whether each option was drawn as often as the others: r of m without replacement, n times."""
    m = len(asked)
    r = round(channel.asked * m)
    n = int(asked.sum()) // r
    spread = n * (r / m) * (1 - r / m)
    if spread < LEAST_EXPECTED:
        return None
    statistic = float(((asked - n * r / m) ** 2).sum() / spread * (m - 1) / m)
    return by_chi_square("chi-square of the options drawn", statistic, m - 1, n)


def _ids(at: Columns) -> tuple[str, ...]:
    return tuple(question.id for question in at.field.questions)
