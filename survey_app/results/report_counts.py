"""How many reports a survey shows, as everybody reads it. The newest wait: nothing shown is not nothing there."""

from survey_app.languages.numbers import count
from survey_app.store.records import Hold, Published, State
from survey_app.store.steps import STEP


def told(shown: int, state: State, groups: int = 1, hold: Hold = Hold.NONE) -> str:
    """The number shown of a survey in this state, or of all groups of a study; if none is, what it is below."""
    if shown or state is State.READY:
        return count(shown)
    if hold is not Hold.NONE:
        return "not shown yet" if hold.waits else "never shown"
    return f"fewer than {count(groups * (STEP if state is State.CLOSED else 2 * STEP))}"


def in_steps(shown: int) -> str:
    """How many were invited, or have a ticket, as everybody but those who invite is told it."""
    return count(shown) if shown else f"fewer than {3 * STEP}"


def withheld(published: Published) -> str:
    """Say what of a survey by invitation is withheld, and until when; empty if nothing is."""
    if published.hold is Hold.NONE:
        return ""
    if not published.hold.waits:
        return (
            "This version was replaced before its date, so its reports are never shown: of a version that few people "
            "had answered they could be told apart."
        )
    so_far = "Nothing more of this survey is" if published.hold is Hold.REST else "Nothing of this survey is"
    if published.shown_from is None:
        return f"{so_far} shown until a date of closing is set, and reached."
    return f"{so_far} shown before {published.shown_from:%Y-%m-%d %H:%M} UTC."
