"""What templates may do with a number, a moment or a sentence: all filters of ours, registered once.

`count` takes the place of Jinja's second name for `length`, which no template of ours uses.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from markupsafe import Markup

from survey_app.explain import chances, reports, written


def epsilon(value: Decimal) -> str:
    """ε to two digits, as a sentence has it."""
    return written.epsilon(value, 2)


def epsilon_in_column(value: Decimal) -> str:
    """ε with two digits always, to be read down a column."""
    return written.epsilon(value, 2, fixed=True)


def raised(loss: Decimal) -> str:
    """What a suspicion of one in twenty can become at the most."""
    return written.chance(chances.raised(chances.SUSPICION, loss))


def plain_moment(value: datetime) -> str:
    """A moment as everybody reads it, where nothing but text can stand."""
    return value.astimezone(UTC).strftime("%d %b %Y, %H:%M UTC")


def moment(value: datetime) -> Markup:
    """The same for a page: `static/moments.js` puts the reader's own clock beside it."""
    return Markup('<time datetime="{}">{}</time>').format(value.astimezone(UTC).isoformat(), plain_moment(value))


def sentence(text: str) -> str:
    """Advice as a sentence: a period at its end, and a capital unless it begins with a key or an id."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


FILTERS: dict[str, Callable[..., Any]] = {
    "about": written.about,
    "count": written.count,
    "epsilon": epsilon,
    "epsilon_in_column": epsilon_in_column,
    "margin": written.margin,
    "moment": moment,
    "plain_moment": plain_moment,
    "outcome": written.outcome,
    "price": written.price,
    "raised": raised,
    "reports": reports.told,
    "respondents": written.respondents,
    "sentence": sentence,
}
