"""Reading the reports of a survey and its tallies: what both databases share."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import numpy as np

from survey_app.store.records import PublishedSurvey
from survey_app.store.sql.dialect import Base, Connection
from survey_app.store.tally_row import HIDDEN_COLUMNS, hidden_ids, tally_of
from survey_app.tally import Bits, Tally, add_bits, rows_at_once, stack_reports

CHUNK = 20_000  # reports that are read at once, unless they are long


class ReportReader(Base):
    """The methods of a store that read tallies and reports."""

    @abstractmethod
    def _open_reader(self, key: int) -> AbstractContextManager[Connection | None]:
        """Open a transaction that reads a survey as of one moment; None if the survey was deleted."""

    @abstractmethod
    def _scan(self, connection: Connection, key: int, count: int) -> Iterator[list[tuple[bytes, bytes]]]:
        """Yield ids and bits of all reports to a survey, in the order of ids, `count` at a time."""

    def snapshot(self, published: PublishedSurvey) -> Tally:
        """Return the tally that may be shown, as of the last step; it depends on neither the clock nor the terms."""
        rows = self._fetch_all("select shown, shown_counts from tallies where survey = ?", published.key)
        return tally_of(rows) if rows else Tally.empty(published.survey)

    @contextmanager
    def open_snapshot(self, published: PublishedSurvey) -> Iterator[tuple[Tally, Iterator[Bits]]]:
        """Open the snapshot together with the packed bits of its reports, some thousands at a time, as of one moment.

        Pending reports are not included: a cross-tab or an export must not show more than the results.
        """
        query = f"select {HIDDEN_COLUMNS} from tallies where survey = ?"
        with self._open_reader(published.key) as connection:
            rows = connection.execute(query, (published.key,)).fetchall() if connection else []
            hidden = hidden_ids(rows) if rows else None
            if connection is None or hidden is None:  # nothing is shown, or the survey was deleted in the meantime
                yield Tally.empty(published.survey), iter(())
            else:
                yield tally_of([row[:2] for row in rows]), self._read_bits(connection, published, hidden)

    def recount(self, published: PublishedSurvey, progress: Callable[[int], None]) -> tuple[Tally, Tally]:
        """Return the stored tally and the tally of a recount of all reports, as of one moment; only for operators.

        Both are empty if the survey was deleted in the meantime.
        """
        query = "select total, counts from tallies where survey = ?"
        counts, count = np.zeros(published.survey.width, dtype=np.int64), 0
        with self._open_reader(published.key) as connection:
            rows = connection.execute(query, (published.key,)).fetchall() if connection else []
            if connection is None or not rows:
                return Tally.empty(published.survey), Tally.empty(published.survey)
            for bits in self._read_bits(connection, published, frozenset()):
                add_bits(counts, bits)
                count += len(bits)
                progress(len(bits))
        return tally_of(rows), Tally(count, counts)

    def _read_bits(
        self, connection: Connection, published: PublishedSurvey, hidden: frozenset[bytes]
    ) -> Iterator[Bits]:
        """Yield the bits of all reports that are not hidden."""
        for rows in self._scan(connection, published.key, rows_at_once(published.survey, CHUNK)):
            if visible := [bits for id, bits in rows if id not in hidden]:
                yield stack_reports(visible)
