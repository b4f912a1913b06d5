"""Numbers that a reader types for each group or survey: its weight, or a number that may explain an answer."""

import math
from collections.abc import Sequence

from survey_app.estimate.group_estimates import GroupsError
from survey_app.estimate.refusal_codes import RefusalCode

LARGEST = 1e15
Weights = tuple[tuple[str, float], ...]  # by slug; numbers of people, or any numbers in proportion to them


def parse_weights(entries: Sequence[tuple[str, str]], surveys: Sequence[tuple[str, str]]) -> Weights | None:
    """Return the weights of surveys, given as pairs of slug and name, in their order; None if none is typed.

    Raise GroupsError, with a message for the reader, if no total can be computed from them.
    """
    if not entries:
        return None
    weights = parse_numbers(entries, surveys, "weight", 0.0)
    if not any(weight for _, weight in weights):
        raise GroupsError(RefusalCode.ZERO_WEIGHTS, "at least one weight must be above 0")
    return weights


def parse_numbers(
    entries: Sequence[tuple[str, str]], surveys: Sequence[tuple[str, str]], noun: str, least: float
) -> Weights:
    """Parse a number of at least `least` for each survey. Raise GroupsError if one is missing, invalid or unknown."""
    texts, slugs = dict(entries), [slug for slug, _ in surveys]
    if unknown := [slug for slug in texts if slug not in slugs]:
        raise GroupsError(
            RefusalCode.UNEXPECTED_NUMBER,
            f"there is a {noun} for {unknown[0]!r}, which is not among {', '.join(slugs)}",
        )
    if names := [name for slug, name in surveys if slug not in texts]:
        verb = "lacks" if len(names) == 1 else "lack"
        raise GroupsError(
            RefusalCode.MISSING_NUMBER, f"{' and '.join(names)} still {verb} a {noun}; give one to all or none"
        )
    return tuple((slug, _parse_number(texts[slug], noun, least)) for slug in slugs)


def _parse_number(text: str, noun: str, least: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not max(least, -LARGEST) <= value <= LARGEST:
        from_zero = " of at least 0" if least == 0 else ""
        raise GroupsError(
            RefusalCode.INVALID_NUMBER,
            f"“{text[:40]}” is not a valid {noun}: type a number{from_zero}, such as 5000 or 0.25, without commas",
        )
    return value
