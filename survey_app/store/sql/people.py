"""Who else may see a survey, or work on it: accounts it is shared with, and links to its results.

Both belong to the whole, a survey with all its versions or a study with all its groups, and go with it when it is
deleted: whoever takes its slug afterwards shares nothing. Of a link the hash is kept, and the day it was made; whether
anybody has used it is not.
"""

from datetime import date

from survey_app.store.records import Link, Published, Role, Share, StoreError, User, token_id
from survey_app.store.sql.surveys import NEWEST, Surveys

MOST_SHARES, MOST_LINKS = 100, 100  # of one survey
LONGEST_LABEL = 80


class People(Surveys):
    """What an owner gives others, and takes back."""

    def share(self, published: Published, user: User, role: Role | None) -> None:
        """Let an account see a survey or work on it, in another role if it has one; None takes that back."""
        if user.key == published.owner:
            raise StoreError(f"{published.name} belongs to {user.name} already")
        if role is not None and (user.disabled or role is Role.OWNER):
            raise StoreError(f"{user.name} is a closed account" if user.disabled else "a survey has one owner")
        name = published.name
        with self._transaction() as connection:
            _check_there(self.owner_of(name), published)
            if role is None:
                gone = connection.execute('delete from shares where slug = ? and "user" = ?', (name, user.key))
                if not gone.rowcount:
                    raise StoreError(f"{name} is not shared with {user.name}")
                self._note(connection, published.owner, name, f"no longer shared with {user.name}")
                return
            others = 'select count(*) from shares where slug = ? and "user" != ?'
            count = connection.execute(others, (name, user.key)).fetchone()[0]
            if count >= MOST_SHARES:
                raise StoreError(f"{name} is shared with {count} accounts already; withdraw some")
            values = (name, user.key, role.said)
            connection.execute('delete from shares where slug = ? and "user" = ?', values[:2])
            connection.execute("insert into shares values (?, ?, ?)", values)
            self._note(connection, published.owner, name, f"shared with {user.name} as {role.said}")

    def shares(self, name: str) -> list[Share]:
        """The accounts that a survey or study is shared with, by their names."""
        rows = self._all(
            'select name, role from shares join users on key = "user" where slug = ? order by lower(name), name', name
        )
        return [Share(account, Role[role.upper()]) for account, role in rows]

    def role_of(self, user: User, published: Published) -> Role | None:
        """What an account is to a survey; None for a stranger."""
        if user.key == published.owner:
            return Role.OWNER
        row = self._one('select role from shares where slug = ? and "user" = ?', published.name, user.key)
        return Role[row[0].upper()] if row else None

    def shared_with(self, user: int) -> list[Published]:
        """The newest version of every slug that is another's, and shared with an account."""
        return self._read(
            f"where version = (select {NEWEST} from surveys where slug = s.slug) and owner != ?"
            " and case when study = '' then slug else study end in (select slug from shares where \"user\" = ?)"
            " order by slug",
            user,
            user,
        )

    def owner_of(self, name: str) -> int | None:
        """Whose a survey or study of this name is, or a group of this slug; None if it is nobody's."""
        row = self._one("select owner from surveys where slug = ? or study = ? limit 1", name, name)
        return row and int(row[0])

    def add_link(self, published: Published, label: str, hashed: bytes) -> None:
        """Remember the hash of a link to results, what it is for, and the day."""
        if not label.isprintable() or not 1 <= len(label) <= LONGEST_LABEL or label != label.strip():
            raise StoreError(f"say in 1 to {LONGEST_LABEL} characters what the link is for, such as: the works council")
        name = published.name
        with self._transaction() as connection:
            _check_there(self.owner_of(name), published)
            count = connection.execute("select count(*) from links where slug = ?", (name,)).fetchone()[0]
            if count >= MOST_LINKS:
                raise StoreError(f"{name} has {count} links already; withdraw some")
            made = self.clock().date().isoformat()
            connection.execute(
                "insert into links (hash, slug, label, made) values (?, ?, ?, ?)", (hashed, name, label, made)
            )
            self._note(connection, published.owner, name, f"made a link to the results, for {label}")

    def links(self, name: str) -> list[Link]:
        """The links to the results of a survey or study, the oldest first."""
        rows = self._all("select hash, label, made from links where slug = ? order by made, hash", name)
        return [Link(token_id(bytes(row[0])), row[1], date.fromisoformat(row[2])) for row in rows]

    def withdraw_link(self, published: Published, link: str) -> bool:
        """End one link; False if there is none of this id."""
        name = published.name
        with self._transaction() as connection:
            rows = connection.execute("select hash, label from links where slug = ?", (name,)).fetchall()
            ended = [row for row in rows if token_id(bytes(row[0])) == link]
            for hashed, label in ended:
                connection.execute("delete from links where hash = ?", (hashed,))
                self._note(connection, published.owner, name, f"withdrew the link to the results, for {label}")
        return bool(ended)

    def link_opens(self, hashed: bytes) -> str | None:
        """What a link opens the results of, unless it was withdrawn, or the account of its owner is closed."""
        row = self._one(
            "select links.slug from links join surveys s on s.slug = links.slug or s.study = links.slug"
            " join users on users.key = s.owner where hash = ? and disabled = 0 limit 1",
            hashed,
        )
        return row and str(row[0])


def _check_there(owner: int | None, published: Published) -> None:
    """A survey that was deleted meanwhile is shared with nobody: its name may be another's by now."""
    if owner != published.owner:
        raise StoreError(f"{published.name} is gone")
