"""Noisy bits as Parquet, for more reports than a person looks at: written, read, counted on one machine or on many.

Every file carries its definition, byte for byte (`candor.definition`), and its digest (`candor.digest`), which is
checked whenever the file is read. There are two layouts:

- *columns*: a boolean column for every stored bit, with its name; null where the device was not asked for it (up to
  version 0.8: false). One file, for people with pandas or polars.
- *packed*: one column `bits` of as many bytes as a report has, as devices sent them. A folder of files of at most so
  many rows, for machines: a report takes an eighth of a byte for each bit before compression, a survey of 300,000 bits
  is still one column, and counting reads whole machine words.

Both are read alike. Neither has ids, time, or another order than that of the random ids; what is not shown yet is not
in them. pyarrow and pyspark are known to this room alone, and imported when they are needed.
"""

from typing import Any

DEFINITION, DIGEST = b"candor.definition", b"candor.digest"
PACKED = "bits"  # the name of the one column


class ParquetError(Exception):
    """These files cannot be written, read or counted; the message says why and what to do."""


def arrow() -> tuple[Any, Any]:
    """pyarrow and its Parquet, or the sentence that says how to get them."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise ParquetError("Parquet needs pyarrow: pip install 'candor-survey[parquet]'") from None
    return pyarrow, pyarrow.parquet
