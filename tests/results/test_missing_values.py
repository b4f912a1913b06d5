"""A cell of an exported file is missing where the device was not asked: a plain frequency is that of those who were."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas
import pyarrow.parquet
import pyreadstat
import pytest

from candor_client.definition import Survey
from survey_app.results.bit_meanings import stored_bits
from survey_app.results.export import write_csv_chunks, write_parquet
from survey_app.results.file_faults import FileFault
from survey_app.results.parquet import ParquetError
from survey_app.results.parquet.pair_counts import count
from survey_app.results.parquet.parquet_reader import find
from survey_app.results.spss import write_statistics_file
from survey_app.results.survey_document import results
from survey_app.tally import Bits, Tally, columns, find_asked_bits
from tests.definitions import COIN, define, field, scale, subset, survey, yes_no
from tests.results.figure_kinds import FIELDS, make_survey
from tests.results.parquet.parquet_files import write_foreign_file
from tests.results.test_archive_page import everything, filled


def read_csv(parsed: Survey, rows: Bits, _: Path) -> pandas.DataFrame:
    return pandas.read_csv(io.BytesIO(b"".join(write_csv_chunks(parsed, [rows]))))


def read_parquet(parsed: Survey, rows: Bits, _: Path) -> pandas.DataFrame:
    file = io.BytesIO()
    write_parquet(parsed, [rows], file)
    return pandas.read_parquet(file)


def read_statistics(kind: str) -> Callable[[Survey, Bits, Path], pandas.DataFrame]:
    def read(parsed: Survey, rows: Bits, folder: Path) -> pandas.DataFrame:
        path = folder / f"bits{kind}"
        with path.open("wb") as file:
            write_statistics_file(parsed, len(rows), [rows[:700], rows[700:]], kind, file)
        table, _ = (pyreadstat.read_sav if kind == ".sav" else pyreadstat.read_dta)(path)
        return table

    return read


FORMATS = {
    "csv": read_csv,
    "parquet": read_parquet,
    "sav": read_statistics(".sav"),
    "dta": read_statistics(".dta"),
}


@pytest.mark.parametrize("kind", FORMATS)
def test_the_frequency_of_a_follow_up_block_debiases_to_its_share(kind: str, tmp_path: Path) -> None:
    """Of 176 devices 14 were asked and 4 sent yes: 28.6%, where a column with 0 for the others says 2.3%."""
    parsed = survey(
        define([yes_no("error"), scale("mood")], [field(COIN, "error"), field(subset(3, 1), "mood")], ask=1)
    )
    asked, other = ["11000000"] * 4 + ["10000000"] * 10, ["00110000"] * 162
    rows = np.array([[int(text, 2)] for text in asked + other], dtype=np.uint8)
    column = FORMATS[kind](parsed, rows, tmp_path)["error"].astype(float)
    assert column.count() == 14
    assert column.mean() == pytest.approx(4 / 14)
    (part,) = (
        part for part in results(parsed, Tally(176, unpacked(parsed, rows).sum(axis=0))).questions if part.id == "error"
    )
    assert (column.mean() - 0.25) / (0.75 - 0.25) == pytest.approx(part.estimates[1].unbiased)


def unpacked(parsed: Survey, rows: Bits) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.unpackbits(rows, axis=1, count=parsed.width).astype(np.int64)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("ask", [False, True])
def test_exactly_the_cells_that_were_not_asked_are_missing(kind: str, ask: bool, tmp_path: Path) -> None:
    parsed = everything(ask)
    rows, _ = filled(parsed, 1500)
    bits, places = unpacked(parsed, rows), {}
    for at in columns(parsed):
        asked = bits[:, [at.asked_column]] if at.asked_column is not None else np.ones((len(rows), 1), dtype=np.int64)
        for bit in range(at.start, at.stop):
            pair = at.start + (bit - at.start) // 2 * 2
            drawn = at.field.questions[0].id == "used"
            places[bit] = (bits[:, pair] + bits[:, pair + 1] if drawn else asked[:, 0]) == 0
    table = FORMATS[kind](parsed, rows, tmp_path)
    for bit, name in enumerate(table.columns):
        missing = table[name].isna().to_numpy()
        assert np.array_equal(missing, places.get(bit, np.zeros(len(rows), dtype=bool))), name
        assert np.array_equal(table[name].to_numpy()[~missing].astype(int), bits[:, bit][~missing]), name


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("ask", [False, True])
def test_plain_frequencies_are_what_the_results_call_reported(name: str, ask: bool, tmp_path: Path) -> None:
    """For every bit with p and q, whichever kind of field it is of: its mean is `reported` and its count `n`.

    Two kinds have bits that are no line of the results: levels of a number, and the sets of a multiple.
    """
    parsed = make_survey([name, "coin"], ask=ask)
    rows, tally = filled(parsed, 400)
    table = read_csv(parsed, rows, tmp_path)
    parts = results(parsed, tally).parts
    sent = [(line.n, line.reported) for part in parts for line in part.estimates]
    for bit in stored_bits(parsed):
        if bit.p is not None and not any(one.levels or "sets" in name for one in bit.field.questions):
            column = table[bit.column]
            same = [r for n, r in sent if n == column.count() and r is not None]
            assert any(r == pytest.approx(column.mean(), abs=1e-12) for r in same), bit.column


def test_a_survey_that_asks_everybody_everything_misses_nothing() -> None:
    parsed = make_survey(["coin", "two of four", "joint"])
    rows, _ = filled(parsed, 100)
    assert (find_asked_bits(parsed) < 0).all()
    assert read_csv(parsed, rows, Path()).notna().all(axis=None)


# Parquet that is read back


def old(parsed: Survey, rows: Bits, path: Path) -> Path:
    """A file as versions 0.5 to 0.8 wrote it: 0 where a device was not asked."""
    file = io.BytesIO()
    write_parquet(parsed, [rows], file)
    table = pyarrow.parquet.read_table(file)
    whole = [column.fill_null(False) for column in table.columns]
    table = pyarrow.table(whole, names=table.column_names)
    return write_foreign_file(table, path, definition=parsed.source, digest=parsed.digest.encode())


@pytest.mark.parametrize("pairs", [False, True])
def test_files_of_before_and_of_now_are_counted_alike(pairs: bool, tmp_path: Path) -> None:
    parsed = everything(True)
    rows, tally = filled(parsed, 900)
    before = old(parsed, rows, tmp_path / "old.parquet")
    now = tmp_path / "new.parquet"
    with now.open("wb") as file:
        write_parquet(parsed, [rows], file)
    assert pyarrow.parquet.read_table(before).column(1).null_count == 0
    assert pyarrow.parquet.read_table(now).column(1).null_count > 0
    counted = [count(find(files), pairs=pairs) for files in ([before], [now], [before, now])]
    for one, times in zip(counted, (1, 1, 2), strict=True):
        assert one.tally.reports == times * 900
        assert np.array_equal(one.tally.counts, times * tally.counts)
        bits = unpacked(parsed, rows)
        assert one.pairs is None or np.array_equal(one.pairs, times * (bits.T @ bits))


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("column", ["cheated", "cheated:asked", "used:item 0:yes"])
def test_a_bit_that_was_asked_for_and_is_missing_is_refused(column: str, pairs: bool, tmp_path: Path) -> None:
    parsed = everything(True)
    rows, _ = filled(parsed, 900)
    table = pyarrow.parquet.read_table(old(parsed, rows, tmp_path / "old.parquet"))
    place = table.column_names.index(column)
    table = table.set_column(place, column, pyarrow.array([None] * 900, pyarrow.bool_()))
    if column.startswith("used"):  # asked about this option and said no
        assert table["used:item 0:no"].to_pylist().count(True) > 0
        table = table.set_column(place - 1, "used:item 0:no", pyarrow.array([True] * 900))
    file = write_foreign_file(table, tmp_path / "bad.parquet", definition=parsed.source, digest=parsed.digest.encode())
    with pytest.raises(ParquetError) as caught:
        count(find([file]), pairs=pairs)
    assert caught.value.code is FileFault.MISSING_BIT
