"""Published figures, and plans to compare with them."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from survey_app.kinds.planning_assumptions import Guess
from survey_app.plan.estimands import list_estimands, make_field
from survey_app.plan.question_plan import make_question
from survey_app.plan.report_variance import Spread

ROOT = Path(__file__).parents[1]

LN3 = Decimal(3).ln()

Z = 1.959963984540054


def yes_spread(epsilon: str | Decimal, questions: int = 1, ask: str = "all") -> Callable[[float], Spread]:
    """Return the spread of a yes at any share, for equal questions that share an ε, or of which one is asked."""
    answered = 1 if ask == "one" else questions
    made = make_field((make_question("yes_no"),), Decimal(epsilon) / answered)
    (figure,) = list_estimands(made, made.questions[0], Guess(), asked_share=answered / questions)
    return figure.spread_at


def approx_figure(figure: str) -> Any:
    """Return a published figure with a tolerance of half a unit of its last digit."""
    decimals = len(figure.partition(".")[2])
    return pytest.approx(float(figure), abs=0.5000001 * 10**-decimals)


def total(spread: Spread) -> float:
    """Return n·Var for a large population."""
    return (spread.people + spread.coins) / spread.asked_share


def two_choices(first: int, second: int, epsilon: str, **more: Any) -> bytes:
    questions = [
        {"id": name, "type": "choice", "text": "?", "options": [f"{name}{i}" for i in range(size)]}
        for name, size in (("a", first), ("b", second))
    ]
    said = {"slug": "pair", "title": "Pair", "epsilon": epsilon, "questions": questions, **more}
    return json.dumps(said).encode()
