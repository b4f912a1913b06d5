"""Noisy bits for SPSS (.sav) and Stata (.dta), with the parameters that an estimate needs in the file itself.

Every stored bit is a numeric variable of 0 and 1, system-missing where the device was not asked for it. Its label ends
in `[p=… q=…]`, with all digits of a double (a noisy level has `[score=…]`), and its values are labelled. The digest of
the definition is the file's label. The published integers are in the notes of a .sav file. Stata files that pyreadstat
writes have no notes, so they are in the label of the value 2, which no bit ever has: `label list` shows it. The
definition is in a second file, as for a CSV.

pyreadstat needs the whole table at once and cannot stream. So memory grows with the reports, as in no other format: a
byte for each stored bit, and another for each bit that can be missing. The limit is `MOST_CELLS` bits; larger surveys
need Parquet or CSV.
"""

import shutil
import tempfile
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from candor_client.definition import Survey
from survey_app.languages.numbers import format_count
from survey_app.results.bit_meanings import Bit, field_bits, format_integers, stored_bits
from survey_app.results.export import ExportError
from survey_app.results.file_faults import FileFault
from survey_app.tally import Bits, Cells, find_asked_bits, mark_missing

Values = npt.NDArray[np.int8]

STATISTICS_SUFFIXES = (".sav", ".dta")
MOST_CELLS = 100_000_000  # two hundred megabytes, and half a minute
MOST_VARIABLES = 32_767  # of a .dta file that every edition of Stata reads
LONGEST_LABEL = {".sav": 250, ".dta": 80}  # bytes, for Stata characters; SPSS takes 256
LONGEST_FILE_LABEL = {".sav": 64, ".dta": 80}
NOTE_BYTES = 80
INTEGERS_VALUE = 2
STATA_VERSION = 14  # the version whose files all later ones read


def write_statistics_file(survey: Survey, reports: int, rows: Iterable[Bits], kind: str, file: BinaryIO) -> None:
    """Write a .sav or .dta file of all reports; raise ExportError if pyreadstat is missing or it is too large."""
    try:
        import pandas
        import pyreadstat
    except ImportError:
        raise ExportError(
            FileFault.MISSING_PACKAGE,
            f"{kind} needs pyreadstat: pip install 'candor-survey[spss]', or with pipx: pipx inject candor-survey"
            " pyreadstat pandas",
        ) from None
    _check_size(reports, survey.width, kind)
    bits = stored_bits(survey)
    cells, missing = _read_cells(survey, reports, rows)
    table = pandas.DataFrame(
        {
            bit.variable: values if absent is None else pandas.arrays.IntegerArray(values, absent)
            for bit, values, absent in zip(bits, cells, missing, strict=True)
        },
        copy=False,
    )
    labels: dict[str, str | None] = {bit.variable: make_variable_label(bit, kind) for bit in bits}
    values: Any = {bit.variable: make_value_labels(bit, kind) for bit in bits}
    with tempfile.TemporaryDirectory() as folder:  # pyreadstat writes only to a path
        path = Path(folder, f"bits{kind}")
        if kind == ".sav":
            pyreadstat.write_sav(
                table,
                path,
                file_label=file_label(survey, kind),
                column_labels=labels,
                row_compress=True,
                note=make_notes(survey),
                variable_value_labels=values,
                variable_measure={bit.variable: "nominal" for bit in bits},
                variable_format={bit.variable: "F1.0" for bit in bits},
            )
        else:
            pyreadstat.write_dta(
                table,
                path,
                file_label=file_label(survey, kind),
                column_labels=labels,
                version=STATA_VERSION,
                variable_value_labels=values,
            )
        with path.open("rb") as source:
            shutil.copyfileobj(source, file)


def _read_cells(survey: Survey, reports: int, rows: Iterable[Bits]) -> tuple[Values, list[Cells | None]]:
    """Return a row of values for every bit, and for a bit that can be missing, a row that marks its missing values."""
    indicators = find_asked_bits(survey)
    can_be_missing = indicators[:, 0] >= 0
    cells = np.zeros((survey.width, reports), dtype=np.int8)
    missing = np.zeros((np.count_nonzero(can_be_missing), reports), dtype=bool)
    start = 0
    for part in rows:
        bits = np.unpackbits(part, axis=1, count=survey.width)
        cells[:, start : start + len(part)] = bits.T
        if (absent := mark_missing(indicators, bits)) is not None:
            missing[:, start : start + len(part)] = absent[:, can_be_missing].T
        start += len(part)
    masks = iter(missing[:, :start])
    return cells[:, :start], [next(masks) if has_mask else None for has_mask in can_be_missing]


def _check_size(reports: int, width: int, kind: str) -> None:
    """Raise ExportError if the format or the memory limit cannot hold the reports, before any of them is read."""
    if kind == ".dta" and width > MOST_VARIABLES:
        most = format_count(MOST_VARIABLES)
        raise ExportError(
            FileFault.TOO_MANY_BITS,
            f"Stata supports at most {most} variables, but a report has {format_count(width)} bits; use .parquet",
        )
    if reports * width > MOST_CELLS:
        raise ExportError(
            FileFault.TOO_MANY_CELLS,
            f"{format_count(reports)} reports of {format_count(width)} bits exceed the limit of"
            f" {format_count(MOST_CELLS)} cells for a {kind} file, which is built in memory; use .parquet or .csv,"
            " which are streamed",
        )


def file_label(survey: Survey, kind: str) -> str:
    """Return the digest of the definition, labelled as such in a .dta file, whose label is long enough."""
    return survey.digest if kind == ".sav" else f"candor sha256 {survey.digest}"


def make_variable_label(bit: Bit, kind: str) -> str:
    """Return the column and its questions, shortened to fit, and always the parameters in full."""
    tail = f" [{bit.parameters}]" if bit.parameters else ""
    texts = " / ".join(question.text for question in bit.field.questions)
    max_size = LONGEST_LABEL[kind] - len(tail)
    return _shorten(f"{bit.column} – {texts}", max_size, in_bytes=kind == ".sav") + tail


def make_value_labels(bit: Bit, kind: str) -> dict[int, str]:
    """Return the meanings of 0 and 1; for Stata also the published integers of the field."""
    labels = {0: "not sent", 1: "sent"} if bit.parameters else {0: "no", 1: "yes"}
    return labels | ({INTEGERS_VALUE: f"(published integers: {format_integers(bit.field)})"} if kind == ".dta" else {})


def make_notes(survey: Survey) -> list[str]:
    """Return the notes of a .sav file, in lines of at most 80 characters, because SPSS keeps 80 bytes."""
    lines = [
        f"Candor survey {survey.slug}: noisy bits, randomized on the respondents' devices.",
        "SHA-256 of the definition:",
        survey.digest,
        "Published integers of each field, and its variables:",
    ]
    for field in field_bits(survey):
        first, last = field.all_bits[0].variable, field.all_bits[-1].variable
        lines.append(f"{field.name}: {format_integers(field.field)}; {first}{'' if first == last else f' to {last}'}")
    return [part for line in lines for part in textwrap.wrap(line, NOTE_BYTES, subsequent_indent="  ")]


def _shorten(text: str, max_size: int, *, in_bytes: bool) -> str:
    """Cut text to a size in bytes or characters, with … at the end if it was cut."""

    def size(said: str) -> int:
        return len(said.encode()) if in_bytes else len(said)

    if size(text) <= max_size:
        return text
    while size(f"{text}…") > max_size:
        text = text[:-1]
    return f"{text}…"
