"""The question type whose answer is a point of a scale, with scores 1, 2, 3, … unless the author gives others."""

from collections.abc import Sequence
from fractions import Fraction
from typing import final

from candor_client.question import Question
from survey_app.kinds.labels import SingleLabel
from survey_app.kinds.planning_assumptions import Guess, PlannedMean, even_mean, even_share
from survey_app.kinds.question_kind import AuthorValue


@final
class Scale(SingleLabel):
    """A scale of points in order, each with a score."""

    def scores(self, question: Question) -> Sequence[float]:
        return [float(score) for score in question.scores] or [i + 1.0 for i in range(len(question.labels))]

    def is_ordered(self, question: Question) -> bool:
        return True

    def usual_share(self, question: Question) -> float:
        return even_share(question)

    def design_share(self, question: Question) -> float:
        return even_share(question)

    def planned_mean(self, question: Question, guess: Guess) -> PlannedMean | None:
        return even_mean([Fraction(score) for score in question.scores or range(1, len(question.labels) + 1)])

    def deniable_answer(self, question: Question) -> None:
        return None

    def estimator_sentence(self, question: Question, bits: int) -> str:
        return "The mean of a scale is the sum of score × share."


KIND = Scale(
    name="scale",
    menu="Scale",
    plan_name="a scale",
    codebook_name="a point of a scale",
    share_name="point",
    share_phrase="a point",
    answers_name="options",
    ddi_domain="category",
    exclusive=True,
    starter={"points": []},
    author_keys={"points": AuthorValue.LIST, "scores": AuthorValue.LIST},
    preset_labels=(),
    template="console/types/scale.html",
    answer_name_keys=(),
    can_force_answer=False,
)
