"""What to keep in mind about a figure: what the noise cost, what untrue answers and invented reports could do.

docs/methods.md §1, §9 and §13. Everything follows from the published mechanism and the document of the results.
"""

from collections.abc import Sequence
from typing import NamedTuple

from client.definition import Field, Question, Survey
from client.mechanism import Flip, Geometric, Sampled, Subset, Unary
from client.words import level_value
from survey_app.channel import bit_variance, share_variance, union_variance
from survey_app.estimate.question import members
from survey_app.results.document import Line, Results

UNTRUE = (0.1, 0.3)  # shares of true Yes that might have answered No
INVENTED = 0.01  # a share of reports that might be made up


def symbols_of(field: Field, question: Question) -> int:
    """How many symbols of a field one answer to a question stands for."""
    alone = field.size // question.size
    return alone * (question.no_answer // 2 if question.type == "multiple" else 1)


def design_effect(field: Field, question: Question, share: float) -> float | None:
    """How many times more reports a share needs than without noise, n·Var/(π(1−π)); None where there is no share."""
    mechanism = field.mechanism
    if isinstance(mechanism, Geometric) or question.levels or not 0 < share < 1:
        return None
    if isinstance(mechanism, Sampled):  # n counts only those who were asked about the option
        variance = share_variance(float(mechanism.p), float(mechanism.q), share)
    elif isinstance(mechanism, Flip) or symbols_of(field, question) == 1:
        variance = bit_variance(mechanism, share)
    elif isinstance(mechanism, Subset):
        variance = union_variance(mechanism, symbols_of(field, question), share)
    else:
        return None
    return variance / (share * (1 - share))


def worth(field: Field, question: Question, lines: Sequence[Line]) -> tuple[Line, float] | None:
    """The line whose share is nearest to one half, and how many reports without noise would tell as much about it."""
    shares = [line for line in lines if line.kind == "share"]
    if not shares:
        return None
    line = min(shares, key=lambda share: abs(share.estimate - 0.5))
    effect = design_effect(field, question, line.estimate)
    return (line, line.n / effect) if effect else None


def largest_shift(survey: Survey, field: Field, question: Question, invented: float = INVENTED) -> float | None:
    """How far a share `invented` of made-up reports can move an estimate: a share, or a mean in its own unit.

    An honest report moves Σ a_i f_i by a score between the smallest and the largest a; a made-up one by
    (S − q Σa)/(p − q), S the sum of the scores it names. Whoever makes reports up also chooses what they are asked. A
    mean among those who answered has no such bound.
    """
    mechanism = field.mechanism
    among = len(survey.fields) / survey.ask if survey.ask else 1.0
    if isinstance(mechanism, Sampled):
        among *= mechanism.size / mechanism.draw
    portion = min(invented * among, 1.0)
    if isinstance(mechanism, Geometric):
        step = float(level_value(question, 1) - level_value(question, 0))
        half = 1 << (mechanism.width - 1)
        return portion * step * max(half - 1, mechanism.size - 1 + half)
    if question.levels and question.optional:
        return None
    p, q = float(mechanism.p), float(mechanism.q)
    if isinstance(mechanism, Flip | Sampled):
        return portion * max(1 - q, p) / (p - q)
    scores = _scores(field, question)
    least, most = _sums(mechanism, sorted(scores))
    low, high = ((end - q * sum(scores)) / (p - q) for end in (least, most))
    return portion * max(high - min(scores), max(scores) - low)


def _scores(field: Field, question: Question) -> list[float]:
    """A score for each symbol of the field: of a number its value, else 1 for those that hold one answer."""
    scores = [0.0] * field.size
    for digit, symbols in enumerate(members(field, question)):
        for symbol in symbols:
            if question.levels:
                scores[symbol] = float(level_value(question, digit))
            elif question.type == "multiple":
                scores[symbol] = float(digit < question.no_answer and digit & 1)
            else:
                scores[symbol] = float(digit == 0)
    return scores


def _sums(mechanism: Subset | Unary, scores: list[float]) -> tuple[float, float]:
    """The least and the most that the scores of one report can sum to."""
    if isinstance(mechanism, Subset):
        return sum(scores[: mechanism.weight]), sum(scores[-mechanism.weight :])
    return sum(score for score in scores if score < 0), sum(score for score in scores if score > 0)


class Untrue(NamedTuple):
    """A yes with its interval, and what they become if a share of true Yes said No."""

    question: Question
    line: Line
    corrected: list[tuple[float, float, float]]  # estimate, low, high for each of UNTRUE


def untrue_answers(survey: Survey, document: Results) -> list[Untrue]:
    """For every yes or no: estimate/(1 − l), and its interval likewise, cut at 1."""
    answers: list[Untrue] = []
    for question, part in zip(survey.questions, document.questions, strict=True):
        if question.type == "yes_no" and part.estimates:
            line = next(line for line in part.estimates if line.option == question.labels[1])
            answers.append(Untrue(question, line, [_corrected(line, lie) for lie in UNTRUE]))
    return answers


def _corrected(line: Line, lie: float) -> tuple[float, float, float]:
    estimate, low, high = (min(number / (1 - lie), 1.0) for number in (line.estimate, line.low, line.high))
    return estimate, low, high
