"""The interface that the shared queries need from a database.

It has one writing transaction at a time over all processes, and some operations that SQLite and PostgreSQL spell
differently.

In queries `?` marks a value. A parameter that may be None is cast, since PostgreSQL has to know its type. Booleans are
1 and 0. `user` is quoted, since it is a reserved word of SQL.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, ClassVar, Protocol


class Cursor(Protocol):
    """The result of a query."""

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

    DEFINITION_CONTAINS: ClassVar[str]  # the SQL condition that a definition contains some bytes
    clock: Callable[[], datetime]

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[Connection]:
        """Open a writing transaction, alone among all processes.

        Raise Unavailable if it cannot be made durable.
        """

    @abstractmethod
    def _fetch_all(self, query: str, *values: Any) -> list[Any]: ...

    @abstractmethod
    def _fetch_one(self, query: str, *values: Any) -> Any: ...

    @abstractmethod
    def _insert(self, connection: Connection, query: str, values: Sequence[Any]) -> int:
        """Insert a row and return its key."""

    @abstractmethod
    def _create_tally(self, connection: Connection, key: int, width: int) -> None:
        """Create the tally of a new survey, and storage for its reports."""

    @abstractmethod
    def _finish(self, connection: Connection, keys: Sequence[int]) -> None:
        """Take the last step of surveys, for good."""

    @abstractmethod
    def _reveal(self, connection: Connection, keys: Sequence[int]) -> None:
        """Show the withheld reports of surveys."""

    @abstractmethod
    def _drop(self, connection: Connection, keys: Sequence[int]) -> None:
        """Delete the reports and tallies of surveys."""

    @abstractmethod
    def _mark_for_rewrite(self, connection: Connection) -> None:
        """Record that rows deleted in this transaction may remain readable on disk until a rewrite."""

    @abstractmethod
    def tidy(self, *, now: bool = False) -> bool: ...


def total_of(connection: Connection, keys: Sequence[int]) -> int:
    """Return the number of reports of some surveys in all: for quotas, never to be shown."""
    marks = ", ".join("?" * len(keys))
    row = connection.execute(f"select sum(total) from tallies where survey in ({marks})", keys).fetchone()
    return int(row[0] or 0)
