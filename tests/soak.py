"""The length of a soak test: all of it by `make soak`, a part of it by `make soak SOAK=0.01`."""

import math
import os


def soak_count(count: int) -> int:
    """Return so many, or the requested part of them, but at least one."""
    return math.ceil(count * float(os.environ.get("SOAK", "1")))
