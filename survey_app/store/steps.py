"""The rule for showing reports: no two published results differ by fewer than STEP reports.

Reports wait, *pending*, until there are 2·STEP of them. Then STEP of them, drawn at random, stay pending, and the
others are shown. An observer who watches reports arrive cannot tell which of them the results contain. At closing
the pending reports are shown if there are at least STEP, and otherwise never. So results begin with 2·STEP reports,
or at closing with STEP.
"""

import random
from collections.abc import Callable, Sequence

STEP = 20  # the least number of reports by which results advance

ARRIVAL_MARGIN = STEP  # reports that may arrive while an owner decides

Draw = Callable[[Sequence[bytes], int], list[bytes]]
_draw_securely: Draw = random.SystemRandom().sample


def could_reach_limit(limit: int, shown_count: int, groups: int = 1) -> bool:
    """Return whether a survey may already have `limit` reports, or will soon.

    The answer reveals nothing, because it depends only on the reports that are shown. Fewer than 2·STEP reports of each
    group are pending.
    """
    return limit < shown_count + 2 * STEP * groups + ARRIVAL_MARGIN


def choose_pending(pending: Sequence[bytes], *, final: bool, draw: Draw = _draw_securely) -> list[bytes]:
    """Return the pending ids that stay pending, sorted to hide their order; the others are shown now."""
    if final:
        return sorted(pending) if len(pending) < STEP else []
    if len(pending) < 2 * STEP:
        return sorted(pending)
    return sorted(draw(pending, STEP))
