"""Surveys and files of noisy bits for the tests of Parquet; those of Spark use them too."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

from candor_client import Survey
from survey_app.assure.simulation.devices import reports
from survey_app.plan.assumed_people import draw_people
from survey_app.results.parquet.parquet_writer import write_columns, write_parts
from survey_app.tally import Bits, Tally
from tests.definitions import COIN, choice, define, drawn, field, multiple, subset, survey, yes_no

MIXED = define(
    [yes_no("bits"), choice("help", optional=True), multiple("used"), choice("many", options=50)],
    [field(COIN, "bits"), field(subset(4, 1), "help"), field(drawn(3, 2), "used"), field(subset(50, 1), "many")],
)  # 61 bits: padded


def mixed(**more: object) -> Survey:
    return survey({**MIXED, **more})


def bits_of(parsed: Survey, count: int) -> Bits:
    """What so many made-up devices send."""
    rng = np.random.default_rng()
    empty = np.zeros((0, parsed.length), dtype=np.uint8)
    return np.concatenate([empty, *reports(parsed, draw_people(parsed, {}, count, rng), rng)]) if count else empty


def in_pieces(rows: Bits, size: int) -> Iterator[Bits]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def parts(parsed: Survey, rows: Bits, most: int, folder: Path) -> Path:
    """A folder of packed files."""
    folder.mkdir()
    write_parts(parsed, in_pieces(rows, 777), most, folder)
    return folder


def columns(parsed: Survey, rows: Bits, file: Path) -> Path:
    """One file with a column for every bit."""
    with file.open("wb") as opened:
        write_columns(parsed, in_pieces(rows, 777), opened)
    return file


def rewritten(table: pyarrow.Table, file: Path, **metadata: bytes) -> Path:
    """A table as a Parquet file of somebody else's making."""
    about = {f"candor.{key}".encode(): value for key, value in metadata.items()}
    pyarrow.parquet.write_table(table.replace_schema_metadata(about or None), file)
    return file


def plain(parsed: Survey, rows: Bits) -> tuple[Tally, np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    """Counts and pair counts, by nothing but unpacking."""
    bits = np.unpackbits(rows, axis=1, count=parsed.width).astype(np.int64)
    return Tally(len(rows), bits.sum(axis=0)), bits.T @ bits
