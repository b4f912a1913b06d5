"""What templates may do with a number, a moment or a sentence: all filters of ours, registered once.

`count` takes the place of Jinja's second name for `length`, which no template of ours uses.
"""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from markupsafe import Markup, escape

from client.definition import Survey, objections
from client.question import Question
from survey_app.explain import chances, reports, written


def epsilon(value: Decimal) -> str:
    """ε to two digits, as a sentence has it."""
    return written.epsilon(value, 2)


def epsilon_in_column(value: Decimal) -> str:
    """ε with two digits always, to be read down a column."""
    return written.epsilon(value, 2, fixed=True)


def raised(loss: Decimal | float | None) -> str:
    """What a suspicion of one in twenty can become at the most."""
    return written.at_most(chances.SUSPICION, loss)


def refused_in(survey: Survey) -> str:
    """Return what clients refuse in a definition that was published before 0.9; empty if they take it."""
    return str(next(objections(survey), ""))


def plain_moment(value: datetime) -> str:
    """A moment as everybody reads it, where nothing but text can stand."""
    return value.astimezone(UTC).strftime("%d %b %Y, %H:%M UTC")


def moment(value: datetime) -> Markup:
    """The same for a page: `static/moments.js` puts the reader's own clock beside it."""
    return Markup('<time datetime="{}">{}</time>').format(value.astimezone(UTC).isoformat(), plain_moment(value))


def sentence(text: str) -> str:
    """Advice as a sentence: a period at its end, and a capital unless it begins with a key or an id."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def broken(name: str) -> Markup:
    """An id that breaks at its underscores, if it has to."""
    return Markup("_<wbr>").join(escape(part) for part in name.split("_"))


def advice(text: str, questions: Iterable[Question]) -> Markup:
    """Advice as a sentence on a page: the ids that it is about, at its beginning or before a margin, are set apart."""
    known = "|".join(re.escape(question.id) for question in sorted(questions, key=lambda one: -len(one.id)))
    first = rf"^(?:{known})(?=, | and | are )|(?<= and )(?:{known})(?= and | are )"
    parts = re.split(rf"({first}|(?<![\w-])(?:{known})(?= ±))", sentence(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else escape(part) for i, part in enumerate(parts)
    )


FILTERS: dict[str, Callable[..., Any]] = {
    "about": written.about,
    "advice": advice,
    "broken": broken,
    "count": written.count,
    "deniable": chances.deniable,
    "epsilon": epsilon,
    "epsilon_in_column": epsilon_in_column,
    "in_steps": reports.in_steps,
    "margin": written.margin,
    "moment": moment,
    "plain_moment": plain_moment,
    "outcome": written.outcome,
    "price": written.price,
    "raised": raised,
    "refused_in": refused_in,
    "reports": reports.told,
    "withheld": reports.withheld,
    "respondents": written.respondents,
    "sentence": sentence,
}
