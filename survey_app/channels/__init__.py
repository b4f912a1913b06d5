"""What each mechanism does to shares: one module a mechanism, and the only place that asks which one it is.

A match, not a dict of classes: mypy sees here a mechanism without a channel, and a channel without a method.
"""

from functools import lru_cache
from typing import assert_never

from candor_client.mechanisms import Drawn, Flip, Geometric, Mechanism, Subset
from survey_app.channels.channel import Channel
from survey_app.channels.drawn import DrawnChannel
from survey_app.channels.flip import FlipChannel
from survey_app.channels.geometric import GeometricChannel
from survey_app.channels.subset import SubsetChannel

__all__ = ["Channel", "channel_of"]

MOST_KEPT = 4096  # channels, with what they have computed


@lru_cache(maxsize=MOST_KEPT)
def channel_of(mechanism: Mechanism) -> Channel:
    """Return the channel of a mechanism."""
    match mechanism:
        case Flip():
            return FlipChannel(mechanism)
        case Subset():
            return SubsetChannel(mechanism)
        case Drawn():
            return DrawnChannel(mechanism)
        case Geometric():
            return GeometricChannel(mechanism)
        case _:
            assert_never(mechanism)
