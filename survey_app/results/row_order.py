"""The reading order of a question's lines: yes before no, and for a follow-up first the respondents who were asked.

Documents keep the order of symbols, which programs rely on; pages, plots and the terminal use this order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET

from candor_client.description import digit_label
from candor_client.question import Question
from survey_app.figures import FigureKind
from survey_app.kinds import kind_of
from survey_app.languages.numbers import format_count
from survey_app.results.survey_document import Line, QuestionPart

AMONG_ANSWERED = "among those who were asked and answered"
OF_ALL = "among all, asked or not"
NOT_ASKED = "not asked or no answer"


@dataclass(frozen=True)
class AnswerCount:
    """An estimate of how many of n devices were asked and answered, with its interval."""

    estimate: int
    low: int
    high: int
    n: int

    @property
    def fraction(self) -> str:
        """The estimate in words; it is the base of the figures of a follow-up."""
        return f"about {format_count(self.estimate)} of {format_count(self.n)}"

    def describe(self, confidence: str) -> str:
        """Return the estimate and its interval in words."""
        interval = f"{confidence} interval {format_count(self.low)} to {format_count(self.high)}"
        return f"{self.fraction} were asked and answered ({interval})"


def estimate_answer_count(part: QuestionPart) -> AnswerCount | None:
    """Return how many respondents were asked a follow-up and answered it; None if the question is no follow-up.

    The number is about these respondents only. So its interval accounts for the randomization alone, where such an
    interval exists.
    """
    line = part.answering
    if line is UNSET:
        return None
    low, high = line.low, line.high
    if line.sample_low is not None and line.sample_high is not None:
        low, high = line.sample_low, line.sample_high
    estimate, lowest, highest = (round(line.n * share) for share in (line.estimate, low, high))
    return AnswerCount(estimate, lowest, highest, line.n)


def sort_lines(questions: Sequence[Question], lines: Sequence[Line]) -> list[Line]:
    """Sort lines of one question, or of several at once, with yes before no; all other lines keep their order."""
    if all(_keeps_symbol_order(question) for question in questions):
        return list(lines)
    ranks = [_rank_labels(question) for question in questions]

    def sort_key(line: Line) -> list[int]:
        names = line.options or (line.option,)
        return [rank.get(name, len(rank)) for rank, name in zip(ranks, names, strict=True)]

    return sorted(lines, key=sort_key)


def order_answers(question: Question, count: int) -> list[int]:
    """Return the places of the first `count` answers in reading order: the main answers, then all others."""
    main = kind_of(question).main_answers(question)
    return [*(place for place in main if place < count), *(place for place in range(count) if place not in main)]


def _keeps_symbol_order(question: Question) -> bool:
    """Return whether the reading order of the answers is the order of their symbols."""
    return all(place == answer for place, answer in enumerate(kind_of(question).main_answers(question)))


def main_answer(question: Question) -> str:
    """Return the one answer that a question is about, for example yes; empty text if it is about several."""
    kind = kind_of(question)
    main = kind.main_answers(question)
    return kind.answers(question)[main[0]] if len(main) == 1 else ""


def _rank_labels(question: Question) -> dict[str, int]:
    labels = [digit_label(question, digit) for digit in order_answers(question, question.size)]
    return {label: rank for rank, label in reversed([*enumerate(labels)])}


def answer_name(part: QuestionPart, line: Line) -> str:
    """Return the name of an answer; in a follow-up, not asked and no answer cannot be told apart."""
    return NOT_ASKED if part.condition and line.kind == FigureKind.NO_ANSWER else line.option
