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
    """The result of a check.

    `check` and `code` name the finding for programs. `found` describes it, and `next` is the advice if there is any.
    """

    check: str
    code: str
    state: State
    found: str
    next: str = ""


def healthy(check: str, message: str, advice: str = "", *, code: str = "ok") -> Finding:
    """Return a finding without a problem."""
    return Finding(check, code, State.OK, message, advice)


def warning(check: str, code: str, message: str, advice: str) -> Finding:
    """Return a warning: the operator should examine it."""
    return Finding(check, code, State.WARNING, message, advice)


def failure(check: str, code: str, message: str, advice: str) -> Finding:
    """Return a failure: something does not work, or protects less than it should."""
    return Finding(check, code, State.FAILURE, message, advice)
