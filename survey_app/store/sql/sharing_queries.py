"""Queries on sharing: the accounts that a survey is shared with, and the links to its results.

Both belong to a survey with all its versions, or to a study with all its groups. They are deleted with it, so that the
next owner of the slug shares nothing. Only the hash of a link is stored, and the day it was made; its use is not
recorded.
"""

from datetime import date

from survey_app.store.audit_events import EventCode, EventData
from survey_app.store.records import Link, PublishedSurvey, Role, Share, StoreError, User, token_id
from survey_app.store.sql.survey_queries import NEWEST, Surveys

MOST_SHARES, MOST_LINKS = 100, 100  # for one survey
LONGEST_LABEL = 80


class AccessGrants(Surveys):
    """The access that an owner grants to others, and withdraws."""

    def share(self, published: PublishedSurvey, user: User, role: Role | None) -> None:
        """Give an account a role in a survey, in place of any role it has; None withdraws its role.

        Raise StoreError if the account cannot have this role.
        """
        if user.key == published.owner:
            raise StoreError(f"{user.name} already owns {published.name}")
        if role is not None and (user.disabled or role is Role.OWNER):
            raise StoreError(f"the account {user.name} is disabled" if user.disabled else "a survey has only one owner")
        name = published.name
        with self._transaction() as connection:
            _check_exists(self.owner_of(name), published)
            if role is None:
                cursor = connection.execute('delete from shares where slug = ? and "user" = ?', (name, user.key))
                if not cursor.rowcount:
                    raise StoreError(f"{name} is not shared with {user.name}")
                self._log(connection, published.owner, name, EventCode.UNSHARED, EventData(account=user.name))
                return
            query = 'select count(*) from shares where slug = ? and "user" != ?'
            count = connection.execute(query, (name, user.key)).fetchone()[0]
            if count >= MOST_SHARES:
                raise StoreError(f"{name} is already shared with {count} accounts; withdraw some")
            values = (name, user.key, role.label)
            connection.execute('delete from shares where slug = ? and "user" = ?', values[:2])
            connection.execute("insert into shares values (?, ?, ?)", values)
            data = EventData(account=user.name, role=role.label)
            self._log(connection, published.owner, name, EventCode.SHARED, data)

    def shares(self, name: str) -> list[Share]:
        """Return the accounts that a survey or study is shared with, sorted by name."""
        rows = self._fetch_all(
            'select name, role from shares join users on key = "user" where slug = ? order by lower(name), name', name
        )
        return [Share(account, Role[role.upper()]) for account, role in rows]

    def role_of(self, user: User, published: PublishedSurvey) -> Role | None:
        """Return the role of an account in a survey, or None if it has none."""
        if user.key == published.owner:
            return Role.OWNER
        row = self._fetch_one('select role from shares where slug = ? and "user" = ?', published.name, user.key)
        return Role[row[0].upper()] if row else None

    def shared_with(self, user: int) -> list[PublishedSurvey]:
        """Return the newest version of every slug of another owner that is shared with an account."""
        return self._read_versions(
            f"where version = (select {NEWEST} from surveys where slug = s.slug) and owner != ?"
            " and case when study = '' then slug else study end in (select slug from shares where \"user\" = ?)"
            " order by slug",
            user,
            user,
        )

    def owner_of(self, name: str) -> int | None:
        """Return the owner of a survey or study of this name, or of a group of this slug; None if there is none."""
        row = self._fetch_one("select owner from surveys where slug = ? or study = ? limit 1", name, name)
        return row and int(row[0])

    def add_link(self, published: PublishedSurvey, label: str, hashed: bytes) -> None:
        """Store the hash of a link to results, its label and the day.

        Raise StoreError if the label is invalid, or if there are too many links.
        """
        if not label.isprintable() or not 1 <= len(label) <= LONGEST_LABEL or label != label.strip():
            raise StoreError(f"say in 1 to {LONGEST_LABEL} characters what the link is for, such as: the works council")
        name = published.name
        with self._transaction() as connection:
            _check_exists(self.owner_of(name), published)
            count = connection.execute("select count(*) from links where slug = ?", (name,)).fetchone()[0]
            if count >= MOST_LINKS:
                raise StoreError(f"{name} already has {count} links; withdraw some")
            day = self.clock().date().isoformat()
            connection.execute(
                "insert into links (hash, slug, label, made) values (?, ?, ?, ?)", (hashed, name, label, day)
            )
            self._log(connection, published.owner, name, EventCode.LINK_MADE, EventData(label=label))

    def links(self, name: str) -> list[Link]:
        """Return the links to the results of a survey or study, the oldest first."""
        rows = self._fetch_all("select hash, label, made from links where slug = ? order by made, hash", name)
        return [Link(token_id(bytes(row[0])), row[1], date.fromisoformat(row[2])) for row in rows]

    def withdraw_link(self, published: PublishedSurvey, link: str) -> bool:
        """Withdraw one link; return False if there is none with this id."""
        name = published.name
        with self._transaction() as connection:
            rows = connection.execute("select hash, label from links where slug = ?", (name,)).fetchall()
            matches = [row for row in rows if token_id(bytes(row[0])) == link]
            for hashed, label in matches:
                connection.execute("delete from links where hash = ?", (hashed,))
                self._log(connection, published.owner, name, EventCode.LINK_WITHDRAWN, EventData(label=label))
        return bool(matches)

    def link_target(self, hashed: bytes) -> str | None:
        """Return the name of the survey or study whose results a link opens.

        Return None if the link was withdrawn, or if the account of the owner is closed.
        """
        row = self._fetch_one(
            "select links.slug from links join surveys s on s.slug = links.slug or s.study = links.slug"
            " join users on users.key = s.owner where hash = ? and disabled = 0 limit 1",
            hashed,
        )
        return row and str(row[0])


def _check_exists(owner: int | None, published: PublishedSurvey) -> None:
    """Raise StoreError if a survey was deleted in the meantime.

    Its name may belong to another owner by now, so it must not be shared.
    """
    if owner != published.owner:
        raise StoreError(f"{published.name} no longer exists")
