"""The question type whose answer is one of several options."""

from typing import final

from candor_client.question import Question
from survey_app.kinds.labels import SingleLabel
from survey_app.kinds.planning_assumptions import OPTION_SHARE, Guess, even_share
from survey_app.kinds.question_kind import AuthorValue


@final
class Choice(SingleLabel):
    """A single choice among options without an order."""

    def scores(self, question: Question) -> None:
        return None

    def is_ordered(self, question: Question) -> bool:
        return False

    def usual_share(self, question: Question) -> float:
        return even_share(question)

    def design_share(self, question: Question) -> float:
        return OPTION_SHARE

    def planned_mean(self, question: Question, guess: Guess) -> None:
        return None

    def deniable_answer(self, question: Question) -> None:
        return None

    def estimator_sentence(self, question: Question, bits: int) -> str:
        return ""


KIND = Choice(
    name="choice",
    menu="Single choice",
    plan_name="a single choice",
    codebook_name="one of several options",
    share_name="option",
    share_phrase="an option",
    answers_name="options",
    ddi_domain="category",
    exclusive=True,
    starter={"options": []},
    author_keys={"options": AuthorValue.LIST, "shuffle": AuthorValue.SWITCH},
    preset_labels=(),
    template="console/types/choice.html",
    answer_name_keys=(),
    can_force_answer=False,
)
