"""Spark counts as numpy does, on a cluster of two workers in processes of their own: `make test-spark`."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest

from survey_app.results.file_faults import FileFault
from survey_app.results.parquet import ParquetError, spark
from survey_app.results.parquet.pair_counts import count
from survey_app.results.parquet.parquet_reader import ReportFiles, find
from survey_app.tally import Bits
from tests.results.parquet.parquet_files import (
    bits_of,
    count_bits,
    mixed_survey,
    write_column_file,
    write_foreign_file,
    write_part_files,
)

pytestmark = pytest.mark.spark

PARSED = mixed_survey()
WORKERS = 2
LISTENING, LOOPBACK = "0A", ("0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000")


@pytest.fixture(scope="module", autouse=True)
def hasty() -> Iterator[None]:
    """Java that starts in half the time, and would run long jobs slowly."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        yield


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with spark.open_session(f"local-cluster[{WORKERS},1,1024]") as made:
        yield made


@pytest.fixture(scope="module")
def rows() -> Bits:
    return bits_of(PARSED, 20_000)


def cut(name: str, rows: Bits, folder: Path) -> ReportFiles:
    """The same reports, laid out in some way."""
    if name == "one file":
        return find([write_column_file(PARSED, rows, folder / "all.parquet")])
    if name == "a folder":
        return find([write_part_files(PARSED, rows, 1300, folder / "bits")])
    empty = write_part_files(PARSED, rows[:0], 10, folder / "empty")
    return find([empty]) if name == "nothing" else find([write_part_files(PARSED, rows, 9000, folder / "bits"), empty])


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("name", ["one file", "a folder", "an empty part", "nothing"])
def test_numpy_and_spark_give_the_same_counts(session: Any, rows: Bits, tmp_path: Path, name: str, pairs: bool) -> None:
    found = cut(name, rows, tmp_path)
    here, there = count(found, pairs=pairs), spark.count(found, session, pairs=pairs)
    tally, square = count_bits(PARSED, rows if name != "nothing" else rows[:0])
    for counted in (here, there):
        assert counted.tally.reports == tally.reports
        assert np.array_equal(counted.tally.counts, tally.counts)
        assert (None if counted.pairs is None else counted.pairs.tolist()) == (square.tolist() if pairs else None)


def test_both_workers_took_part(session: Any, rows: Bits, tmp_path: Path) -> None:
    """A cluster, not threads of one process: two executors beside the driver, each in a Java of its own."""
    assert session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() == 1 + WORKERS


def test_spark_listens_to_this_machine_alone(session: Any) -> None:
    sockets = {
        os.readlink(link)
        for process in family(os.getpid())
        for link in Path(f"/proc/{process}/fd").iterdir()
        if link.is_symlink()
    }
    lines = [
        line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    places = {line[1].partition(":")[0] for line in lines if line[3] == LISTENING and f"socket:[{line[9]}]" in sockets}
    assert places, "Spark listens somewhere"
    assert places <= set(LOOPBACK)


def family(process: int) -> list[int]:
    """A process and all that it started, and they."""
    children = [
        int(child)
        for one in Path(f"/proc/{process}/task").iterdir()
        for child in (one / "children").read_text().split()
    ]
    return [process, *(member for child in children for member in family(child))]


def test_what_a_worker_refuses_is_told_in_one_line(session: Any, tmp_path: Path) -> None:
    table = pyarrow.table({"bits": pyarrow.array([b"12345678", b"1"], pyarrow.binary())})
    file = write_foreign_file(table, tmp_path / "x.parquet", definition=PARSED.source, digest=PARSED.digest.encode())
    with pytest.raises(ParquetError) as here:
        count(find([file]))
    with pytest.raises(ParquetError) as error:
        spark.count(find([file]), session)
    assert error.value.code is FileFault.ENGINE_FAILURE
    assert error.value.message.endswith(f": {here.value.message}") and "\n" not in error.value.message


def test_the_command_counts_with_the_java_of_a_wheel_where_there_is_none(rows: Bits, tmp_path: Path) -> None:
    """A process of its own, with nothing on its path but the shell's own tools."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for tool in Path(place).iterdir() if Path(place).is_dir() else ():
            if tool.name != "java" and not (tools / tool.name).exists():
                (tools / tool.name).symlink_to(tool)
    folder = write_part_files(PARSED, rows, 5000, tmp_path / "bits")
    environment = {key: value for key, value in os.environ.items() if key not in ("JAVA_HOME", "SPARK_LOCAL_IP")}

    def tally(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from survey_app.cli import main; main()", "tally", str(folder), *words]
        return subprocess.run(
            command, env=environment | {"PATH": str(tools)}, capture_output=True, text=True, check=False
        )

    done = tally("--engine", "spark", "--master", "local[2]", "--results", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stdout == tally("--results", "--json").stdout
    environment["JAVA_HOME"] = str(tmp_path)
    (tools / "java").write_text("#!/bin/sh\necho java 1.8 >&2\nexit 1\n")
    (tools / "java").chmod(0o700)
    old = tally("--engine", "spark")
    assert old.returncode == 1
    assert re.search(rf"^Error: .*{tmp_path}\b.*\b17\b", old.stderr, re.MULTILINE)
