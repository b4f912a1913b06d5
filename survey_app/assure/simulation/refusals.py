"""The reason why a survey accepts no simulated reports now, found before any answer is drawn."""

from datetime import UTC, datetime
from typing import assert_never

from survey_app.languages import numbers
from survey_app.store import PublishedSurvey, State


def refusal_reason(published: PublishedSurvey, now: datetime) -> str | None:
    """Return why the survey accepts no reports, as a text that continues its name; None if it accepts them."""
    terms, state = published.terms, published.state_at(now)
    if published.survey.tickets:
        return (
            "is by invitation: every report needs a ticket, and simulated respondents have none. To try it out, publish"
            " a copy of its file, without the line invitations, in a separate database (candor --db sqlite:///trial.db"
            " survey add COPY), and simulate there"
        )
    match state:
        case State.READY if published.state is State.OPEN and terms.opens:
            return f"is not open yet: it opens at {terms.opens.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        case State.READY:
            return f"is not open yet; open it with candor survey open {published.survey.slug}"
        case State.OPEN:
            return None
        case State.PAUSED:
            return f"is paused; resume it with candor survey open {published.survey.slug}"
        case State.CLOSED if published.full and terms.max_reports:
            return f"is full: it has reached its limit of {numbers.format_count(terms.max_reports)} reports"
        case State.CLOSED:
            return "is closed permanently; publish a new version to collect more reports"
        case _:
            assert_never(state)
