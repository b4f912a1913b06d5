"""Libraries to compare with: which ones are installed, and the names of the others.

They need an environment of their own (`make bench`), since they pin old versions of packages that Candor uses.
If one is missing, the table is made without it and says so. Candor's own code is imported directly.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

Product = TypeVar("Product")


def make_installed(makers: Mapping[str, Callable[[], Product]]) -> tuple[list[Product], list[str]]:
    """Return the results of the makers whose library is installed, and a note for each library that is not."""
    results, absent = [], []
    for name, maker in makers.items():
        try:
            results.append(maker())
        except ModuleNotFoundError as error:
            absent.append(f"{name} (not installed: {error.name})")
    return results, absent
