"""When reports are shown: no two states that anybody sees differ by fewer than STEP reports.

Reports wait, *pending*, until there are twice a step of them; then all but a step of them are shown. Those that stay
are drawn at random, so that nobody who watches reports arrive can tell which of them a state holds. At closing the rest
is shown if it is a step, and otherwise never: so results begin with 2·STEP reports, or at closing with STEP.
"""

import random
from collections.abc import Callable, Sequence

STEP = 20  # reports: what is shown advances by no fewer

ROOM = STEP  # reports that may come while an owner decides

Draw = Callable[[Sequence[bytes], int], list[bytes]]
_system: Draw = random.SystemRandom().sample


def may_have(limit: int, shown: int, groups: int = 1) -> bool:
    """Whether there may be so many reports already, or soon. Only what is shown is asked, so the answer tells nothing:
    fewer than 2·STEP reports of each group are pending."""
    return limit < shown + 2 * STEP * groups + ROOM


def stay(pending: Sequence[bytes], *, final: bool, draw: Draw = _system) -> list[bytes]:
    """Which of the pending ids stay pending, in an order that tells nothing; the others are shown now."""
    if final:
        return sorted(pending) if len(pending) < STEP else []
    if len(pending) < 2 * STEP:
        return sorted(pending)
    return sorted(draw(pending, STEP))
