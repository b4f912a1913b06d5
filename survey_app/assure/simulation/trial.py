"""A trial of a survey with simulated respondents, before any real respondent is asked.

Everything happens in memory; nothing is stored. The answers are drawn as a plan assumes them.
The results come from the same code as those of a real survey.
Each interval comes with the true value among the simulated respondents.
"""

from dataclasses import dataclass

import numpy as np

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.assure.simulation import devices
from survey_app.channels.channel import Indices
from survey_app.figures import FigureKind
from survey_app.kinds import kind_of
from survey_app.plan.simulated_people import draw_people
from survey_app.results import survey_document
from survey_app.results.row_order import sort_lines
from survey_app.results.survey_document import results
from survey_app.tally import Tally, add_bits

CELLS = 4_000_000  # bits to draw at once


@dataclass(frozen=True)
class Line:
    """One figure: its true value and its estimate."""

    option: str
    kind: FigureKind
    truth: float
    n: int
    estimate: float
    low: float
    high: float

    @property
    def covers_truth(self) -> bool:
        """Whether the interval contains the true value."""
        return self.low <= self.truth <= self.high


@dataclass(frozen=True)
class QuestionTrial:
    """A question and its figures; there are none if too few devices were asked."""

    question: Question
    lines: tuple[Line, ...]


def run_trial(survey: Survey, respondents: int, rng: np.random.Generator) -> list[QuestionTrial]:
    """Return the results of simulated respondents for each question, with figures in the order of a results page."""
    answers = draw_people(survey, {}, respondents, rng)
    document = results(survey, simulate_tally(survey, answers, respondents, rng))
    return [
        QuestionTrial(
            question,
            tuple(_compare_line(question, line, answers[question.id]) for line in sort_lines([question], lines)),
        )
        for question, lines in zip(survey.questions, (part.estimates for part in document.questions), strict=True)
    ]


def simulate_tally(survey: Survey, answers: dict[str, Indices], respondents: int, rng: np.random.Generator) -> Tally:
    """Return the tally that a server would have after these respondents."""
    counts = np.zeros(survey.width, dtype=np.int64)
    step = max(1, CELLS // survey.width)
    for start in range(0, respondents, step):
        part = {name: column[start : start + step] for name, column in answers.items()}
        for rows in devices.reports(survey, part, rng):
            add_bits(counts, rows)
    return Tally(respondents, counts)


def _compare_line(question: Question, line: survey_document.Line, answers: Indices) -> Line:
    true_value = population_figure(question, line.option, line.kind, answers)
    return Line(line.option, line.kind, true_value, line.n, line.estimate, line.low, line.high)


def population_figure(question: Question, option: str, kind: FigureKind, chosen: Indices) -> float:
    """Return the true value of a figure: a share of all respondents, or the mean of those who answered."""
    question_kind = kind_of(question)
    if kind == FigureKind.MEAN:
        values = question_kind.true_values(question, chosen)
        return float(values.mean()) if len(values) else float("nan")
    answers = question_kind.answers(question)
    answer = len(answers) if kind == FigureKind.NO_ANSWER else answers.index(option)
    return float(question_kind.mark_answer(question, answer, chosen).mean())
