"""Limits of a figure: the cost of the noise, and the effect of untrue answers and of fake reports.

See docs/methods.md §1, §9 and §13. Everything follows from the published mechanism and the results document.
"""

from collections.abc import Sequence
from typing import NamedTuple

from candor_client.definition import Field, Survey
from candor_client.question import Question
from survey_app.channels import channel_of
from survey_app.channels.channel import AssumedShares
from survey_app.estimate.question_estimates import field_symbols
from survey_app.figures import make_share
from survey_app.kinds import kind_of
from survey_app.results.survey_document import Line, Results

DENIAL_SHARES = (0.1, 0.3)  # shares of true Yes that might have answered No
FAKE_SHARE = 0.01  # a share of reports that might be fake


def design_effect(field: Field, question: Question, option: str, share: float) -> float | None:
    """Return how many times more reports a share needs than without noise, n·Var/(π(1−π)); None where it has no share.

    n counts only the respondents who were asked about the option.
    """
    kind = kind_of(question)
    if not kind.has_shares(question) or not 0 < share < 1:
        return None
    symbols = _group_symbols_by_answer(field, question)[kind.answers(question).index(option)]
    assumed = AssumedShares.event(share, len(symbols) / field.mechanism.size)
    return channel_of(field.mechanism).variance(assumed) / (share * (1 - share))


def _group_symbols_by_answer(field: Field, question: Question) -> list[list[int]]:
    """Return for each answer the inputs of the field's mechanism that contain it: symbols, or the answer itself."""
    kind = kind_of(question)
    if channel_of(field.mechanism).reads_answers:
        return [[answer] for answer in range(kind.answer_count(question))]
    by_answer: list[list[int]] = [[] for _ in range(kind.answer_count(question))]
    for symbol, containing in enumerate(field_symbols(field, question)):
        for answer in kind.answers_in(question, symbol):
            by_answer[answer] += containing
    return by_answer


def effective_sample_size(field: Field, question: Question, lines: Sequence[Line]) -> tuple[Line, float] | None:
    """Return the line whose share is nearest to one half, with its effective sample size: n / design effect.

    Return None where no share has a report: if devices are few, none may have been asked about an option.
    """
    shares = [line for line in lines if line.kind == "share" and line.n]
    if not shares:
        return None
    line = min(shares, key=lambda share: abs(share.estimate - 0.5))
    effect = design_effect(field, question, line.option, line.estimate)
    return (line, line.n / effect) if effect else None


def largest_shift(survey: Survey, field: Field, question: Question, fake_share: float = FAKE_SHARE) -> float | None:
    """Return how far fake reports, as a share of all, can move an estimate: a share, or a mean in its own unit.

    The author of fake reports also chooses the options that they cover. Return None for a mean among respondents who
    answered: it has no such bound.
    """
    kind, channel = kind_of(question), channel_of(field.mechanism)
    by_answer = _group_symbols_by_answer(field, question)
    if kind.has_shares(question):  # answers that equally many symbols contain move alike
        by_size = {len(symbols): answer for answer, symbols in enumerate(by_answer[: len(kind.answers(question))])}
        figures = [make_share("", [answer], len(by_answer)) for answer in by_size.values()]
    else:
        figures = [kind.mean_figure(question)]
    if any(figure.denominator is not None for figure in figures):
        return None
    portion = min(fake_share / (float(survey.answer_probability(field)) * channel.informative_share), 1.0)
    return portion * max(
        channel.largest_shift(figure.expand_to_symbols(by_answer, field.mechanism.size)) for figure in figures
    )


class DeniedAnswer(NamedTuple):
    """A yes with its interval, and both corrected for shares of respondents whose true Yes became a No."""

    question: Question
    line: Line
    corrected_estimates: list[tuple[float, float, float]]  # estimate, low, high for each of DENIAL_SHARES


def correct_denied_answers(survey: Survey, document: Results) -> list[DeniedAnswer]:
    """Return estimate/(1 − l) for every answer that respondents may deny, with its interval; numbers are cut at 1."""
    answers: list[DeniedAnswer] = []
    for question, part in zip(survey.questions, document.questions, strict=True):
        kind = kind_of(question)
        denied = kind.deniable_answer(question)
        if denied is not None and part.estimates:
            line = next(line for line in part.estimates if line.option == kind.answers(question)[denied])
            answers.append(DeniedAnswer(question, line, [_correct_for_denial(line, share) for share in DENIAL_SHARES]))
    return answers


def _correct_for_denial(line: Line, denial_share: float) -> tuple[float, float, float]:
    estimate, low, high = (min(number / (1 - denial_share), 1.0) for number in (line.estimate, line.low, line.high))
    return estimate, low, high
