"""Surveys and files of noisy bits for the tests of Parquet and of Spark."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

from candor_client import Survey
from survey_app.assure.simulation.devices import reports
from survey_app.plan.simulated_people import draw_people
from survey_app.results.parquet.parquet_writer import write_columns, write_parts
from survey_app.tally import Bits, Tally
from tests.definitions import COIN, choice, define, drawn, field, multiple, subset, survey, yes_no

MIXED = define(
    [yes_no("bits"), choice("help", optional=True), multiple("used"), choice("many", options=50)],
    [field(COIN, "bits"), field(subset(4, 1), "help"), field(drawn(3, 2), "used"), field(subset(50, 1), "many")],
)  # 61 bits: padded


def mixed_survey(**more: object) -> Survey:
    return survey({**MIXED, **more})


def bits_of(parsed: Survey, count: int) -> Bits:
    """Return the bits that so many simulated devices send."""
    rng = np.random.default_rng()
    empty = np.zeros((0, parsed.length), dtype=np.uint8)
    return np.concatenate([empty, *reports(parsed, draw_people(parsed, {}, count, rng), rng)]) if count else empty


def split_rows(rows: Bits, size: int) -> Iterator[Bits]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def write_part_files(parsed: Survey, rows: Bits, most: int, folder: Path) -> Path:
    """Write packed files to a new folder."""
    folder.mkdir()
    write_parts(parsed, split_rows(rows, 777), most, folder)
    return folder


def write_column_file(parsed: Survey, rows: Bits, file: Path) -> Path:
    """Write one file with a column for every bit."""
    with file.open("wb") as opened:
        write_columns(parsed, split_rows(rows, 777), opened)
    return file


def write_foreign_file(table: pyarrow.Table, file: Path, **metadata: bytes) -> Path:
    """Write a table as another program's Parquet file."""
    about = {f"candor.{key}".encode(): value for key, value in metadata.items()}
    pyarrow.parquet.write_table(table.replace_schema_metadata(about or None), file)
    return file


def count_bits(parsed: Survey, rows: Bits) -> tuple[Tally, np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    """Return counts and pair counts by plain unpacking."""
    bits = np.unpackbits(rows, axis=1, count=parsed.width).astype(np.int64)
    return Tally(len(rows), bits.sum(axis=0)), bits.T @ bits
