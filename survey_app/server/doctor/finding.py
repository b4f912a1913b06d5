"""What a check found."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How bad it is: a failure has to be mended, a warning looked at."""

    OK = "ok"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True)
class Finding:
    """What was looked at, how it is, what was found, and what to do next, if anything."""

    check: str
    state: State
    found: str
    next: str = ""


def fine(check: str, found: str, then: str = "") -> Finding:
    """Nothing is wrong."""
    return Finding(check, State.OK, found, then)


def warned(check: str, found: str, then: str) -> Finding:
    """Somebody should look at it."""
    return Finding(check, State.WARNING, found, then)


def failed(check: str, found: str, then: str) -> Finding:
    """It does not work, or protects less than it should."""
    return Finding(check, State.FAILURE, found, then)
