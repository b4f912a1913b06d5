"""Noisy bits with their definition, for other people's tools: CSV, NDJSON and Parquet. (Estimates go out by `table`.)

What is exported is what stands behind the snapshot: no ids, no time, no order but that of the random ids. In CSV and
Parquet every stored bit is a column, named after its field and its symbol: `cheated` for a plain yes or no,
`help:notes` for one symbol, `help+fair:notes + Agree` for a cell of a joint field, `used:phone:no` and
`used:phone:yes` for the two bits of an option that is drawn, `hours:30 h` for one level of a number, `help:asked` for
the asked bit where each device answers one field.

- CSV: one line of names, then 0 and 1. The definition lies beside, in FILE.definition.json, byte for byte, so that its
  SHA-256 is the digest and every reader of CSV still works.
- NDJSON: `{"definition":{…},"digest":"…","reports":n}`, then for every report `{"bits":"…"}` as it was sent.
- Parquet: boolean columns; the schema's metadata has `candor.definition`, byte for byte, and `candor.digest`.

All of it streams: memory does not grow with the number of reports.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import numpy as np

from client.definition import Field, Survey
from client.mechanism import Drawn, Flip
from client.report import to_text
from client.words import NO_ANSWER, symbol_label
from survey_app.results.table import neutral
from survey_app.tally import Bits, columns

CELLS = 2**22  # bits that are spelled at once
GROUP_BYTES, GROUP_ROWS = 2**25, 2**18  # a row group of Parquet


class ExportError(Exception):
    """This export cannot be made; the message says what to do."""


def column_names(survey: Survey) -> list[str]:
    """A name for every stored bit, in order; no two are alike, also where capitals do not count."""
    wanted: list[str] = []
    for at in columns(survey):
        name = "+".join(question.id for question in at.field.questions)
        wanted += [f"{name}:asked"] * (at.asked is not None)
        wanted += [f"{name}:{symbol}" if symbol else name for symbol in _symbols(at.field)]
    names: list[str] = []
    taken: set[str] = set()
    for name in wanted:
        number, free = 1, name
        while free.casefold() in taken:
            number += 1
            free = f"{name} ({number})"
        taken.add(free.casefold())
        names.append(free)
    return names


def _symbols(field: Field) -> list[str]:
    mechanism = field.mechanism
    if isinstance(mechanism, Flip):
        return [""]
    if isinstance(mechanism, Drawn):
        options = [*field.questions[0].labels, NO_ANSWER][: mechanism.size]
        return [f"{option}:{said}" for option in options for said in ("no", "yes")]
    return [symbol_label(field, symbol) for symbol in range(mechanism.size)]


def watched(rows: Iterable[Bits], progress: Callable[[int], None]) -> Iterator[Bits]:
    """The same rows, counted on their way."""
    for chunk in rows:
        yield chunk
        progress(len(chunk))


def csv_chunks(survey: Survey, rows: Iterable[Bits]) -> Iterator[bytes]:
    """A CSV file, piece by piece."""
    head = io.StringIO()
    csv.writer(head, lineterminator="\n").writerow([neutral(name) for name in column_names(survey)])
    yield head.getvalue().encode()
    for part in _blocks(rows, max(1, CELLS // survey.width)):
        cells = np.full((len(part), 2 * survey.width), ord(","), dtype=np.uint8)
        cells[:, 0::2] = np.unpackbits(part, axis=1, count=survey.width) + ord("0")
        cells[:, -1] = ord("\n")
        yield cells.tobytes()


def ndjson_chunks(survey: Survey, reports: int, rows: Iterable[Bits]) -> Iterator[bytes]:
    """An NDJSON file, piece by piece; the definition in the first line is spelled canonically."""
    yield b'{"definition":%b,"digest":"%b","reports":%d}\n' % (survey.source, survey.digest.encode(), reports)
    for part in _blocks(rows, max(1, CELLS // survey.width)):
        yield "".join(f'{{"bits":"{to_text(row.tobytes())}"}}\n' for row in part).encode()


def write_parquet(survey: Survey, rows: Iterable[Bits], file: BinaryIO) -> None:
    """A Parquet file, one row group after the other."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ExportError("Parquet needs pyarrow: pip install 'candor-survey[parquet]'") from None
    metadata = {"candor.definition": survey.source, "candor.digest": survey.digest.encode()}
    schema = pyarrow.schema([(name, pyarrow.bool_()) for name in column_names(survey)], metadata=metadata)
    size = min(GROUP_ROWS, max(1, GROUP_BYTES // survey.length))
    with pyarrow.parquet.ParquetWriter(file, schema) as writer:
        for part in _blocks(rows, size):
            bits = (part[:, bit // 8] >> (7 - bit % 8) & 1 for bit in range(survey.width))
            arrays = [pyarrow.array(column.astype(bool)) for column in bits]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), row_group_size=size)


def _blocks(rows: Iterable[Bits], size: int) -> Iterator[Bits]:
    """The same rows, `size` at a time."""
    waiting: list[Bits] = []
    count = 0
    for chunk in rows:
        while count + len(chunk) >= size:
            missing = size - count
            yield np.concatenate([*waiting, chunk[:missing]])
            waiting, count, chunk = [], 0, chunk[missing:]
        if len(chunk):
            waiting.append(chunk)
            count += len(chunk)
    if waiting:
        yield np.concatenate(waiting)
