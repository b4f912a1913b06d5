"""Bodies of requests that tell how much of them was read."""


class Untouchable:
    """A body that must not be read."""

    def read(self, *_: object) -> bytes:
        raise AssertionError("the body was read")

    readline = readlines = readinto = __iter__ = read


class Endless:
    """A body that never ends, and remembers how much of it was taken."""

    taken = 0

    def read(self, count: int = -1) -> bytes:
        assert count >= 0, "asked for all of it"
        self.taken += count
        return b" " * count
