"""Exact sampling from random bytes: integers only, byte for byte the same in every implementation.

A coin is eight bytes, read as a big-endian number u. It shows heads if u < T, so heads have probability T/2^64 exactly.
No floating point is involved, and no byte is drawn without being used. A source that returns a wrong number of bytes
raises an error, and never biases a coin.
"""

import struct
from collections.abc import Callable

RandomBytes = Callable[[int], bytes]

DENOMINATOR = 2**64

_word = struct.Struct(">Q").unpack
_half_word = struct.Struct(">I").unpack


def draw_bytes(count: int, random_bytes: RandomBytes) -> bytes:
    """Return exactly `count` random bytes; raise ValueError if the source returns another number of them."""
    data = random_bytes(count)
    if len(data) != count:
        raise ValueError(f"random_bytes({count}) returned {len(data)} bytes")
    return data


def draw_word(random_bytes: RandomBytes) -> int:
    """Return a uniform integer from 0 to 2^64 − 1."""
    return int(_word(random_bytes(8))[0])


def flip_coin(threshold: int, random_bytes: RandomBytes) -> bool:
    """Return True (heads) with probability threshold/2^64."""
    return draw_word(random_bytes) < threshold


def draw_below(bound: int, random_bytes: RandomBytes) -> int:
    """Return a uniform integer from 0 to bound − 1, by rejection sampling."""
    while True:
        (x,) = _half_word(random_bytes(4))
        if x < 2**32 - 2**32 % bound:
            return int(x % bound)


def pick(count: int, items: list[int], random_bytes: RandomBytes) -> list[int]:
    """Return the first `count` of a partial Fisher–Yates shuffle of `items`, which is reordered in place.

    The words for all draws are read at once, and the words for rejected draws are read again.
    These are the same bytes, in the same order, as one call of `draw_below` for each draw would read.
    """
    size, position = len(items), 0
    while position < count:
        for x in struct.unpack(f">{count - position}I", random_bytes(4 * (count - position))):
            remaining = size - position
            offset = x % remaining
            if x - offset > 2**32 - remaining:
                continue
            partner = position + offset
            items[position], items[partner] = items[partner], items[position]
            position += 1
    return items[:count]
