"""What to keep in mind about a figure: what the noise cost, what untrue answers and invented reports could do.

docs/methods.md §1, §9 and §13. Everything follows from the published mechanism and the document of the results.
"""

from collections.abc import Sequence
from typing import NamedTuple

from client.definition import Field, Survey
from client.mechanisms import Drawn, Flip, Geometric, Subset
from client.question import Question
from client.words import digit_label, level_value
from survey_app.channel import geometric_scores, share_variance, union_variance
from survey_app.estimate.question import members
from survey_app.results.document import Line, Results

UNTRUE = (0.1, 0.3)  # shares of true Yes that might have answered No
INVENTED = 0.01  # a share of reports that might be made up


def answer_sizes(field: Field, question: Question) -> dict[str, int]:
    """How many symbols of a field each answer to a question stands for."""
    sizes = [len(symbols) for symbols in members(field, question)][: question.no_answer]
    if question.type != "multiple":
        return {digit_label(question, digit): size for digit, size in enumerate(sizes)}
    return {
        label: sum(size for mask, size in enumerate(sizes) if mask >> option & 1)
        for option, label in enumerate(question.labels)
    }


def design_effect(field: Field, question: Question, option: str, share: float) -> float | None:
    """How many times more reports a share needs than without noise, n·Var/(π(1−π)); None where there is no share."""
    mechanism = field.mechanism
    if isinstance(mechanism, Geometric) or question.levels or not 0 < share < 1:
        return None
    if isinstance(mechanism, Subset):
        variance = union_variance(mechanism, answer_sizes(field, question)[option], share)
    else:  # n counts only those who were asked about the option
        variance = share_variance(float(mechanism.p), float(mechanism.q), share)
    return variance / (share * (1 - share))


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

    An honest report moves Σ a_i f_i by a score between the smallest and the largest a; a made-up one by
    (S − q Σa)/(p − q), S the sum of the scores it names. Whoever makes reports up also chooses what they are asked. A
    mean among those who answered has no such bound.
    """
    mechanism = field.mechanism
    among = 1 / float(survey.part(field))
    if isinstance(mechanism, Drawn):
        among *= mechanism.size / mechanism.draw
    portion = min(invented * among, 1.0)
    values = [float(level_value(question, level)) for level in range(question.levels)]
    if isinstance(mechanism, Geometric):
        sent = values[0] + (values[1] - values[0]) * geometric_scores(mechanism)
        return portion * float(max(sent[-1] - values[0], values[-1] - sent[0]))
    if question.levels and question.optional:
        return None
    p, q = float(mechanism.p), float(mechanism.q)
    if isinstance(mechanism, Flip | Drawn):
        width = values[1] - values[0] if values else 1.0
        return portion * width * max(1 - q, p) / (p - q)
    if not values:
        return portion * max(_share_shift(mechanism, size) for size in {*answer_sizes(field, question).values()})
    scores = sorted(value for value, held in zip(values, members(field, question), strict=True) for _ in held)
    least, most = sum(scores[: mechanism.weight]), sum(scores[-mechanism.weight :])
    low, high = ((end - q * sum(scores)) / (p - q) for end in (least, most))
    return portion * max(high - scores[0], scores[-1] - low)


def _share_shift(mechanism: Subset, size: int) -> float:
    """By how much one made-up report moves the share of an answer that so many symbols stand for."""
    p, q = float(mechanism.p), float(mechanism.q)
    most, least = min(mechanism.weight, size), max(mechanism.weight - (mechanism.size - size), 0)
    return max(most - size * q, p - q - (least - size * q)) / (p - q)


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
