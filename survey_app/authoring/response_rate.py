"""The predicted response rate of a question, before the survey has any reports."""

from collections.abc import Iterable

from candor_client.question import Question
from survey_app.kinds import kind_of
from survey_app.kinds.planning_assumptions import SKIP_SHARE

LEAST_RATE = 1e-6  # lowest predicted rate, however many conditions precede a question


def predict_response_rate(question: Question, questions: Iterable[Question], share: float | None = None) -> float:
    """Return the predicted share of answers among the respondents who are asked a question.

    The share is 1, less the respondents who skip an optional question or do not see a conditional one. `share` replaces
    the usual guess for a yes, or for an option of a multiple.
    """
    by_id = {candidate.id: candidate for candidate in questions}
    rate = 1.0
    while question.show_if:
        labels, question = question.show_if.labels, by_id[question.show_if.question]
        rate *= kind_of(question).condition_share(question, labels, share)
    return max(rate * (1 - SKIP_SHARE) if question.optional else rate, LEAST_RATE)
