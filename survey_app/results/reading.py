"""How people read the lines of a question: yes before no, and of a follow-up first those who were asked, and how many.

The documents keep the order of symbols, which programs rely on; pages, plots and the terminal take theirs from here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET

from client.question import Question
from client.words import digit_label
from survey_app.explain.written import count
from survey_app.results.document import Line, QuestionPart

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
    if not any(question.type == "yes_no" for question in questions):
        return list(lines)
    ranks = [_ranks(question) for question in questions]

    def place(line: Line) -> list[int]:
        names = line.options or (line.option,)
        return [rank.get(name, len(rank)) for rank, name in zip(ranks, names, strict=True)]

    return sorted(lines, key=place)


def places(question: Question, count: int) -> list[int]:
    """Where so many answers of a question stand among its symbols, in the order in which they are read."""
    return [1, 0, *range(2, count)] if question.type == "yes_no" and count > 1 else list(range(count))


def _ranks(question: Question) -> dict[str, int]:
    labels = [digit_label(question, digit) for digit in places(question, question.size)]
    return {label: rank for rank, label in reversed([*enumerate(labels)])}


def answer_name(part: QuestionPart, line: Line) -> str:
    """What an answer is called: of a follow-up nobody can tell who was not asked from who did not answer."""
    return NOT_ASKED if part.condition and line.kind == "no_answer" else line.option
