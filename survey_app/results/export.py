"""Noisy bits with their definition, as CSV, NDJSON and Parquet. (`csv_columns` writes the estimates.)

An export has the reports of the snapshot: no ids, no time, and no order except that of the random ids. In CSV and
Parquet every stored bit is a column, named after its field and its symbol (`survey_app.tally.column_names`).

- CSV: one line of names, then 0 and 1; a cell is empty where the device was not asked. The definition is in a second
  file, FILE.definition.json, byte for byte, so its SHA-256 is the digest and any CSV reader can read the first.
- NDJSON: `{"definition":{…},"digest":"…","reports":n}`, then for every report `{"bits":"…"}` as it was sent.
- Parquet: boolean columns, null where the device was not asked; the file's metadata has `candor.definition`, byte for
  byte, and `candor.digest`. `survey_app.results.parquet` writes folders of packed bits, for programs that count.

All formats stream: memory does not grow with the number of reports.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import numpy as np

from candor_client.definition import Survey
from candor_client.report import to_base64url
from survey_app.results.csv_columns import escape_formula
from survey_app.results.file_faults import FileError
from survey_app.results.parquet import ParquetError
from survey_app.results.parquet.parquet_writer import write_columns
from survey_app.tally import Bits, column_names, find_asked_bits, mark_missing, rebatch

CELLS = 2**18  # bits that are formatted at once


class ExportError(FileError):
    """An export cannot be made."""


def report_progress(rows: Iterable[Bits], progress: Callable[[int], None]) -> Iterator[Bits]:
    """Yield the rows unchanged, and report the size of each chunk to `progress`."""
    for chunk in rows:
        yield chunk
        progress(len(chunk))


def write_csv_chunks(survey: Survey, rows: Iterable[Bits]) -> Iterator[bytes]:
    """Yield a CSV file in pieces."""
    head = io.StringIO()
    csv.writer(head, lineterminator="\n").writerow([escape_formula(name) for name in column_names(survey)])
    yield head.getvalue().encode()
    indicators = find_asked_bits(survey)
    for part in rebatch(rows, max(1, CELLS // survey.width)):
        bits = np.unpackbits(part, axis=1, count=survey.width)
        cells = np.full((len(part), 2 * survey.width), ord(","), dtype=np.uint8)
        cells[:, 0::2] = bits + ord("0")
        cells[:, -1] = ord("\n")
        if (missing := mark_missing(indicators, bits)) is not None:
            mask = np.ones(cells.shape, dtype=bool)
            mask[:, 0::2] = ~missing
            cells = cells[mask]
        yield cells.tobytes()


def write_ndjson_chunks(survey: Survey, reports: int, rows: Iterable[Bits]) -> Iterator[bytes]:
    """Yield an NDJSON file in pieces; the definition in the first line is in canonical form."""
    yield b'{"definition":%b,"digest":"%b","reports":%d}\n' % (survey.source, survey.digest.encode(), reports)
    for part in rebatch(rows, max(1, CELLS // survey.width)):
        yield "".join(f'{{"bits":"{to_base64url(row.tobytes())}"}}\n' for row in part).encode()


def write_parquet(survey: Survey, rows: Iterable[Bits], file: BinaryIO) -> None:
    """Write a Parquet file with a column for every bit, by row groups; raise ExportError if it cannot be written."""
    try:
        write_columns(survey, rows, file)
    except ParquetError as error:
        raise ExportError(error.code, error.message) from None
