"""How the author's total ε is shared among the fields.

What is fixed (a design, an ε of its own) is charged first; the rest is shared by weight. With `ask: s` a device
answers s fields, so the scale is the largest at which the s most expensive fields together spend the total. All in
exact fractions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Claim:
    """What a field wants: a fixed ε, a weight in the rest, or, for a joint field, some of both."""

    fixed: Fraction
    weight: Fraction


def share(claims: Sequence[Claim], total: Fraction, ask: int) -> list[Fraction] | None:
    """ε for every field, or None if the fixed part leaves nothing to share.

    The sum of the s largest is a convex, increasing function of the scale; Newton's steps from the right reach the
    scale at which it equals the total after finitely many, exactly.
    """
    if _spend([claim.fixed for claim in claims], ask) > total:
        return None
    weights = [claim.weight for claim in claims if claim.weight]
    if not weights:
        return [claim.fixed for claim in claims]
    scale = total / min(weights) + 1
    while scale > 0:
        parts = [claim.fixed + scale * claim.weight for claim in claims]
        if _spend(parts, ask) <= total:
            return parts
        top = sorted(range(len(claims)), key=lambda i: parts[i], reverse=True)[:ask]
        weight = sum(claims[i].weight for i in top)
        if not weight:
            return None
        scale = (total - sum(claims[i].fixed for i in top)) / weight
    return None


def _spend(parts: Sequence[Fraction], ask: int) -> Fraction:
    return sum(sorted(parts, reverse=True)[:ask], Fraction(0))
