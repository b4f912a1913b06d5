"""The libraries of the field that a table stands beside: those that are installed, and the names of the others.

They live in an environment of their own (`make bench`), since they pin old versions of what we use. Where one is
absent the table goes on without it and says so. What is ours never comes through here: it is never absent, only broken.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

Made = TypeVar("Made")


def installed(makers: Mapping[str, Callable[[], Made]]) -> tuple[list[Made], list[str]]:
    """What the libraries make that are installed, and which are not."""
    made, absent = [], []
    for name, maker in makers.items():
        try:
            made.append(maker())
        except ModuleNotFoundError as error:
            absent.append(f"{name} (not installed: {error.name})")
    return made, absent
