"""A survey tried on made-up people before anybody is asked: what they would say, and what its results would tell of it.

Everything happens in memory; nothing is kept. The people are those that a plan imagines; the results come from the same
code as those of a real survey. Beside each interval stands what is true of these people.
"""

from dataclasses import dataclass

import numpy as np

from client.definition import Survey
from client.question import Question
from survey_app.channels.base import Indices
from survey_app.figures import FigureKind
from survey_app.kinds import kind_of
from survey_app.plan.people import draw_people
from survey_app.results import document
from survey_app.results.document import results
from survey_app.results.reading import in_order
from survey_app.simulate import devices
from survey_app.tally import Tally, add_bits

CELLS = 4_000_000  # bits that are drawn at once


@dataclass(frozen=True)
class Line:
    """One figure: what is true, and what the results say."""

    option: str
    kind: FigureKind
    truth: float
    n: int
    estimate: float
    low: float
    high: float

    @property
    def inside(self) -> bool:
        """Whether the interval holds the truth."""
        return self.low <= self.truth <= self.high


@dataclass(frozen=True)
class Tried:
    """A question and its figures; none if too few devices were asked."""

    question: Question
    lines: tuple[Line, ...]


def try_out(survey: Survey, respondents: int, rng: np.random.Generator) -> list[Tried]:
    """The results of so many made-up respondents, question by question, in the order in which people read them."""
    said = draw_people(survey, {}, respondents, rng)
    told = results(survey, tally(survey, said, respondents, rng))
    return [
        Tried(question, tuple(_line(question, line, said[question.id]) for line in in_order([question], lines)))
        for question, lines in zip(survey.questions, (part.estimates for part in told.questions), strict=True)
    ]


def tally(survey: Survey, said: dict[str, Indices], respondents: int, rng: np.random.Generator) -> Tally:
    """What a server would have counted."""
    counts = np.zeros(survey.width, dtype=np.int64)
    step = max(1, CELLS // survey.width)
    for start in range(0, respondents, step):
        part = {name: column[start : start + step] for name, column in said.items()}
        for rows in devices.reports(survey, part, rng):
            add_bits(counts, rows)
    return Tally(respondents, counts)


def _line(question: Question, line: document.Line, said: Indices) -> Line:
    true = truth(question, line.option, line.kind, said)
    return Line(line.option, line.kind, true, line.n, line.estimate, line.low, line.high)


def truth(question: Question, option: str, kind: FigureKind, said: Indices) -> float:
    """A share of all these people, or the mean of those who answered."""
    question_kind = kind_of(question)
    if kind == FigureKind.MEAN:
        values = question_kind.true_values(question, said)
        return float(values.mean()) if len(values) else float("nan")
    answers = question_kind.answers(question)
    answer = len(answers) if kind == FigureKind.NO_ANSWER else answers.index(option)
    return float(question_kind.gives(question, answer, said).mean())
