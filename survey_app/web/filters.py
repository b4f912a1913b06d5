"""Template filters for numbers, moments and sentences, all registered here.

`count` replaces Jinja's alias for `length`, which no template uses.
"""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from markupsafe import Markup, escape

from candor_client.definition import Survey, objections
from candor_client.question import Question
from survey_app.channels import posterior
from survey_app.languages import numbers
from survey_app.results import report_counts


def epsilon(value: Decimal) -> str:
    """Format ε with two digits, for a sentence."""
    return numbers.epsilon(value, 2)


def epsilon_in_column(value: Decimal) -> str:
    """Format ε always with two digits, for a column of a table."""
    return numbers.epsilon(value, 2, fixed=True)


def raised(loss: Decimal | float | None) -> str:
    """Format the highest chance that a suspicion of one in twenty can be raised to."""
    return numbers.at_most(posterior.SUSPICION, loss)


def refused_in(survey: Survey) -> str:
    """Return the reason why clients refuse a definition published before 0.9; empty if they accept it."""
    return str(next(objections(survey), ""))


def plain_moment(value: datetime) -> str:
    """Format a moment in UTC, for places that allow only text."""
    return value.astimezone(UTC).strftime("%d %b %Y, %H:%M UTC")


def moment(value: datetime) -> Markup:
    """Format a moment for a page, where `static/moments.js` adds the reader's local time."""
    return Markup('<time datetime="{}">{}</time>').format(value.astimezone(UTC).isoformat(), plain_moment(value))


def sentence(text: str) -> str:
    """Return advice as a sentence with a period at its end."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def broken(name: str) -> Markup:
    """Return an id that may break at its underscores."""
    return Markup("_<wbr>").join(escape(part) for part in name.split("_"))


def advice(text: str, questions: Iterable[Question]) -> Markup:
    """Return advice as a sentence for a page.

    The ids of its questions are marked as code where they begin the sentence or precede a margin.
    """
    ids = "|".join(re.escape(question.id) for question in sorted(questions, key=lambda question: -len(question.id)))
    first = rf"^(?:{ids})(?=, | and | are )|(?<= and )(?:{ids})(?= and | are )"
    parts = re.split(rf"({first}|(?<![\w-])(?:{ids})(?= ±))", sentence(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else escape(part) for i, part in enumerate(parts)
    )


FILTERS: dict[str, Callable[..., Any]] = {
    "about": numbers.about,
    "advice": advice,
    "broken": broken,
    "count": numbers.count,
    "deniable": posterior.deniable,
    "epsilon": epsilon,
    "epsilon_in_column": epsilon_in_column,
    "in_steps": report_counts.in_steps,
    "margin": numbers.margin,
    "moment": moment,
    "plain_moment": plain_moment,
    "outcome": numbers.outcome,
    "price": numbers.price,
    "raised": raised,
    "refused_in": refused_in,
    "reports": report_counts.told,
    "withheld": report_counts.withheld,
    "respondents": numbers.respondents,
    "sentence": sentence,
}
