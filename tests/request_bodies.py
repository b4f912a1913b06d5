"""Request bodies that tell how much of them was read."""


class UnreadableBody:
    """A body that must not be read."""

    def read(self, *_: object) -> bytes:
        raise AssertionError("the body was read")

    readline = readlines = readinto = __iter__ = read


class EndlessBody:
    """A body that never ends, and counts the bytes that were read."""

    bytes_read = 0

    def read(self, count: int = -1) -> bytes:
        assert count >= 0, "asked for all of it"
        self.bytes_read += count
        return b" " * count
