"""Made-up people who choose labels."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from client.question import Question
from survey_app.kinds.assumptions import Generator, Indices, TruthError, check_share


def check_labels(question: Question, truth: Any) -> None:
    """Refuse what a truth file says of a question with labels, unless it gives shares to some of them."""
    if truth is not None and (not isinstance(truth, Mapping) or set(truth) - set(question.labels)):
        raise TruthError(f"{question.id}: give a share for each of {', '.join(question.labels[:8])}")


def draw_label(question: Question, truth: Any, count: int, rng: Generator) -> Indices:
    """Return the label that each of `count` people chooses, in proportion to the given shares."""
    check_labels(question, truth)
    labels = question.labels
    shares = np.array([1.0 if truth is None else check_share(question, truth.get(label, 0)) for label in labels])
    if shares.sum() <= 0:
        raise TruthError(f"{question.id}: all shares are 0")
    return rng.choice(len(labels), count, p=shares / shares.sum())
