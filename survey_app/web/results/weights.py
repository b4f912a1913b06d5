"""Numbers that a reader types, one for each group or survey: its weight, or what is known of it."""

import math
from collections.abc import Sequence

from survey_app.estimate.group_estimates import GroupsError

LARGEST = 1e15
Weights = tuple[tuple[str, float], ...]  # by slug; people, or any other numbers in proportion


def weights_of(typed: Sequence[tuple[str, str]], named: Sequence[tuple[str, str]]) -> Weights | None:
    """The weights of these surveys, slug and name of each, in their order; None if none is typed.

    GroupsError, in words for whoever typed them, if there cannot be a total by them.
    """
    if not typed:
        return None
    weights = numbers_of(typed, named, "weight", 0.0)
    if not any(weight for _, weight in weights):
        raise GroupsError("not all weights can be 0")
    return weights


def numbers_of(typed: Sequence[tuple[str, str]], named: Sequence[tuple[str, str]], what: str, least: float) -> Weights:
    """A number from `least` for each of these surveys; GroupsError if one lacks it, or has none that does."""
    given, slugs = dict(typed), [slug for slug, _ in named]
    if strange := [slug for slug in given if slug not in slugs]:
        raise GroupsError(f"there is a {what} for {strange[0]!r}, which is not among {', '.join(slugs)}")
    if lacking := [name for slug, name in named if slug not in given]:
        still = "lacks" if len(lacking) == 1 else "lack"
        raise GroupsError(f"{' and '.join(lacking)} still {still} a {what}; give one to all or none")
    return tuple((slug, _number(given[slug], what, least)) for slug in slugs)


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
