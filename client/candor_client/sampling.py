"""Exact sampling from random bytes: integers only, byte for byte the same in every implementation.

A coin is eight bytes, read as a big-endian number u, and heads iff u < T, so heads have probability T/2^64 exactly. No
floating point comes near it, nothing else consumes bytes, and no more are drawn than used. A source that returns
another number of bytes than asked for is an error, never a biased coin.
"""

import struct
from collections.abc import Callable

RandomBytes = Callable[[int], bytes]

WHOLE = 2**64

_word = struct.Struct(">Q").unpack
_half_word = struct.Struct(">I").unpack


def take(count: int, random_bytes: RandomBytes) -> bytes:
    """Exactly so many bytes."""
    data = random_bytes(count)
    if len(data) != count:
        raise ValueError(f"random_bytes({count}) returned {len(data)} bytes")
    return data


def word(random_bytes: RandomBytes) -> int:
    """A uniform integer from 0 to 2^64 − 1."""
    return int(_word(random_bytes(8))[0])


def coin(threshold: int, random_bytes: RandomBytes) -> bool:
    """Heads with probability threshold/2^64."""
    return word(random_bytes) < threshold


def below(bound: int, random_bytes: RandomBytes) -> int:
    """A uniform integer from 0 to bound − 1, by rejection: no value is favoured."""
    while True:
        (x,) = _half_word(random_bytes(4))
        if x < 2**32 - 2**32 % bound:
            return int(x % bound)


def pick(count: int, items: list[int], random_bytes: RandomBytes) -> list[int]:
    """The first `count` of a partial Fisher–Yates shuffle of `items`, which it reorders.

    The words for all draws are read at once, and again as many as were rejected: the same bytes in the same order
    as one `below` after the other, and never one more.
    """
    size, done = len(items), 0
    while done < count:
        for x in struct.unpack(f">{count - done}I", random_bytes(4 * (count - done))):
            rest = size - done
            offset = x % rest
            if x - offset > 2**32 - rest:
                continue
            other = done + offset
            items[done], items[other] = items[other], items[done]
            done += 1
    return items[:count]
