"""Loading reports from Parquet files into a survey; exported reports have no ids, so they get ids from the file.

An id is the beginning of SHA-256("candor load" ‖ 0x00 ‖ SHA-256 of the file ‖ number of the row). So loading the same
file again, after a crash or by mistake, stores nothing twice. All bits are checked before the first is stored. Then
they are written like a batch, in transactions of some thousand reports. The store cannot recognize the same reports in
another file, so the operator must know which reports it has. A survey by invitation accepts none, because these
reports have no tickets.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from candor_client.errors import ReportError
from candor_client.report import ID_BYTES, unpack
from survey_app.problems import PROBLEMS
from survey_app.results.parquet.parquet_reader import ReportFiles, pack_batch, read_batches
from survey_app.store import Outcome, PublishedSurvey, Store, Submission
from survey_app.tally import Bits, rebatch

MARK = b"candor load\x00"
REPORTS_PER_TRANSACTION = 8192  # reports per transaction
CACHE_SIZE = 2**16  # rows of bits in the cache of valid ones


class LoadError(Exception):
    """Some or all reports cannot be loaded.

    `code` is other_definition, by_invitation, that of a ReportError, or the outcome with which the store refused a
    report; `stored` is the number of reports that were stored before.
    """

    def __init__(self, code: str, message: str, stored: int = 0) -> None:
        super().__init__(message)
        self.code, self.stored = code, stored


@dataclass
class LoadCounts:
    """The numbers of reports that were stored, and that were there already."""

    stored: int = 0
    already_stored: int = 0


def load(store: Store, published: PublishedSurvey, reports: ReportFiles, progress: Callable[[int], None]) -> LoadCounts:
    """Store the reports of all files, and return the counts; reports that are stored already stay as they are.

    Call `progress` with the number of reports after each transaction. Raise LoadError if a report cannot be stored.
    """
    if reports.survey != published.survey:
        raise LoadError(
            "other_definition",
            f"these reports are for {reports.survey.slug} {reports.survey.digest}, but {published.survey.slug} has the "
            f"definition {published.survey.digest}; noisy bits of one definition are invalid under another",
        )
    if published.is_by_invitation:
        raise LoadError(
            "by_invitation",
            f"{published.survey.slug} is by invitation: every report needs a ticket, and these reports have none",
        )
    _check(reports)
    counts = LoadCounts()
    for file in reports.files:
        for submissions in _submissions(file, published.key, rebatch(_rows(reports, file), REPORTS_PER_TRANSACTION)):
            _write(store, submissions, counts)
            progress(len(submissions))
    return counts


def _check(reports: ReportFiles) -> None:
    """Raise LoadError unless a device could have sent all of these bits."""
    survey, valid = reports.survey, set[bytes]()
    for file in reports.files:
        for rows in rebatch(_rows(reports, file), REPORTS_PER_TRANSACTION):
            if len(valid) > CACHE_SIZE:
                valid.clear()
            for bits in {row.tobytes() for row in rows} - valid:
                try:
                    unpack(survey, bits)
                except ReportError as error:
                    reason = f"{file} contains an invalid report to {survey.slug}: {error}"
                    raise LoadError(error.code, reason) from None
                valid.add(bits)


def _rows(reports: ReportFiles, file: Path) -> Iterator[Bits]:
    parts = [part for part in reports.row_groups if part.path == file]
    return (pack_batch(batch, reports.survey) for batch in read_batches(parts, reports.survey))


def _submissions(file: Path, survey: int, rows: Iterator[Bits]) -> Iterator[list[Submission]]:
    with file.open("rb") as stream:
        content = hashlib.file_digest(stream, "sha256").digest()
    numbers = count()
    for block in rows:
        yield [Submission(survey, row_id(content, number), row.tobytes()) for row, number in zip(block, numbers)]  # noqa: B905


def row_id(content: bytes, number: int) -> bytes:
    """Return the id of a row in the file with this SHA-256."""
    return hashlib.sha256(MARK + content + number.to_bytes(8, "big")).digest()[:ID_BYTES]


def _write(store: Store, submissions: list[Submission], loaded: LoadCounts) -> None:
    outcomes = store.write(lambda: submissions, batch=True)
    loaded.stored += outcomes.count(Outcome.STORED)
    loaded.already_stored += outcomes.count(Outcome.ALREADY_STORED)
    for outcome in outcomes:
        if outcome not in (Outcome.STORED, Outcome.ALREADY_STORED):
            reason = f"{PROBLEMS[outcome][1]} Reports stored before that: {loaded.stored}"
            raise LoadError(outcome, reason, loaded.stored)
