"""Template filters for numbers, moments and sentences, all registered here.

`count` replaces Jinja's alias for `length`, which no template uses.
"""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from markupsafe import Markup, escape

from candor_client.definition import Survey, find_objections
from candor_client.question import Question
from survey_app.channels import posterior
from survey_app.languages import numbers
from survey_app.results import report_counts
from survey_app.web.console.event_text import describe_event


def format_epsilon(value: Decimal) -> str:
    """Format ε with two digits, for a sentence."""
    return numbers.format_epsilon(value, 2)


def format_epsilon_column(value: Decimal) -> str:
    """Format ε always with two digits, for a column of a table."""
    return numbers.format_epsilon(value, 2, fixed=True)


def format_raised_chance(loss: Decimal | float | None) -> str:
    """Format the highest chance that a suspicion of one in twenty can be raised to."""
    return numbers.format_largest_suspicion(posterior.SUSPICION, loss)


def client_objection(survey: Survey) -> str:
    """Return the reason why clients refuse a definition published before 0.9; empty if they accept it."""
    return str(next(find_objections(survey), ""))


def format_moment(value: datetime) -> str:
    """Format a moment in UTC, for places that allow only text."""
    return value.astimezone(UTC).strftime("%d %b %Y, %H:%M UTC")


def moment_markup(value: datetime) -> Markup:
    """Format a moment for a page, where `static/moments.js` adds the reader's local time."""
    return Markup('<time datetime="{}">{}</time>').format(value.astimezone(UTC).isoformat(), format_moment(value))


def end_sentence(text: str) -> str:
    """Return advice as a sentence with a period at its end."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def breakable_id(name: str) -> Markup:
    """Return an id that may break at its underscores."""
    return Markup("_<wbr>").join(escape(part) for part in name.split("_"))


def advice_markup(text: str, questions: Iterable[Question]) -> Markup:
    """Return advice as a sentence for a page.

    The ids of its questions are marked as code where they begin the sentence or precede a margin.
    """
    ids = "|".join(re.escape(question.id) for question in sorted(questions, key=lambda question: -len(question.id)))
    first = rf"^(?:{ids})(?=, | and | are )|(?<= and )(?:{ids})(?= and | are )"
    parts = re.split(rf"({first}|(?<![\w-])(?:{ids})(?= ±))", end_sentence(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else escape(part) for i, part in enumerate(parts)
    )


FILTERS: dict[str, Callable[..., Any]] = {
    "about": numbers.format_rounded_percent,
    "advice": advice_markup,
    "broken": breakable_id,
    "count": numbers.format_count,
    "deniable": posterior.is_deniable,
    "epsilon": format_epsilon,
    "event": describe_event,
    "epsilon_in_column": format_epsilon_column,
    "in_steps": report_counts.format_rounded_count,
    "margin": numbers.format_margin,
    "moment": moment_markup,
    "plain_moment": format_moment,
    "outcome": numbers.format_outcome,
    "price": numbers.format_cost_factor,
    "raised": format_raised_chance,
    "refused_in": client_objection,
    "reports": report_counts.format_report_count,
    "withheld": report_counts.describe_hold,
    "respondents": numbers.format_respondents,
    "sentence": end_sentence,
}
