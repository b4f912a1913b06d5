"""Channels describe what each mechanism does to shares, in one module for each mechanism.

Only this module asks for the type of a mechanism. It uses a match instead of a dict of classes, so that mypy reports a
mechanism without a channel and a channel without a method.
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

CACHE_SIZE = 4096  # number of channels that are cached, with their computed properties


@lru_cache(maxsize=CACHE_SIZE)
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
