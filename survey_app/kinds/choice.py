"""One of several options."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from client.question import Question
from survey_app.kinds.assumptions import OPTION, Generator, Guess, Indices, even_share
from survey_app.kinds.base import AuthorValue, QuestionKind
from survey_app.kinds.labelled import draw_label


@final
@dataclass(frozen=True, kw_only=True)
class Choice(QuestionKind):
    """Options without an order."""

    def scores(self, question: Question) -> None:
        return None

    def is_ordered(self, question: Question) -> bool:
        return False

    def is_rounded(self, question: Question) -> bool:
        return False

    def usual_share(self, question: Question) -> float:
        return even_share(question)

    def design_share(self, question: Question) -> float:
        return OPTION

    def shown_share(self, question: Question, labels: Sequence[str], guess: float | None) -> float:
        return len(labels) / len(question.labels)

    def planned_mean(self, question: Question, guess: Guess) -> None:
        return None

    def draw(self, question: Question, truth: Any, count: int, rng: Generator) -> Indices:
        return draw_label(question, truth, count, rng)

    def example(self, question: Question, symbol: int) -> Any:
        return question.labels[symbol]

    def denied_answer(self, question: Question) -> None:
        return None

    def estimator_sentence(self, question: Question, bits: int) -> str:
        return ""

    def symbol_sentence(self, question: Question) -> None:
        return None


KIND = Choice(
    name="choice",
    menu="Single choice",
    plan_name="a choice",
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
    own_words=(),
    on_paper=False,
)
