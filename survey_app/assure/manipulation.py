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
from client.mechanisms import Drawn, Geometric
from client.words import NO_ANSWER, symbol_label
from survey_app.channel import geometric_chances
from survey_app.estimate.asked import draw_test, draws
from survey_app.estimate.hypotheses import LEAST_EXPECTED, Test, by_chi_square
from survey_app.explain.written import count, p_value
from survey_app.tally import Columns, Counts, Tally, columns

LEVEL = 0.001  # of all range tests of a survey together, and of its tests of draws together: false alarms of one look


@dataclass(frozen=True)
class Seen:
    """How often n devices named something, and how likely they do if nobody and if everybody has it."""

    questions: tuple[str, ...]
    symbol: str
    n: int
    ones: int
    least: float
    most: float


@dataclass(frozen=True)
class Impossible:
    """A count that honest devices hardly send, whatever people answer; `p_value` is that of the kindest answers."""

    seen: Seen
    few: bool
    p_value: float


def out_of_range(survey: Survey, tally: Tally, level: float = LEVEL) -> list[Impossible]:
    """The symbols named too seldom or too often to be honest; with honest devices none, but for a chance of `level`."""
    all_seen = list(_seen(survey, tally))
    found: list[Impossible] = []
    for one in all_seen:
        few = float(bdtr(one.ones, one.n, one.least)) if one.n else 1.0
        many = float(bdtrc(one.ones - 1, one.n, one.most)) if one.ones else 1.0
        if min(few, many) < level / (2 * len(all_seen)):
            found.append(Impossible(one, few < many, min(few, many)))
    return found


def odd_draws(survey: Survey, tally: Tally, level: float = LEVEL) -> list[tuple[tuple[str, ...], Test]]:
    """Fields whose draws were no chance: what was asked of devices, or which options; none but for `level`.

    The first of them, without questions, is about which field was drawn.
    """
    tests: list[tuple[tuple[str, ...], Test | None]] = []
    if survey.ask:
        tests.append(((), draw_test(draws(survey, tally))))
    for at in columns(survey):
        mechanism = at.field.mechanism
        if isinstance(mechanism, Drawn) and mechanism.draw < mechanism.size:
            tests.append((_ids(at), _option_test(mechanism, tally.counts[at.part])))
    real = [(questions, test) for questions, test in tests if test]
    return [(questions, test) for questions, test in real if test.p_value < level / len(real)]


def suspicions(survey: Survey, tally: Tally) -> list[str]:
    """What cannot come of honest devices, a sentence each; nothing where all is well."""
    told: list[str] = []
    for one in out_of_range(survey, tally):
        seen = one.seen
        how, than, whoever = ("seldom", "fewer", "nobody") if one.few else ("often", "more", "everybody")
        told.append(
            f"“{seen.symbol}” ({' + '.join(seen.questions)}) was named too {how} to be honest: {count(seen.ones)} times"
            f" in {count(seen.n)} reports, {than} than chance allows even if {whoever} had it ({p_value(one.p_value)})."
        )
    for questions, test in odd_draws(survey, tally):
        what = f"the options of {' + '.join(questions)} were drawn" if questions else "devices drew their questions"
        told.append(f"Not by chance: how often {what} (χ² = {test.statistic:.1f}, {p_value(test.p_value)}).")
    return told


def _seen(survey: Survey, tally: Tally) -> Iterator[Seen]:
    for at in columns(survey):
        counts, mechanism = tally.counts[at.part], at.field.mechanism
        n = tally.reports if at.asked is None else int(tally.counts[at.asked])
        if isinstance(mechanism, Drawn):
            options = [*at.field.questions[0].labels, NO_ANSWER][: mechanism.size]
            for option, no, yes in zip(options, counts[0::2], counts[1::2], strict=True):
                p, q = float(mechanism.p), float(mechanism.q)
                yield Seen(_ids(at), option, int(no + yes), int(yes), q, p)
            continue
        if isinstance(mechanism, Geometric):
            chances = geometric_chances(mechanism)
            ends = list(zip(chances.min(axis=0), chances.max(axis=0), strict=True))
        else:
            ends = [(float(mechanism.q), float(mechanism.p))] * len(counts)
        first = 1 if len(counts) == 1 else 0  # a flip has one bit: that of its second symbol
        for symbol, (ones, (least, most)) in enumerate(zip(counts, ends, strict=True), first):
            yield Seen(_ids(at), symbol_label(at.field, symbol), n, int(ones), float(least), float(most))


def _option_test(mechanism: Drawn, counts: Counts) -> Test | None:
    """Whether each option was drawn as often as the others: r of m without replacement, n times."""
    asked = counts[0::2] + counts[1::2]
    m, r = mechanism.size, mechanism.draw
    n = int(asked.sum()) // r
    spread = n * (r / m) * (1 - r / m)
    if spread < LEAST_EXPECTED:
        return None
    statistic = float(((asked - n * r / m) ** 2).sum() / spread * (m - 1) / m)
    return by_chi_square("chi-square of the options drawn", statistic, m - 1, n)


def _ids(at: Columns) -> tuple[str, ...]:
    return tuple(question.id for question in at.field.questions)
