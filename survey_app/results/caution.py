"""What to keep in mind about a figure: what the noise cost, what untrue answers and invented reports could do.

docs/methods.md §1, §9 and §13. Everything follows from the published mechanism and the document of the results.
"""

from collections.abc import Sequence
from typing import NamedTuple

from candor_client.definition import Field, Survey
from candor_client.question import Question
from survey_app.channels import channel_of
from survey_app.channels.channel import Assumed
from survey_app.estimate.question_estimates import members
from survey_app.figures import share_of
from survey_app.kinds import kind_of
from survey_app.results.survey_document import Line, Results

UNTRUE = (0.1, 0.3)  # shares of true Yes that might have answered No
INVENTED = 0.01  # a share of reports that might be made up


def design_effect(field: Field, question: Question, option: str, share: float) -> float | None:
    """How many times more reports a share needs than without noise, n·Var/(π(1−π)); None where there is no share.

    n counts only those who were asked about the option.
    """
    kind = kind_of(question)
    if not kind.has_shares(question) or not 0 < share < 1:
        return None
    held = _answer_symbols(field, question)[kind.answers(question).index(option)]
    assumed = Assumed.event(share, len(held) / field.mechanism.size)
    return channel_of(field.mechanism).variance(assumed) / (share * (1 - share))


def _answer_symbols(field: Field, question: Question) -> list[list[int]]:
    """Return for each answer which of what the field's mechanism takes in hold it: symbols, or the answer itself."""
    kind = kind_of(question)
    if channel_of(field.mechanism).reads_answers:
        return [[answer] for answer in range(kind.count(question))]
    found: list[list[int]] = [[] for _ in range(kind.count(question))]
    for symbol, held in enumerate(members(field, question)):
        for answer in kind.holds(question, symbol):
            found[answer] += held
    return found


def worth(field: Field, question: Question, lines: Sequence[Line]) -> tuple[Line, float] | None:
    """The line whose share is nearest to one half, and how many reports without noise would tell as much about it.

    None where no share has a report: of few devices, none may have been asked about an option.
    """
    shares = [line for line in lines if line.kind == "share" and line.n]
    if not shares:
        return None
    line = min(shares, key=lambda share: abs(share.estimate - 0.5))
    effect = design_effect(field, question, line.option, line.estimate)
    return (line, line.n / effect) if effect else None


def largest_shift(survey: Survey, field: Field, question: Question, invented: float = INVENTED) -> float | None:
    """How far a share `invented` of made-up reports can move an estimate: a share, or a mean in its own unit.

    Somebody who makes reports up also chooses what they are asked. A mean among those who answered has no such bound.
    """
    kind, channel = kind_of(question), channel_of(field.mechanism)
    held = _answer_symbols(field, question)
    if kind.has_shares(question):  # those of answers that equally many symbols hold move alike
        different = {len(symbols): answer for answer, symbols in enumerate(held[: len(kind.answers(question))])}
        figures = [share_of("", [answer], len(held)) for answer in different.values()]
    else:
        figures = [kind.mean(question)]
    if any(figure.denominator is not None for figure in figures):
        return None
    portion = min(invented / (float(survey.part(field)) * channel.asked), 1.0)
    return portion * max(channel.largest_shift(figure.lifted(held, field.mechanism.size)) for figure in figures)


class Untrue(NamedTuple):
    """A yes with its interval, and what they become if a share of true Yes said No."""

    question: Question
    line: Line
    corrected: list[tuple[float, float, float]]  # estimate, low, high for each of UNTRUE


def untrue_answers(survey: Survey, document: Results) -> list[Untrue]:
    """For every answer that can be denied, a yes: estimate/(1 − l), and its interval likewise, cut at 1."""
    answers: list[Untrue] = []
    for question, part in zip(survey.questions, document.questions, strict=True):
        kind = kind_of(question)
        denied = kind.denied_answer(question)
        if denied is not None and part.estimates:
            line = next(line for line in part.estimates if line.option == kind.answers(question)[denied])
            answers.append(Untrue(question, line, [_corrected(line, lie) for lie in UNTRUE]))
    return answers


def _corrected(line: Line, lie: float) -> tuple[float, float, float]:
    estimate, low, high = (min(number / (1 - lie), 1.0) for number in (line.estimate, line.low, line.high))
    return estimate, low, high
