"""A strict reader of Parquet files with noisy bits.

All files must have one definition, the digest of its bytes, and the columns of its bits; any other file is an error.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from candor_client.definition import Survey
from candor_client.errors import CandorError
from survey_app.results.file_faults import FileFault
from survey_app.results.parquet import DEFINITION, DIGEST, PACKED_COLUMN, ParquetError, import_arrow
from survey_app.tally import Bits, Counts, column_names, find_asked_bits

BATCH_BYTES, BATCH_ROWS = 2**24, 2**18  # the most that is read at once


@dataclass(frozen=True)
class RowGroup:
    """A row group of a file."""

    path: Path
    group: int
    reports: int


@dataclass(frozen=True)
class ReportFiles:
    """Files of one definition."""

    survey: Survey
    files: tuple[Path, ...]
    row_groups: tuple[RowGroup, ...]

    @property
    def report_count(self) -> int:
        """The number of reports in all files."""
        return sum(part.reports for part in self.row_groups)


def find(paths: Sequence[Path]) -> ReportFiles:
    """Check the metadata of files, and of the files in folders, and return their reports.

    Raise ParquetError if a file is named twice, is damaged, or has another definition than the first one.
    """
    files = [file for path in paths for file in _list_files(path)]
    for file, times in Counter(file.resolve() for file in files).items():
        if times > 1:
            raise ParquetError(
                FileFault.REPEATED_FILE, f"{file} is named twice, so its reports would be counted twice; name it once"
            )
    parts: list[RowGroup] = []
    survey: Survey | None = None
    for file in files:
        with open_file(file) as parquet_file:
            definition = _read_definition(file, parquet_file, survey)
            if survey is not None and definition != survey:
                raise ParquetError(
                    FileFault.OTHER_DEFINITION,
                    f"{file} has a different definition than {files[0]}: {definition.slug} {definition.digest}, not"
                    f" {survey.slug} {survey.digest}; count them separately",
                )
            survey = definition
            _check_columns(file, parquet_file.schema_arrow, survey)
            metadata = parquet_file.metadata
            parts += (RowGroup(file, i, metadata.row_group(i).num_rows) for i in range(metadata.num_row_groups))
    if survey is None:
        raise ParquetError(FileFault.MISSING_FILE, "name a Parquet file of noisy bits, or a folder of them")
    return ReportFiles(survey, tuple(files), tuple(parts))


def _list_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    if files := sorted(path.glob("*.parquet")):
        return files
    raise ParquetError(FileFault.MISSING_FILE, f"the folder {path} contains no file whose name ends in .parquet")


def open_file(path: Path) -> Any:
    """Open a Parquet file, mapped into memory, with page checksums verified; raise ParquetError if it is unreadable."""
    pyarrow, parquet = import_arrow()
    try:
        return parquet.ParquetFile(path, memory_map=True, page_checksum_verification=True)
    except FileNotFoundError:
        raise ParquetError(FileFault.MISSING_FILE, f"there is no file {path}") from None
    except (pyarrow.ArrowException, OSError) as error:
        raise ParquetError(
            FileFault.UNREADABLE, f"{path} is not a Parquet file, or is incomplete: {_first_line(error)}"
        ) from None


def _read_definition(path: Path, parquet_file: Any, previous: Survey | None) -> Survey:
    """Return the definition in a file's metadata, parsed only once; raise ParquetError if it is missing or changed."""
    metadata = parquet_file.metadata.metadata or {}
    if DEFINITION not in metadata or DIGEST not in metadata:
        raise ParquetError(
            FileFault.MISSING_DEFINITION,
            f"{path} has no definition in its metadata; only files made by candor export can be read",
        )
    source = metadata[DEFINITION]
    digest = hashlib.sha256(source).hexdigest()
    if digest.encode() != metadata[DIGEST]:
        claim = metadata[DIGEST].decode(errors="replace")
        raise ParquetError(
            FileFault.CHANGED_DEFINITION,
            f"{path} was changed: the digest of its definition is {digest}, but its metadata says {claim}; export it"
            " again",
        )
    if previous is not None and previous.digest == digest:
        return previous
    try:
        return Survey.from_stored(source)
    except CandorError as error:
        raise ParquetError(FileFault.INVALID_DEFINITION, f"{path}: its definition is invalid: {error}") from None


def _check_columns(path: Path, schema: Any, survey: Survey) -> None:
    pyarrow, _ = import_arrow()
    names, kinds = schema.names, set(schema.types)
    is_packed = names == [PACKED_COLUMN] and kinds <= {pyarrow.binary(survey.length), pyarrow.binary()}
    if not is_packed and (names != column_names(survey) or kinds != {pyarrow.bool_()}):
        raise ParquetError(
            FileFault.OTHER_COLUMNS,
            f"{path}: its columns must be the {survey.width} bits of its definition, in the same order",
        )


def read_batches(row_groups: Iterable[RowGroup], survey: Survey) -> Iterator[Any]:
    """Yield Arrow batches of some thousand rows from row groups; raise ParquetError if a file is damaged."""
    pyarrow, _ = import_arrow()
    size = min(BATCH_ROWS, max(1, BATCH_BYTES // survey.length))
    for part in row_groups:
        try:
            with open_file(part.path) as parquet_file:
                yield from parquet_file.iter_batches(size, row_groups=[part.group], use_threads=False)
        except (pyarrow.ArrowException, OSError) as error:
            raise ParquetError(FileFault.DAMAGED, f"{part.path} is damaged: {_first_line(error)}") from None


def count_ones(batch: Any, survey: Survey) -> Counts | None:
    """Count the ones in each column of a batch; return None where the bits are packed."""
    if not _has_columns(batch, survey):
        return None
    return np.array([column.true_count for column in batch.columns], dtype=np.int64)


def pack_batch(batch: Any, survey: Survey) -> Bits:
    """Return the bits of a batch of either layout, packed, a row for each report; Spark has only variable binary."""
    pyarrow, _ = import_arrow()
    column, length = batch.column(0), survey.length
    if _has_columns(batch, survey):
        rows = np.zeros((length, len(column)), dtype=np.uint8)
        for bit, column in enumerate(batch.columns):
            rows[bit // 8] |= column.fill_null(False).to_numpy(zero_copy_only=False).view(np.uint8) << np.uint8(
                7 - bit % 8
            )
        return np.ascontiguousarray(rows.T)
    if pyarrow.types.is_binary(column.type):
        try:
            column = column.cast(pyarrow.binary(length))
        except pyarrow.ArrowInvalid:
            raise ParquetError(
                FileFault.WRONG_LENGTH,
                f"a row has the wrong length: a report to this survey has {length} bytes of bits",
            ) from None
    buffer = np.frombuffer(column.buffers()[1], dtype=np.uint8)
    return buffer[column.offset * length :][: len(column) * length].reshape(-1, length)


def _has_columns(batch: Any, survey: Survey) -> bool:
    """Return whether every bit has a column of its own; raise ParquetError if a bit is null that was asked for."""
    pyarrow, _ = import_arrow()
    has_columns = bool(batch.schema.types[0] == pyarrow.bool_())
    has_nulls = any(column.null_count for column in batch.columns)
    if has_nulls and not (has_columns and _only_unasked_are_missing(batch, survey)):
        raise ParquetError(
            FileFault.MISSING_BIT,
            "a bit is missing: noisy bits must be 0 or 1, and may be null only where the device was not asked",
        )
    return has_columns


def _only_unasked_are_missing(batch: Any, survey: Survey) -> bool:
    """Return whether every null is in a report whose asked bits are all 0."""
    pyarrow, _ = import_arrow()
    for column, places in zip(batch.columns, find_asked_bits(survey).tolist(), strict=True):
        if not column.null_count:
            continue
        if min(places) < 0:
            return False
        missing = column.is_null()
        if any(pyarrow.compute.and_(missing, batch.column(place)).true_count for place in set(places)):
            return False
    return True


def scan(reports: ReportFiles) -> Iterator[Bits]:
    """Yield all bits, packed, in the order of the files, for cross-tabs and regressions."""
    for batch in read_batches(reports.row_groups, reports.survey):
        yield pack_batch(batch, reports.survey)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
