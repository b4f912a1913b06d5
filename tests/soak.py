"""How long a soak lasts: all of it by `make soak`, a part of it, for a try, by `make soak SOAK=0.01`."""

import math
import os


def part_of(count: int) -> int:
    """So many, or the part of them that is asked for; one at the least."""
    return math.ceil(count * float(os.environ.get("SOAK", "1")))
