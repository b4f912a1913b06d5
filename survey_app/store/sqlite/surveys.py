"""Surveys in the SQLite store: versions, states, invitations."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np

from client.definition import Survey
from survey_app.authoring.terms import Terms
from survey_app.store.records import Published, State, StoreError
from survey_app.store.sqlite.database import Database
from survey_app.store.sqlite.drafts import note

SELECT = "select key, definition, state, public, opens, closes, max_reports, invited, owner from surveys"
SHOW_ALL = "update tallies set shown = reports, shown_counts = counts, pending = x''"


class Surveys(Database):
    """What owners publish."""

    def add_survey(
        self,
        survey: Survey,
        terms: Terms,
        *,
        owner: int,
        state: State = State.OPEN,
        invited: bool = False,
        source: bytes | None = None,
    ) -> Published:
        """Publish a new version of a slug; `source` is the author's file it was built from."""
        with self._transaction() as connection:
            last = connection.execute(
                "select max(version), owner from surveys where slug = ?", (survey.slug,)
            ).fetchone()
            if last[0] is not None and last[1] != owner:
                raise StoreError(f"the slug {survey.slug} belongs to somebody else; choose another")
            known = connection.execute(
                "select 1 from surveys where slug = ? and digest = ?", (survey.slug, survey.digest)
            ).fetchone()
            if known:
                raise StoreError(f"this very definition of {survey.slug} is published already: {survey.digest}")
            values = (
                survey.slug, (last[0] or 0) + 1, survey.digest, survey.source, state, terms.public,
                terms.opens and terms.opens.isoformat(), terms.closes and terms.closes.isoformat(), terms.max_reports,
                invited, owner, source,
            )  # fmt: skip
            cursor = connection.execute(
                "insert into surveys (slug, version, digest, definition, state, public, opens, closes, max_reports,"
                " invited, owner, source) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
            key = cursor.lastrowid
            empty = np.zeros(survey.width, dtype=np.int64).tobytes()
            connection.execute("insert into tallies values (?, 0, ?, 0, ?, x'')", (key, empty, empty))
            note(
                connection,
                owner,
                survey.slug,
                f"{'published' if state is State.OPEN else 'added'} {survey.digest[:12]}",
            )
            if state is State.OPEN:
                _end(connection, "slug = ? and key != ? and state = 'open'", survey.slug, key)
        published = self.version(survey.slug, survey.digest)
        if published is None:
            raise StoreError(f"{survey.slug} is gone")
        return published

    def newest(self, slug: str) -> Published | None:
        """The newest version of a slug."""
        return published_from(self._one(f"{SELECT} where slug = ? order by version desc limit 1", slug))

    def version(self, slug: str, digest: str) -> Published | None:
        """One version of a slug."""
        return published_from(self._one(f"{SELECT} where slug = ? and digest = ?", slug, digest))

    def source(self, published: Published) -> bytes | None:
        """The author's file that a version was built from, if it was kept."""
        row = self._one("select source from surveys where key = ?", published.key)
        return bytes(row[0]) if row and row[0] is not None else None

    def surveys(self, owner: int | None = None) -> list[Published]:
        """The newest version of every slug, or of every slug of one owner."""
        rows = self._all(
            f"{SELECT} as s where version = (select coalesce(max(iif(state = 'ready', null, version)), max(version))"
            " from surveys where slug = s.slug) and (? is null or owner = ?) order by slug",
            owner,
            owner,
        )
        return [found for row in rows if (found := published_from(row))]

    def set_state(self, published: Published, state: State) -> None:
        """Open what is ready, or close a survey; at closing the results advance to the last report."""
        with self._transaction() as connection:
            values = (state, published.key, state)
            query = "update surveys set state = ? where key = ? and (state != 'closed' or ? = 'closed')"
            if not connection.execute(query, values).rowcount:
                raise StoreError(f"{published.survey.slug} is closed and stays closed; publish a new version instead")
            note(connection, published.owner, published.survey.slug, "closed" if state is State.CLOSED else "opened")
            if state is State.CLOSED:
                _end(connection, "key = ?", published.key)
            else:
                _end(connection, "slug = ? and key != ? and state = 'open'", published.survey.slug, published.key)
        self.tidy(now=True)

    def delete_survey(self, slug: str) -> None:
        """Delete all versions of a slug with their reports, and wipe the pages they lay on."""
        with self._transaction() as connection:
            rows = connection.execute("select key, owner from surveys where slug = ?", (slug,)).fetchall()
            keys = [row[0] for row in rows]
            for table in ("reports", "tallies", "invitations", "redeemed"):
                connection.executemany(f"delete from {table} where survey = ?", [(key,) for key in keys])
            connection.execute("delete from surveys where slug = ?", (slug,))
            if rows:
                note(connection, rows[0][1], slug, "deleted, with all versions and reports")
        self.tidy(now=True)

    def add_invitations(self, published: Published, hashes: Sequence[bytes]) -> None:
        """Remember the hashes of invitation codes; from then on the survey takes only invited reports."""
        with self._transaction() as connection:
            key = (published.key,)
            reports = connection.execute("select reports from tallies where survey = ?", key).fetchone()[0]
            if reports and not published.invited:
                raise StoreError(f"{published.survey.slug} has reports without invitation already")
            connection.execute("update surveys set invited = 1 where key = ?", key)
            old = connection.execute("select used from redeemed where survey = ?", key).fetchone()
            used = old[0] if old else b""
            rows = [(published.key, hashed, len(used) + i) for i, hashed in enumerate(sorted(hashes))]
            connection.executemany("insert into invitations values (?, ?, ?)", rows)
            connection.execute("replace into redeemed values (?, ?)", (published.key, used + bytes(len(rows))))
            note(connection, published.owner, published.survey.slug, f"made {len(rows)} invitations")


def _end(connection: sqlite3.Connection, where: str, *values: Any) -> None:
    """Close surveys for good: their results advance to the last report."""
    connection.execute(f"{SHOW_ALL} where survey in (select key from surveys where {where})", values)
    connection.execute(f"update surveys set state = 'closed' where {where}", values)


@lru_cache(maxsize=256)
def _survey(definition: bytes) -> Survey:
    return Survey.from_json(definition)


def published_from(row: Any) -> Published | None:
    if row is None:
        return None
    key, definition, state, public, opens, closes, max_reports, invited, owner = row
    terms = Terms(bool(public), _moment(opens), _moment(closes), max_reports)
    return Published(key, _survey(bytes(definition)), State(state), terms, bool(invited), owner)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
