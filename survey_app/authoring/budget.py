"""How the author's total ε is split among the fields, where every device answers all of them.

What is fixed (a design, an ε of its own) is charged first; the rest is shared by weight. All in exact fractions. Where
a device answers one field only there is nothing to split: each has the whole total.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Claim:
    """What a field wants: a fixed ε, a weight in the rest, or, for a joint field, some of both."""

    fixed: Fraction
    weight: Fraction


def split(claims: Sequence[Claim], total: Fraction) -> list[Fraction] | None:
    """ε for every field, or None if the fixed part is too much, or leaves nothing to share."""
    rest = total - sum(claim.fixed for claim in claims)
    weights = sum(claim.weight for claim in claims)
    if rest < 0 or (weights and not rest):
        return None
    scale = rest / weights if weights else Fraction(0)
    return [claim.fixed + scale * claim.weight for claim in claims]
