"""Noisy bits as Parquet, for very many reports: written, read, and counted on one machine or on many.

Every file carries its definition, byte for byte (`candor.definition`), and its digest (`candor.digest`), which is
checked whenever the file is read. There are two layouts:

- *columns*: a boolean column for every stored bit, with its name; null where the device was not asked for it (up to
  version 0.8: false). One file, for people with pandas or polars.
- *packed*: one column `bits` of as many bytes as a report has, as devices sent them. A folder of files with a limited
  number of rows, for machines: before compression a bit takes an eighth of a byte, a survey of 300,000 bits is still
  one column, and counting reads whole machine words.

Both are read alike. Neither has ids, times, or an order other than that of the random ids. Reports that are not shown
yet are left out. Only this package imports pyarrow and pyspark, and only when they are needed.
"""

from typing import Any

from survey_app.results.file_faults import FileError, FileFault

DEFINITION, DIGEST = b"candor.definition", b"candor.digest"
PACKED_COLUMN = "bits"  # the name of the only column of the packed layout


class ParquetError(FileError):
    """Parquet files cannot be written, read or counted."""


def import_arrow() -> tuple[Any, Any]:
    """Import pyarrow and its Parquet module; raise ParquetError with the install command if they are missing."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise ParquetError(
            FileFault.MISSING_PACKAGE, "Parquet needs pyarrow: pip install 'candor-survey[parquet]'"
        ) from None
    return pyarrow, pyarrow.parquet
