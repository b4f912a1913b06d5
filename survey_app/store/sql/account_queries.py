"""Queries on accounts and tokens."""

import secrets
from datetime import date
from typing import Any

from survey_app.store.records import StoreError, Token, User, token_id
from survey_app.store.sql.dialect import Base

MOST_TOKENS = 100  # for one account
SELECT_USER = "select key, name, password, admin, disabled, stamp from users"


class Accounts(Base):
    """The accounts of researchers and their API tokens."""

    def add_user(self, name: str, password: str) -> User:
        """Add an account; the first is the administrator's.

        Raise StoreError if the name is taken.
        """
        with self._transaction() as connection:
            if connection.execute("select 1 from users where name = ?", (name,)).fetchone():
                raise StoreError(f"there is already an account {name!r}; choose another name")
            first = connection.execute("select count(*) from users").fetchone()[0] == 0
            connection.execute(
                "insert into users (name, password, admin, disabled, stamp) values (?, ?, ?, 0, ?)",
                (name, password, int(first), secrets.token_hex(8)),
            )
        user = self.user_by_name(name)
        if user is None:
            raise StoreError(f"the account {name!r} no longer exists")
        return user

    def user(self, key: int) -> User | None:
        """Return the account with this key, or None."""
        return _user(self._fetch_one(f"{SELECT_USER} where key = ?", key))

    def user_by_name(self, name: str) -> User | None:
        """Return the account with this name, or None."""
        return _user(self._fetch_one(f"{SELECT_USER} where name = ?", name))

    def users(self) -> list[User]:
        """Return all accounts."""
        return [user for row in self._fetch_all(f"{SELECT_USER} order by key") if (user := _user(row))]

    def set_password(self, user: User, password: str, *, keep_tokens: bool = False) -> None:
        """Change the hash of a password and end the sessions of its account.

        Its tokens are revoked unless `keep_tokens` is set.
        """
        with self._transaction() as connection:
            connection.execute(
                "update users set password = ?, stamp = ? where key = ?", (password, secrets.token_hex(8), user.key)
            )
            if not keep_tokens:
                connection.execute('delete from tokens where "user" = ?', (user.key,))

    def set_disabled(self, user: User, disabled: bool) -> None:
        """Close or reopen an account, and end its sessions.

        Raise StoreError for the last administrator whose account is open.
        """
        with self._transaction() as connection:
            if disabled:
                open_admins = connection.execute("select key from users where admin = 1 and disabled = 0").fetchall()
                if [row[0] for row in open_admins] == [user.key]:
                    raise StoreError(f"{user.name} is the last administrator, so the account cannot be disabled")
            connection.execute(
                "update users set disabled = ?, stamp = ? where key = ?",
                (int(disabled), secrets.token_hex(8), user.key),
            )

    def end_sessions(self, user: User) -> None:
        """End all sessions of an account."""
        with self._transaction() as connection:
            connection.execute("update users set stamp = ? where key = ?", (secrets.token_hex(8), user.key))

    def add_token(self, user: User, token_hash: bytes) -> None:
        """Store the hash of an API token, and the day.

        Raise StoreError if the account has too many tokens.
        """
        with self._transaction() as connection:
            count = connection.execute('select count(*) from tokens where "user" = ?', (user.key,)).fetchone()[0]
            if count >= MOST_TOKENS:
                raise StoreError(f"{user.name} already has {count} tokens; revoke some")
            day = self.clock().date().isoformat()
            connection.execute("insert into tokens values (?, ?, ?)", (token_hash, user.key, day))

    def tokens(self, user: User) -> list[Token]:
        """Return the tokens of an account, the oldest first."""
        rows = self._fetch_all('select hash, made from tokens where "user" = ? order by made, hash', user.key)
        return [Token(token_id(bytes(row[0])), date.fromisoformat(row[1])) for row in rows]

    def revoke_token(self, user: User, token: str) -> bool:
        """Revoke one token of an account; return False if the account has no token with this id."""
        with self._transaction() as connection:
            rows = connection.execute('select hash from tokens where "user" = ?', (user.key,)).fetchall()
            matches = [row for row in rows if token_id(bytes(row[0])) == token]
            connection.executemany("delete from tokens where hash = ?", matches)
        return bool(matches)

    def user_of_token(self, token_hash: bytes) -> User | None:
        """Return the account that a token belongs to, or None if it is disabled or there is none."""
        row = self._fetch_one(
            f'{SELECT_USER} where disabled = 0 and key = (select "user" from tokens where hash = ?)', token_hash
        )
        return _user(row)


def _user(row: Any) -> User | None:
    if row is None:
        return None
    return User(row[0], row[1], row[2], bool(row[3]), bool(row[4]), row[5])
