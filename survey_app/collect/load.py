"""Reports from Parquet into a survey: exported elsewhere, they have no ids, and get new ones that the file decides.

An id is the beginning of SHA-256("candor load" ‖ 0x00 ‖ SHA-256 of the file ‖ number of the row), so that loading the
same file again, after a crash or by mistake, stores nothing twice. All bits are looked at before the first is stored;
then they go the way of every batch, in transactions of some thousand. The same reports in other files are other reports
to the store: whoever loads has to know what is in there already. A survey by invitation takes none, since a report
without a ticket is nobody's.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from client.errors import ReportError
from client.report import ID_BYTES, unpack
from survey_app.parquet.read import Reports, batches, packed
from survey_app.problems import PROBLEMS
from survey_app.store import Outcome, Published, Store, Submission
from survey_app.tally import Bits, blocks

MARK = b"candor load\x00"
TOGETHER = 8192  # reports that share a transaction
REMEMBERED = 2**16  # rows of bits that were found possible


class LoadError(Exception):
    """These reports cannot be taken in, or not all; the message says how far it came."""


@dataclass
class Loaded:
    """What became of the reports so far."""

    stored: int = 0
    already: int = 0


def load(store: Store, published: Published, reports: Reports, done: Callable[[int], None]) -> Loaded:
    """Store the reports of all files; those that are stored already stay as they are."""
    if reports.survey != published.survey:
        raise LoadError(
            f"these reports are to {reports.survey.slug} {reports.survey.digest}, and {published.survey.slug} is "
            f"{published.survey.digest}: noise of one definition says nothing under another"
        )
    if published.invited:
        raise LoadError(f"{published.survey.slug} is by invitation: every report needs a ticket, and these have none")
    _check(reports)
    loaded = Loaded()
    for file in reports.files:
        for together in _submissions(file, published.key, blocks(_rows(reports, file), TOGETHER)):
            _write(store, together, loaded)
            done(len(together))
    return loaded


def _check(reports: Reports) -> None:
    """Whether devices can have sent all of these bits, before the first is stored."""
    survey, possible = reports.survey, set[bytes]()
    for file in reports.files:
        for rows in blocks(_rows(reports, file), TOGETHER):
            if len(possible) > REMEMBERED:
                possible.clear()
            for bits in {row.tobytes() for row in rows} - possible:
                try:
                    unpack(survey, bits)
                except ReportError as error:
                    raise LoadError(f"{file} holds what is no report to {survey.slug}: {error}") from None
                possible.add(bits)


def _rows(reports: Reports, file: Path) -> Iterator[Bits]:
    parts = [part for part in reports.parts if part.path == file]
    return (packed(batch, reports.survey) for batch in batches(parts, reports.survey))


def _submissions(file: Path, survey: int, rows: Iterator[Bits]) -> Iterator[list[Submission]]:
    with file.open("rb") as opened:
        content = hashlib.file_digest(opened, "sha256").digest()
    numbers = count()
    for block in rows:
        yield [Submission(survey, row_id(content, number), row.tobytes()) for row, number in zip(block, numbers)]  # noqa: B905


def row_id(content: bytes, number: int) -> bytes:
    """The id of a row of the file with this SHA-256."""
    return hashlib.sha256(MARK + content + number.to_bytes(8, "big")).digest()[:ID_BYTES]


def _write(store: Store, submissions: list[Submission], loaded: Loaded) -> None:
    outcomes = store.write(lambda: submissions, batch=True)
    loaded.stored += outcomes.count(Outcome.STORED)
    loaded.already += outcomes.count(Outcome.ALREADY_STORED)
    for outcome in outcomes:
        if outcome not in (Outcome.STORED, Outcome.ALREADY_STORED):
            raise LoadError(f"{PROBLEMS[outcome][1].rstrip('.')}; {loaded.stored} reports were stored before")
