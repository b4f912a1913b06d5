"""Accounts and tokens in the SQLite store."""

import secrets
import sqlite3
from typing import Any

from survey_app.store.records import StoreError, User
from survey_app.store.sqlite.database import Database

SELECT_USER = "select key, name, password, admin, disabled, stamp from users"


class Accounts(Database):
    """Who may publish."""

    def add_user(self, name: str, password: str) -> User:
        """Add an account; the first is the administrator's."""
        try:
            with self._transaction() as connection:
                first = connection.execute("select count(*) from users").fetchone()[0] == 0
                connection.execute(
                    "insert into users (name, password, admin, disabled, stamp) values (?, ?, ?, 0, ?)",
                    (name, password, first, secrets.token_hex(8)),
                )
        except sqlite3.IntegrityError:
            raise StoreError(f"there is an account {name!r} already") from None
        user = self.user_named(name)
        if user is None:
            raise StoreError(f"the account {name!r} is gone")
        return user

    def user(self, key: int) -> User | None:
        """The account with this key."""
        return _user(self._one(f"{SELECT_USER} where key = ?", key))

    def user_named(self, name: str) -> User | None:
        """The account with this name."""
        return _user(self._one(f"{SELECT_USER} where name = ?", name))

    def users(self) -> list[User]:
        """All accounts."""
        return [found for row in self._all(SELECT_USER) if (found := _user(row))]

    def set_password(self, user: User, password: str) -> None:
        """Change the hash of a password, and end the sessions of its account."""
        with self._transaction() as connection:
            connection.execute(
                "update users set password = ?, stamp = ? where key = ?", (password, secrets.token_hex(8), user.key)
            )

    def set_disabled(self, user: User, disabled: bool) -> None:
        """Close or reopen an account, and end its sessions."""
        with self._transaction() as connection:
            connection.execute(
                "update users set disabled = ?, stamp = ? where key = ?", (disabled, secrets.token_hex(8), user.key)
            )

    def end_sessions(self, user: User) -> None:
        """End all sessions of an account."""
        with self._transaction() as connection:
            connection.execute("update users set stamp = ? where key = ?", (secrets.token_hex(8), user.key))

    def add_token(self, user: User, token_hash: bytes) -> None:
        """Remember the hash of an API token."""
        with self._transaction() as connection:
            connection.execute("insert into tokens values (?, ?)", (token_hash, user.key))

    def user_of_token(self, token_hash: bytes) -> User | None:
        """The account that a token speaks for, unless it is disabled."""
        row = self._one(
            f"{SELECT_USER} where disabled = 0 and key = (select user from tokens where hash = ?)", token_hash
        )
        return _user(row)


def _user(row: Any) -> User | None:
    if row is None:
        return None
    return User(row[0], row[1], row[2], bool(row[3]), bool(row[4]), row[5])
