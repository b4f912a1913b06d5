"""What is assumed of people who were not asked yet, wherever a design or a plan needs a guess.

20% say yes, 30% choose each option of a multiple, options of a choice, points and bins are equally popular, numbers are
spread evenly over their range, one in ten skips an optional question, and one with `show_if` is answered by those who
see it. Designs are judged by a large option, of 30%, also where a choice has many.
"""

from collections.abc import Iterable

import numpy as np

from client.question import Question
from survey_app.channel import Floats

YES = 0.2
OPTION = 0.3
SKIPPING = 0.1
FEWEST = 1e-6  # share of those asked who answer, however many conditions stand before a question
FINEST = 10_000  # points at which a distribution of numbers is computed


def answering(question: Question, questions: Iterable[Question], share: float | None = None) -> float:
    """The share of those asked who answer: all, all but the skipping, or those to whom the question is shown.

    `share` is another guess for a yes, or for an option of a multiple, than the usual one.
    """
    by_id = {known.id: known for known in questions}
    seen = 1.0
    while question.show_if:
        shown, question = question.show_if, by_id[question.show_if.question]
        count = len(shown.labels)
        if question.type == "multiple":
            seen *= 1 - (1 - (OPTION if share is None else share)) ** count
        elif question.type == "yes_no":
            yes = YES if share is None else share
            seen *= yes * ("yes" in shown.labels) + (1 - yes) * ("no" in shown.labels)
        else:
            seen *= count / len(question.labels)
    return max(seen * (1 - SKIPPING) if question.optional else seen, FEWEST)


def usual_share(question: Question) -> float:
    """The share of a yes, or of one option, point or bin, among those who answer."""
    return {"yes_no": YES, "multiple": OPTION}.get(question.type, 1 / question.no_answer)


def judged_share(question: Question, answering: float) -> float:
    """The share at which designs are judged, of all who are asked: of a yes, or of one option, point or bin.

    Options of a choice and bins are equally popular only where few are left to choose them.
    """
    if question.show_if:
        return answering * usual_share(question)
    return OPTION if question.type == "choice" or question.bins else usual_share(question)


def spread_evenly(question: Question) -> tuple[Floats, Floats]:
    """Places from 0 (a number's smallest) to 1 (its largest), and the chance of each."""
    points = min(question.steps, FINEST)
    return np.arange(points + 1) / points, np.full(points + 1, 1 / (points + 1))


def level_shares(places: Floats, chances: Floats, levels: int) -> Floats:
    """The chance of each level, when a place is rounded at random to one beside it."""
    position = places * (levels - 1)
    lower = np.minimum(np.floor(position + 1e-9).astype(np.int64), levels - 2)
    up = np.clip(position - lower, 0.0, 1.0)
    shares = np.bincount(lower, chances * (1 - up), levels) + np.bincount(lower + 1, chances * up, levels)
    return shares.astype(np.float64)
