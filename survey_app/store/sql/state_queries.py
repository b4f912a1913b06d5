"""The life of a survey from ready to closed: states, terms, dates that pass, and its end.

The groups of one version of a study change together, in one transaction. Closing takes the last step of a survey and
cannot be undone, whether the owner, a date, a quota or a newer version causes it. Dates are therefore recorded before
anything is read (`expire`). A clock that goes back, or differs between two processes, shows nothing twice.

A survey by invitation is withheld until its date (Steps, rule 6). Closing it by hand ends it and shows nothing. A
version that is replaced before its date is never shown.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, assert_never

from candor_client.definition import Survey
from survey_app.authoring.terms import Terms
from survey_app.store.audit_events import EventCode, EventData, compare_terms
from survey_app.store.records import Hold, PublishedSurvey, State, StoreError, Unavailable, ticket_refusal
from survey_app.store.sql.dialect import Connection, total_of
from survey_app.store.sql.draft_queries import Log
from survey_app.store.sql.survey_rows import SELECT, moment_text, published_from, terms_values
from survey_app.store.term_changes import check_change, check_terms, opening_terms

RUNNING = "state in ('open', 'paused')"
SHARED_TERMS = "public = ?, opens = ?, closes = ?, max_reports = ?, deletes = ?"
AWAITS_DATE = f"hold in ({Hold.ALL:d}, {Hold.REST:d})"  # for the date at which results are shown


@dataclass
class Quota:
    """The number of reports that a survey, or all groups of a study in all, still accept."""

    keys: list[int]
    remaining: int


class States(Log):
    """The changes to a survey after it was published."""

    def set_state(self, published: PublishedSurvey, state: State, *, by: int | None = None) -> None:
        """Open, pause or close a survey, with all groups of its study.

        Raise StoreError if its state does not allow the change; a closed survey stays closed.
        """
        slug = published.survey.slug
        with self._transaction() as connection:
            keys = study_keys(connection, published.key)
            before = _read_state(connection, published)
            if before is state:
                return
            if is_final(connection, published.key):
                raise StoreError(f"{slug} is closed and stays closed; publish a new version instead")
            if before is State.READY and state is not State.OPEN:
                raise StoreError(f"{slug} was never opened; open or delete it")
            if before is State.READY and (refusal := ticket_refusal(published.survey, self.clock())):
                raise StoreError(f"{refusal}. Publish a new version with a later date in from")
            if state is State.CLOSED:
                self._close_surveys(connection, keys)
            else:
                _set_state(connection, keys, state)
                if before is State.READY:
                    row = connection.execute(f"{SELECT} where key = ?", (published.key,)).fetchone()
                    terms = opening_terms(published.survey, published_from(row).terms, self.clock())
                    closes = terms.closes and moment_text(terms.closes)
                    rows = [(closes, key) for key in keys]
                    connection.executemany("update surveys set closes = ? where key = ?", rows)
                if state is State.OPEN:
                    if _is_over(connection, keys, self.clock()):
                        raise StoreError(f"the closing date of {slug} has passed; set another one first")
                    self._supersede(connection, published.key)
            self._log(connection, published.owner, slug, _event_code(state), by=by)
        if state is State.PAUSED:
            return
        self.tidy(now=True)

    def set_terms(self, published: PublishedSurvey, terms: Terms, *, by: int | None = None) -> PublishedSurvey:
        """Change the terms of a survey, or of all groups of a study; `size` changes for this group only.

        A date that has passed, or a quota that is reached, closes the survey at once. Of a closed survey only the
        visibility of results, the date of deletion and the sizes of groups can be changed. Raise StoreError for other
        changes.
        """
        slug = published.survey.slug
        with self._transaction() as connection:
            row = connection.execute(f"{SELECT} where key = ?", (published.key,)).fetchone()
            if row is None:
                raise StoreError(f"{slug} no longer exists")
            before = published_from(row)
            check_terms(published.survey, terms, self.clock())
            check_change(before, terms, self.clock(), final=is_final(connection, published.key))
            keys = study_keys(connection, published.key)
            values = terms_values(terms)
            connection.executemany(
                f"update surveys set {SHARED_TERMS} where key = ?", [(*values[:-1], key) for key in keys]
            )
            connection.execute("update surveys set size = ? where key = ?", (values[-1], published.key))
            if changes := compare_terms(before.terms, terms):
                data = EventData(terms=changes)
                self._log(connection, published.owner, slug, EventCode.TERMS_CHANGED, data, by=by)
            closed = self._close_if_due(connection, keys, self.clock())
            if closed:
                self._log(connection, published.owner, slug, EventCode.CLOSED, by=by)
            row = connection.execute(f"{SELECT} where key = ?", (published.key,)).fetchone()
        if closed:
            self.tidy(now=True)
        return published_from(row)

    def expire(self) -> bool:
        """Close surveys that have reached their date, and delete those that have reached the date of deletion.

        Return whether there were any.
        """
        moment = moment_text(self.clock())
        due = f"(({RUNNING} or (state = 'closed' and {AWAITS_DATE})) and closes <= ?) or deletes <= ?"
        if not self._fetch_one(f"select 1 from surveys where {due} limit 1", moment, moment):
            return False
        with self._transaction() as connection:
            query = f"select key, owner, slug, closes from surveys where {RUNNING} and closes <= ?"
            for key, owner, slug, closes in connection.execute(query, (moment,)).fetchall():
                self._close_by_date(connection, [key], self.clock())
                self._log(connection, owner, slug, EventCode.CLOSED_BY_DATE, moment=closes)
            query = f"select key from surveys where state = 'closed' and {AWAITS_DATE} and closes <= ?"
            self._show_withheld(connection, [row[0] for row in connection.execute(query, (moment,)).fetchall()])
            query = "select owner, slug, study, version, deletes from surveys where deletes <= ?"
            for owner, slug, study, version, deletes in connection.execute(query, (moment,)).fetchall():
                if self._delete(connection, study, slug, version):
                    self._log(connection, owner, study or slug, EventCode.DELETED_BY_DATE, moment=deletes)
        return True

    def is_final(self, published: PublishedSurvey) -> bool:
        """Return whether a version will never accept reports again.

        It is closed, replaced by a newer version, or deleted.
        """
        with suppress(Unavailable):
            self.expire()
        row = self._fetch_one("select max(final) from tallies where survey = ?", published.key)
        return bool(row[0] is None or row[0])

    def final_digests(self) -> set[str]:
        """Return the digests of all versions that are final."""
        with suppress(Unavailable):
            self.expire()
        rows = self._fetch_all(
            "select digest from surveys where exists (select 1 from tallies where survey = key and final = 1)"
        )
        return {row[0] for row in rows}

    def delete_survey(self, slug: str) -> None:
        """Delete all versions of a survey or a whole study with their reports, and wipe their pages."""
        with self._transaction() as connection:
            query = "select owner, slug, study from surveys where slug = ? or study = ? limit 1"
            row = connection.execute(query, (slug, slug)).fetchone()
            if row:
                self._delete(connection, row[2], row[1])
                self._log(connection, row[0], row[2] or row[1], EventCode.DELETED)
        self.tidy(now=True)

    def _close_surveys(self, connection: Connection, keys: Sequence[int]) -> None:
        """Close surveys for good, with their last step."""
        _set_state(connection, keys, State.CLOSED)
        self._finish(connection, keys)
        self._mark_for_rewrite(connection)

    def _close_by_date(self, connection: Connection, keys: Sequence[int], moment: datetime) -> None:
        """Close surveys whose date has passed, and show the reports that they withheld until that date."""
        self._close_surveys(connection, keys)
        marks = ", ".join("?" * len(keys))
        query = f"select key from surveys where key in ({marks}) and {AWAITS_DATE} and closes <= ?"
        rows = connection.execute(query, (*keys, moment_text(moment))).fetchall()
        self._show_withheld(connection, [row[0] for row in rows])

    def _show_withheld(self, connection: Connection, keys: Sequence[int]) -> None:
        self._reveal(connection, keys)
        rows = [(int(Hold.NONE), key) for key in keys]
        connection.executemany("update surveys set hold = ? where key = ?", rows)

    def _supersede(self, connection: Connection, key: int) -> None:
        """Close all earlier versions; an earlier version that was never opened stays hidden and cannot be opened.

        Reports that they withhold until a date are never shown. Otherwise a new version, published after one respondent
        has taken a ticket, would reveal the report of that respondent.
        """
        query = (
            "select old.key, old.state from surveys one join surveys old on old.version < one.version"
            " and old.study = one.study and (old.study != '' or old.slug = one.slug) where one.key = ?"
        )
        for old, state in connection.execute(query, (key,)).fetchall():
            match before := State(state):
                case State.READY:
                    self._finish(connection, [old])
                case State.OPEN | State.PAUSED:
                    self._close_surveys(connection, [old])
                case State.CLOSED:
                    pass
                case _:
                    assert_never(before)
            values = (int(Hold.FOREVER), old, moment_text(self.clock()))
            connection.execute(
                f"update surveys set hold = ? where key = ? and {AWAITS_DATE} and (closes is null or closes > ?)",
                values,
            )

    def _close_if_due(self, connection: Connection, keys: Sequence[int], moment: datetime) -> bool:
        """Close running surveys whose date has passed or whose quota is reached; return whether any closed."""
        row = connection.execute("select state, max_reports from surveys where key = ?", (keys[0],)).fetchone()
        if row is None or row[0] not in (State.OPEN, State.PAUSED):
            return False
        full = row[1] is not None and total_of(connection, keys) >= row[1]
        if not full and not _is_over(connection, keys, moment):
            return False
        self._close_by_date(connection, keys, moment)
        return True

    def _delete(self, connection: Connection, study: str, slug: str, version: int | None = None) -> bool:
        """Delete a survey or a study up to a version; return whether there was any."""
        name = ("study", study) if study else ("slug", slug)
        where = f"{name[0]} = ? and (cast(? as bigint) is null or version <= ?)"
        values: tuple[Any, ...] = (name[1], version, version)
        keys = [row[0] for row in connection.execute(f"select key from surveys where {where}", values).fetchall()]
        self._mark_for_rewrite(connection)
        self._drop(connection, keys)
        connection.executemany("delete from surveys where key = ?", [(key,) for key in keys])
        if connection.execute(f"select 1 from surveys where {name[0]} = ?", name[1:]).fetchone() is None:
            for table in ("shares", "links"):
                connection.execute(f"delete from {table} where slug = ?", name[1:])
        return bool(keys)


def study_keys(connection: Connection, key: int) -> list[int]:
    """Return the key of a survey, or the keys of all groups of its version of a study."""
    query = (
        "select other.key from surveys one join surveys other on other.key = one.key"
        " or (other.study = one.study and other.study != '' and other.version = one.version)"
        " where one.key = ? order by other.key"
    )
    return [row[0] for row in connection.execute(query, (key,)).fetchall()]


def is_final(connection: Connection, key: int) -> bool:
    """Return whether the last step was taken; True also for a survey that was deleted."""
    row = connection.execute("select max(final) from tallies where survey = ?", (key,)).fetchone()
    return bool(row[0] is None or row[0])


def hold_of(survey: Survey) -> Hold:
    """Return how much of a survey is withheld when it opens."""
    return Hold.ALL if survey.tickets else Hold.NONE


def _is_over(connection: Connection, keys: Sequence[int], moment: datetime) -> bool:
    values = (keys[0], moment_text(moment))
    return connection.execute("select 1 from surveys where key = ? and closes <= ?", values).fetchone() is not None


def _read_state(connection: Connection, published: PublishedSurvey) -> State:
    row = connection.execute("select state from surveys where key = ?", (published.key,)).fetchone()
    if row is None:
        raise StoreError(f"{published.survey.slug} no longer exists")
    return State(row[0])


def _event_code(state: State) -> EventCode:
    """Return the code for the log when a survey enters this state."""
    match state:
        case State.READY:
            raise ValueError("a survey is ready before it is opened, and never again")
        case State.OPEN:
            return EventCode.OPENED
        case State.PAUSED:
            return EventCode.PAUSED
        case State.CLOSED:
            return EventCode.CLOSED
        case _:
            assert_never(state)


def _set_state(connection: Connection, keys: Sequence[int], state: State) -> None:
    connection.executemany("update surveys set state = ? where key = ?", [(state.value, key) for key in keys])
