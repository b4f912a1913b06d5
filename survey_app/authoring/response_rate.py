"""The expected share of respondents who answer a question, before anybody has been asked."""

from collections.abc import Iterable

from candor_client.question import Question
from survey_app.kinds import kind_of
from survey_app.kinds.assumptions import SKIPPING

FEWEST = 1e-6  # lowest share of those asked who answer, however many conditions precede a question


def answering(question: Question, questions: Iterable[Question], share: float | None = None) -> float:
    """Return the share of those asked who answer: all, all but the skipping, or those to whom the question is shown.

    `share` replaces the usual guess for a yes, or for an option of a multiple.
    """
    by_id = {known.id: known for known in questions}
    seen = 1.0
    while question.show_if:
        labels, question = question.show_if.labels, by_id[question.show_if.question]
        seen *= kind_of(question).shown_share(question, labels, share)
    return max(seen * (1 - SKIPPING) if question.optional else seen, FEWEST)
