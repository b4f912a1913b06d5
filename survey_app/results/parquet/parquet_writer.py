"""A writer of Parquet files in pieces, so memory does not grow with the number of reports.

Packed bits get no dictionary and no statistics, which are useless for noise. They get zstd, since an answer with many
options is mostly zeros, and a checksum for each page, which is verified on reading.
"""

import os
from collections.abc import Iterable, Iterator
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from candor_client.definition import Survey
from survey_app.results.parquet import DEFINITION, DIGEST, PACKED_COLUMN, import_arrow
from survey_app.tally import Bits, Cells, column_names, find_asked_bits, rebatch

GROUP_BYTES, GROUP_ROWS = 2**25, 2**18  # the largest row group, which is in memory at once
COLUMN_ROWS = 2**15  # in a row group with a column for every bit, which a server writes for any visitor


def write_columns(survey: Survey, rows: Iterable[Bits], file: BinaryIO) -> None:
    """Write one file with a boolean column for every bit, null where the device was not asked for it."""
    pyarrow, parquet = import_arrow()
    schema = pyarrow.schema([(name, pyarrow.bool_()) for name in column_names(survey)], metadata=_metadata(survey))
    indicators = find_asked_bits(survey).tolist()
    with parquet.ParquetWriter(file, schema) as writer:
        for part in rebatch(rows, min(COLUMN_ROWS, _rows_per_group(survey))):
            arrays = [pyarrow.array(values, mask=missing) for values, missing in _columns(part, indicators)]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), row_group_size=len(part))


def _columns(part: Bits, asked: list[list[int]]) -> Iterator[tuple[Cells, Cells | None]]:
    """Yield the values of each bit with its missing cells, which are computed once for neighbouring bits."""
    previous, missing = [-1, -1], None
    for bit, places in enumerate(asked):
        if places != previous:
            first, second = places
            previous, missing = places, None if first < 0 else ~(_column(part, first) | _column(part, second))
        yield _column(part, bit), missing


def _column(part: Bits, bit: int) -> Cells:
    return (part[:, bit // 8] >> (7 - bit % 8) & 1).astype(bool)


def write_parts(survey: Survey, rows: Iterable[Bits], max_rows: int, folder: Path) -> list[Path]:
    """Write files of packed bits into a folder, readable only by their owner, and return their paths.

    Each file has at most `max_rows` rows. Without any reports there is still one file.
    """
    import_arrow()
    group_count = -(-max_rows // _rows_per_group(survey))  # in each file
    groups, paths = rebatch(rows, max_rows // group_count), []
    for number in count():
        first = list(islice(groups, 1))
        if number and not first:
            break
        path = folder / f"part-{number:05}.parquet"
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            _write_groups(survey, chain(first, islice(groups, group_count - 1)), file)
            file.flush()
            os.fsync(file.fileno())
        paths.append(path)
    return paths


def _write_groups(survey: Survey, groups: Iterator[Bits], file: BinaryIO) -> None:
    pyarrow, parquet = import_arrow()
    kind = pyarrow.binary(survey.length)
    schema = pyarrow.schema([pyarrow.field(PACKED_COLUMN, kind, nullable=False)], metadata=_metadata(survey))
    settings: dict[str, Any] = {"use_dictionary": False, "write_statistics": False, "write_page_checksum": True}
    with parquet.ParquetWriter(file, schema, compression="zstd", **settings) as writer:
        for part in groups:
            buffer = pyarrow.py_buffer(np.ascontiguousarray(part))
            column = pyarrow.FixedSizeBinaryArray.from_buffers(kind, len(part), [None, buffer])
            writer.write_table(pyarrow.Table.from_arrays([column], schema=schema), row_group_size=len(part))


def _metadata(survey: Survey) -> dict[bytes, bytes]:
    return {DEFINITION: survey.source, DIGEST: survey.digest.encode()}


def _rows_per_group(survey: Survey) -> int:
    """Return the number of rows in a row group."""
    return min(GROUP_ROWS, max(1, GROUP_BYTES // survey.length))
