"""The question type whose answer is yes or no."""

from collections.abc import Sequence
from typing import Any, final

from candor_client.question import Question
from survey_app.kinds.labels import SingleLabel
from survey_app.kinds.planning_assumptions import YES_SHARE, Generator, Guess, Indices, check_share
from survey_app.kinds.question_kind import AuthorValue


@final
class YesNo(SingleLabel):
    """Two answers, no and yes; the figure of interest is the share of the second."""

    def scores(self, question: Question) -> None:
        return None

    def is_ordered(self, question: Question) -> bool:
        return False

    def usual_share(self, question: Question) -> float:
        return YES_SHARE

    def design_share(self, question: Question) -> float:
        return YES_SHARE

    def condition_share(self, question: Question, labels: Sequence[str], guess: float | None) -> float:
        no, yes = question.labels
        share = YES_SHARE if guess is None else guess
        return share * (yes in labels) + (1 - share) * (no in labels)

    def main_answers(self, question: Question) -> Sequence[int]:
        return (1,)

    def planned_mean(self, question: Question, guess: Guess) -> None:
        return None

    def draw(self, question: Question, truth: Any, count: int, rng: Generator) -> Indices:
        return (rng.random(count) < check_share(question, YES_SHARE if truth is None else truth)).astype("int64")

    def deniable_answer(self, question: Question) -> int:
        return 1

    def estimator_sentence(self, question: Question, bits: int) -> str:
        return ""

    def describe_answers(self, question: Question, most: int) -> str:
        return ""


KIND = YesNo(
    name="yes_no",
    menu="Yes or no",
    plan_name="yes or no",
    codebook_name="yes or no",
    share_name="yes",
    share_phrase="yes",
    answers_name="answers",
    ddi_domain="category",
    exclusive=True,
    starter={},
    author_keys={"design": AuthorValue.DESIGN},
    preset_labels=("yes", "no"),
    template="console/types/yes_no.html",
    answer_name_keys=("privacy.no", "privacy.yes"),
    can_force_answer=True,
)
