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
from survey_app.channels.channel import ItemCount
from survey_app.estimate.block_draws import count_draws, run_draw_test
from survey_app.estimate.hypotheses import LEAST_EXPECTED, Test, chi_square_test
from survey_app.languages.numbers import format_count, format_p_value
from survey_app.tally import Columns, Counts, Tally, columns

LEVEL = 0.001  # false alarm rate of one look: for all range tests of a survey together, and for all its tests of draws


@dataclass(frozen=True)
class ImpossibleCount:
    """A count that honest devices are very unlikely to send; `p_value` assumes the answers that fit it best."""

    questions: tuple[str, ...]
    bit: ItemCount
    is_too_low: bool
    p_value: float


def find_impossible_counts(survey: Survey, tally: Tally, level: float = LEVEL) -> list[ImpossibleCount]:
    """Return the counts of symbols that are named too seldom or too often for honest devices.

    With honest devices, the list is empty except with probability `level`.
    """
    bits = list(_bit_counts(survey, tally))
    findings: list[ImpossibleCount] = []
    for questions, bit in bits:
        few = float(bdtr(bit.ones, bit.n, bit.least)) if bit.n else 1.0
        many = float(bdtrc(bit.ones - 1, bit.n, bit.most)) if bit.ones else 1.0
        if min(few, many) < level / (2 * len(bits)):
            findings.append(ImpossibleCount(questions, bit, few < many, min(few, many)))
    return findings


def find_odd_draws(survey: Survey, tally: Tally, level: float = LEVEL) -> list[tuple[tuple[str, ...], Test]]:
    """Return the tests that refute random draws: of the field that a device is asked, or of the options of a field.

    Each test comes with its question ids; the test of which field was drawn comes first and has none.
    With honest devices, the list is empty except with probability `level`.
    """
    tests: list[tuple[tuple[str, ...], Test | None]] = []
    if survey.ask:
        tests.append(((), run_draw_test(count_draws(survey, tally))))
    for at in columns(survey):
        channel = channel_of(at.field.mechanism)
        ask_counts = channel.asked_counts(tally.counts[at.bit_slice])
        if ask_counts is not None:
            tests.append((_ids(at), _option_test(channel, ask_counts)))
    valid_tests = [(questions, test) for questions, test in tests if test]
    return [(questions, test) for questions, test in valid_tests if test.p_value < level / len(valid_tests)]


def describe_manipulation(survey: Survey, tally: Tally) -> list[str]:
    """Return a sentence for each case that honest devices cannot explain; empty if there is none."""
    sentences: list[str] = []
    for case in find_impossible_counts(survey, tally):
        bit = case.bit
        rate, amount, group = ("rarely", "fewer", "nobody") if case.is_too_low else ("often", "more", "everybody")
        sentences.append(
            f"“{bit.label}” ({' + '.join(case.questions)}) was named too {rate} for honest devices: "
            f"{format_count(bit.ones)} times"
            f" in {format_count(bit.n)} reports, {amount} than chance allows even if {group} had given this answer "
            f"({format_p_value(case.p_value)})."
        )
    for questions, test in find_odd_draws(survey, tally):
        event = f"the options of {' + '.join(questions)} were drawn" if questions else "devices drew their questions"
        sentences.append(
            f"Chance does not explain how often {event} (χ² = {test.statistic:.1f}, {format_p_value(test.p_value)})."
        )
    return sentences


def _bit_counts(survey: Survey, tally: Tally) -> Iterator[tuple[tuple[str, ...], ItemCount]]:
    for at in columns(survey):
        n = tally.reports if at.asked_column is None else int(tally.counts[at.asked_column])
        for bit in channel_of(at.field.mechanism).count_items(at.field, tally.counts[at.bit_slice], n):
            yield _ids(at), bit


def _option_test(channel: Channel, asked: Counts) -> Test | None:
    """Test whether each option was drawn as often as the others: r of m without replacement, n times.

    Return None if there are too few draws.
    """
    m = len(asked)
    r = round(channel.informative_share * m)
    n = int(asked.sum()) // r
    spread = n * (r / m) * (1 - r / m)
    if spread < LEAST_EXPECTED:
        return None
    statistic = float(((asked - n * r / m) ** 2).sum() / spread * (m - 1) / m)
    return chi_square_test("chi-square of the options drawn", statistic, m - 1, n)


def _ids(at: Columns) -> tuple[str, ...]:
    return tuple(question.id for question in at.field.questions)
