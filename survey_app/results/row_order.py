"""How people read the lines of a question: yes before no, and of a follow-up first those who were asked, and how many.

The documents keep the order of symbols, which programs rely on; pages, plots and the terminal take theirs from here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET

from candor_client.description import digit_label
from candor_client.question import Question
from survey_app.figures import FigureKind
from survey_app.kinds import kind_of
from survey_app.languages.numbers import count
from survey_app.results.survey_document import Line, QuestionPart

AMONG = "among those who were asked and answered"
OF_ALL = "of all, asked or not"
NOT_ASKED = "not asked or no answer"


@dataclass(frozen=True)
class Reached:
    """About how many of n devices were asked and answered, and from how many to how many that may be."""

    about: int
    low: int
    high: int
    n: int

    @property
    def among(self) -> str:
        """The number that figures of a follow-up rest on."""
        return f"about {count(self.about)} of {count(self.n)}"

    def sentence(self, confidence: str) -> str:
        """The same with its interval."""
        between = f"{confidence} interval {count(self.low)} to {count(self.high)}"
        return f"{self.among} were asked and answered ({between})"


def reached(part: QuestionPart) -> Reached | None:
    """Of a follow-up, who were asked and answered; it is a number of these respondents, so the coins alone make it
    uncertain wherever that interval is known.
    """
    line = part.answering
    if line is UNSET:
        return None
    low, high = line.low, line.high
    if line.sample_low is not None and line.sample_high is not None:
        low, high = line.sample_low, line.sample_high
    about, least, most = (round(line.n * share) for share in (line.estimate, low, high))
    return Reached(about, least, most, line.n)


def in_order(questions: Sequence[Question], lines: Sequence[Line]) -> list[Line]:
    """Lines of one question, or of several at once, with yes before no; all else stays where it was."""
    if all(_as_they_stand(question) for question in questions):
        return list(lines)
    ranks = [_ranks(question) for question in questions]

    def place(line: Line) -> list[int]:
        names = line.options or (line.option,)
        return [rank.get(name, len(rank)) for rank, name in zip(ranks, names, strict=True)]

    return sorted(lines, key=place)


def places(question: Question, count: int) -> list[int]:
    """Where so many answers of a question stand, in the order in which they are read: those it is about come first."""
    main = kind_of(question).main_answers(question)
    return [*(place for place in main if place < count), *(place for place in range(count) if place not in main)]


def _as_they_stand(question: Question) -> bool:
    """Whether the answers are read in the order of their symbols."""
    return all(place == answer for place, answer in enumerate(kind_of(question).main_answers(question)))


def main_answer(question: Question) -> str:
    """The one answer that a question is about, such as yes; empty if it is about several."""
    kind = kind_of(question)
    main = kind.main_answers(question)
    return kind.answers(question)[main[0]] if len(main) == 1 else ""


def _ranks(question: Question) -> dict[str, int]:
    labels = [digit_label(question, digit) for digit in places(question, question.size)]
    return {label: rank for rank, label in reversed([*enumerate(labels)])}


def answer_name(part: QuestionPart, line: Line) -> str:
    """What an answer is called: of a follow-up nobody can tell who was not asked from who did not answer."""
    return NOT_ASKED if part.condition and line.kind == FigureKind.NO_ANSWER else line.option
