"""The findings of checks."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The severity of a finding: a failure must be repaired, a warning should be examined."""

    OK = "ok"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True)
class Finding:
    """The result of a check: its name, its severity, the finding in words, and the next step if there is one."""

    check: str
    state: State
    found: str
    next: str = ""


def healthy(check: str, message: str, advice: str = "") -> Finding:
    """Return a finding without a problem."""
    return Finding(check, State.OK, message, advice)


def warning(check: str, message: str, advice: str) -> Finding:
    """Return a warning: the operator should examine it."""
    return Finding(check, State.WARNING, message, advice)


def failure(check: str, message: str, advice: str) -> Finding:
    """Return a failure: something does not work, or protects less than it should."""
    return Finding(check, State.FAILURE, message, advice)
