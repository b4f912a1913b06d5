"""Parquet, written piece by piece: memory does not grow with the number of reports.

Packed bits get no dictionary and no statistics, which tell nothing of noise, but zstd, since an answer of many options
is mostly zeros, and a checksum for each page, which is verified when they are counted.
"""

import os
from collections.abc import Iterable, Iterator
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from candor_client.definition import Survey
from survey_app.results.parquet import DEFINITION, DIGEST, PACKED, arrow
from survey_app.tally import Bits, Cells, asked_bits, blocks, column_names

GROUP_BYTES, GROUP_ROWS = 2**25, 2**18  # a row group: what is in memory at once
COLUMN_ROWS = 2**15  # of one with a column for every bit: a server makes it for whoever asks


def write_columns(survey: Survey, rows: Iterable[Bits], file: BinaryIO) -> None:
    """Write one file with a boolean column for every bit, null where the device was not asked for it."""
    pyarrow, parquet = arrow()
    schema = pyarrow.schema([(name, pyarrow.bool_()) for name in column_names(survey)], metadata=_metadata(survey))
    asked = asked_bits(survey).tolist()
    with parquet.ParquetWriter(file, schema) as writer:
        for part in blocks(rows, min(COLUMN_ROWS, _group(survey))):
            arrays = [pyarrow.array(values, mask=missing) for values, missing in _columns(part, asked)]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), row_group_size=len(part))


def _columns(part: Bits, asked: list[list[int]]) -> Iterator[tuple[Cells, Cells | None]]:
    """Unpack one bit after the other, each with its missing cells, which neighbours share."""
    known, missing = [-1, -1], None
    for bit, places in enumerate(asked):
        if places != known:
            first, second = places
            known, missing = places, None if first < 0 else ~(_column(part, first) | _column(part, second))
        yield _column(part, bit), missing


def _column(part: Bits, bit: int) -> Cells:
    return (part[:, bit // 8] >> (7 - bit % 8) & 1).astype(bool)


def write_parts(survey: Survey, rows: Iterable[Bits], most: int, folder: Path) -> list[Path]:
    """Files of packed bits in a folder, each of at most `most` rows, for their owner alone; one, if there are none."""
    arrow()
    each = -(-most // _group(survey))  # row groups of a file
    groups, written = blocks(rows, most // each), []
    for number in count():
        first = list(islice(groups, 1))
        if number and not first:
            break
        path = folder / f"part-{number:05}.parquet"
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            _write_groups(survey, chain(first, islice(groups, each - 1)), file)
            file.flush()
            os.fsync(file.fileno())
        written.append(path)
    return written


def _write_groups(survey: Survey, groups: Iterator[Bits], file: BinaryIO) -> None:
    pyarrow, parquet = arrow()
    kind = pyarrow.binary(survey.length)
    schema = pyarrow.schema([pyarrow.field(PACKED, kind, nullable=False)], metadata=_metadata(survey))
    settings: dict[str, Any] = {"use_dictionary": False, "write_statistics": False, "write_page_checksum": True}
    with parquet.ParquetWriter(file, schema, compression="zstd", **settings) as writer:
        for part in groups:
            held = pyarrow.py_buffer(np.ascontiguousarray(part))
            column = pyarrow.FixedSizeBinaryArray.from_buffers(kind, len(part), [None, held])
            writer.write_table(pyarrow.Table.from_arrays([column], schema=schema), row_group_size=len(part))


def _metadata(survey: Survey) -> dict[bytes, bytes]:
    return {DEFINITION: survey.source, DIGEST: survey.digest.encode()}


def _group(survey: Survey) -> int:
    """How many rows a row group has."""
    return min(GROUP_ROWS, max(1, GROUP_BYTES // survey.length))
