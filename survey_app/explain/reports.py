"""How many reports a survey shows, as everybody reads it. The newest wait: nothing shown is not nothing there."""

from survey_app.explain.written import count
from survey_app.store.steps import STEP


def told(shown: int, state: str, groups: int = 1) -> str:
    """The number shown of a survey in this state, or of all groups of a study; if none is, what it is below."""
    if shown or state == "ready":
        return count(shown)
    return f"fewer than {count(groups * (STEP if state == 'closed' else 2 * STEP))}"


def in_steps(shown: int) -> str:
    """How many were invited, or have a ticket, as everybody but those who invite is told it."""
    return count(shown) if shown else f"fewer than {STEP}"
