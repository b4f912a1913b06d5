"""The rule for showing reports: no two published states differ by fewer than STEP reports.

Reports wait, *pending*, until there are twice a step of them; then all but a step of them are shown. Those that stay
pending are drawn at random. An observer who watches reports arrive cannot tell which of them a state contains. At
closing the remaining reports are shown if they are a step, and otherwise never. So results begin with 2·STEP reports,
or at closing with STEP.
"""

import random
from collections.abc import Callable, Sequence

STEP = 20  # the least number of reports by which results advance

ARRIVAL_MARGIN = STEP  # reports that may arrive while an owner decides

Draw = Callable[[Sequence[bytes], int], list[bytes]]
_system: Draw = random.SystemRandom().sample


def may_reach_limit(limit: int, shown_count: int, groups: int = 1) -> bool:
    """Return whether a survey may already have `limit` reports, or will soon.

    The answer reveals nothing, because it depends only on the reports that are shown. Fewer than 2·STEP reports of each
    group are pending.
    """
    return limit < shown_count + 2 * STEP * groups + ARRIVAL_MARGIN


def choose_pending(pending: Sequence[bytes], *, final: bool, draw: Draw = _system) -> list[bytes]:
    """Return the pending ids that stay pending, sorted to hide their order; the others are shown now."""
    if final:
        return sorted(pending) if len(pending) < STEP else []
    if len(pending) < 2 * STEP:
        return sorted(pending)
    return sorted(draw(pending, STEP))
