"""What the shared queries ask of a database: one writing transaction at a time over all processes, and some words that
SQLite and PostgreSQL spell differently.

Values are marked by `?`; a parameter that may be None is cast, since PostgreSQL wants to know its type; yes and no are
1 and 0; `user` is quoted, being a word of SQL.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, ClassVar, Protocol


class Cursor(Protocol):
    """What became of a query."""

    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Connection(Protocol):
    """A transaction that queries run in."""

    def execute(self, query: str, values: Sequence[Any] = ..., /) -> Cursor: ...
    def executemany(self, query: str, rows: Iterable[Sequence[Any]], /) -> Any: ...


class Base(ABC):
    """A database, as the queries see it."""

    HOLDS: ClassVar[str]  # the condition that a definition has some bytes in it
    clock: Callable[[], datetime]

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[Connection]:
        """One transaction that writes, alone among all processes; Unavailable if it cannot be made durable."""

    @abstractmethod
    def _all(self, query: str, *values: Any) -> list[Any]: ...

    @abstractmethod
    def _one(self, query: str, *values: Any) -> Any: ...

    @abstractmethod
    def _insert(self, connection: Connection, query: str, values: Sequence[Any]) -> int:
        """Insert a row; the key that it got."""

    @abstractmethod
    def _begin(self, connection: Connection, key: int, width: int) -> None:
        """Room for the reports of a new survey, and its tally."""

    @abstractmethod
    def _finish(self, connection: Connection, keys: Sequence[int]) -> None:
        """The last step of surveys, for good."""

    @abstractmethod
    def _reveal(self, connection: Connection, keys: Sequence[int]) -> None:
        """Show what surveys withheld."""

    @abstractmethod
    def _drop(self, connection: Connection, keys: Sequence[int]) -> None:
        """Delete the reports and tallies of surveys."""

    @abstractmethod
    def _mark(self, connection: Connection) -> None:
        """What this transaction takes away may be seen at rest until somebody tidies up."""

    @abstractmethod
    def tidy(self, *, now: bool = False) -> bool: ...


def total_of(connection: Connection, keys: Sequence[int]) -> int:
    """How many reports surveys have, in all: for quotas, never to be shown."""
    marks = ", ".join("?" * len(keys))
    row = connection.execute(f"select sum(total) from tallies where survey in ({marks})", keys).fetchone()
    return int(row[0] or 0)
