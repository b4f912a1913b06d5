"""The number of reports that a survey shows, in words. The newest reports wait, so zero shown does not mean none."""

from survey_app.languages.numbers import format_count
from survey_app.store.records import Hold, PublishedSurvey, State
from survey_app.store.steps import STEP


def format_report_count(count_shown: int, state: State, groups: int = 1, hold: Hold = Hold.NONE) -> str:
    """Format the number of shown reports of a survey, or of all groups of a study; if it is 0, give its upper bound."""
    if count_shown or state is State.READY:
        return format_count(count_shown)
    if hold is not Hold.NONE:
        return "not shown yet" if hold.waits else "never shown"
    return f"fewer than {format_count(groups * (STEP if state is State.CLOSED else 2 * STEP))}"


def format_rounded_count(count_shown: int) -> str:
    """Format the number of invited people, or of tickets, for readers other than the inviting researchers."""
    return format_count(count_shown) if count_shown else f"fewer than {3 * STEP}"


def describe_hold(published: PublishedSurvey) -> str:
    """Describe the reports of a survey by invitation that are held back, and until when; empty if none are."""
    if published.hold is Hold.NONE:
        return ""
    if not published.hold.waits:
        return (
            "This version was replaced before its closing date, so its reports are never shown. If only a few people"
            " had answered it, their reports could be told apart."
        )
    subject = "No further reports or results" if published.hold is Hold.REST else "No reports or results"
    if published.release_date is None:
        return f"{subject} of this survey are shown until a closing date is set and reached."
    return f"{subject} of this survey are shown before {published.release_date:%Y-%m-%d %H:%M} UTC."
