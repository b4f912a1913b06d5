"""Tests of whether honest devices can have sent the reports, with a known rate of false alarms.

Two facts hold for any answers (docs/methods.md §9).
*Range*: a symbol that no respondent has is still named with probability q.
A symbol that every respondent has is named with probability p at most.
So its count lies between Bin(n, q) and Bin(n, p).
*Draws*: chance alone decides which field a device is asked, and which options of a field with drawn options.
The form of a single report is checked when it arrives.
**No test finds fakes that carry honest-looking noise.** Only invitations limit their number.
Each estimate states how far these fakes could move it (`results.caution`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from scipy.special import bdtr, bdtrc

from candor_client.definition import Survey
from survey_app.channels import Channel, channel_of
from survey_app.channels.channel import SeenBit
from survey_app.estimate.block_draws import draw_test, draws
from survey_app.estimate.hypotheses import LEAST_EXPECTED, Test, by_chi_square
from survey_app.languages.numbers import count, p_value
from survey_app.tally import Columns, Counts, Tally, columns

LEVEL = 0.001  # false alarm rate of one look: for all range tests of a survey together, and for all its tests of draws


@dataclass(frozen=True)
class Impossible:
    """A count that honest devices hardly send, for any answers; `p_value` assumes the answers that fit it best."""

    questions: tuple[str, ...]
    seen: SeenBit
    few: bool
    p_value: float


def out_of_range(survey: Survey, tally: Tally, level: float = LEVEL) -> list[Impossible]:
    """Return the counts of symbols that are named too seldom or too often for honest devices.

    With honest devices, the list is empty except with probability `level`.
    """
    all_seen = list(_seen(survey, tally))
    found: list[Impossible] = []
    for questions, one in all_seen:
        few = float(bdtr(one.ones, one.n, one.least)) if one.n else 1.0
        many = float(bdtrc(one.ones - 1, one.n, one.most)) if one.ones else 1.0
        if min(few, many) < level / (2 * len(all_seen)):
            found.append(Impossible(questions, one, few < many, min(few, many)))
    return found


def odd_draws(survey: Survey, tally: Tally, level: float = LEVEL) -> list[tuple[tuple[str, ...], Test]]:
    """Return the tests that refute random draws: of the field that a device is asked, or of the options of a field.

    Each test comes with its question ids; the test of which field was drawn comes first and has none.
    With honest devices, the list is empty except with probability `level`.
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
    """Return a sentence for each finding that honest devices cannot explain; empty if there is none."""
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
    """Test whether each option was drawn as often as the others: r of m without replacement, n times.

    Return None if there are too few draws.
    """
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
