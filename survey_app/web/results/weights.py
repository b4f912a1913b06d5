"""Numbers that a reader types for each group or survey: its weight, or a number that may explain an answer."""

import math
from collections.abc import Sequence

from survey_app.estimate.group_estimates import GroupsError

LARGEST = 1e15
Weights = tuple[tuple[str, float], ...]  # by slug; numbers of people, or any numbers in proportion to them


def weights_of(typed: Sequence[tuple[str, str]], named: Sequence[tuple[str, str]]) -> Weights | None:
    """Return the weights of surveys, given as pairs of slug and name, in their order; None if none is typed.

    Raise GroupsError, with a message for the reader, if no total can be computed from them.
    """
    if not typed:
        return None
    weights = numbers_of(typed, named, "weight", 0.0)
    if not any(weight for _, weight in weights):
        raise GroupsError("not all weights can be 0")
    return weights


def numbers_of(typed: Sequence[tuple[str, str]], named: Sequence[tuple[str, str]], what: str, least: float) -> Weights:
    """Parse a number of at least `least` for each survey. Raise GroupsError if one is missing, invalid or unknown."""
    texts, slugs = dict(typed), [slug for slug, _ in named]
    if unknown := [slug for slug in texts if slug not in slugs]:
        raise GroupsError(f"there is a {what} for {unknown[0]!r}, which is not among {', '.join(slugs)}")
    if names := [name for slug, name in named if slug not in texts]:
        verb = "lacks" if len(names) == 1 else "lack"
        raise GroupsError(f"{' and '.join(names)} still {verb} a {what}; give one to all or none")
    return tuple((slug, _number(texts[slug], what, least)) for slug in slugs)


def _number(text: str, what: str, least: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not max(least, -LARGEST) <= value <= LARGEST:
        from_zero = " from 0" if least == 0 else ""
        raise GroupsError(
            f"“{text[:40]}” is no {what}: write a number{from_zero}, such as 5000 or 0.25, without commas"
        )
    return value
