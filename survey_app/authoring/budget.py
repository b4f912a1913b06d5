"""The split of the author's total ε among the fields, if every device answers all of them.

Fixed parts (a design, a question's own ε) are charged first. The rest is shared by weight. All numbers are exact
fractions. If a device answers only one field, nothing is split: each field has the whole total.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Claim:
    """The claim of a field: a fixed ε, a weight in the rest, or both for a joint field."""

    fixed: Fraction
    weight: Fraction


def split_epsilon(claims: Sequence[Claim], total: Fraction) -> list[Fraction] | None:
    """Return the ε of every field, or None if the fixed parts exceed the total or leave nothing to share."""
    remaining = total - sum(claim.fixed for claim in claims)
    weights = sum(claim.weight for claim in claims)
    if remaining < 0 or (weights and not remaining):
        return None
    scale = remaining / weights if weights else Fraction(0)
    return [claim.fixed + scale * claim.weight for claim in claims]
