"""The output of a client as bits in columns; lines are parsed strictly, and lines that are no report become faults."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from candor_client.definition import Survey
from candor_client.errors import ReportError
from candor_client.report import ID_BYTES, from_base64url, unpack
from survey_app.assure.audit.client_processes import ClientOutput
from survey_app.channels.channel import Indices, Matrix

ID_BITS = 8 * ID_BYTES
MAX_FAULTS = 3
LAGS = (1, 2, 3)  # in reports
TEXTS = re.compile(rb'"[^"]*"')


class _Wire(msgspec.Struct, forbid_unknown_fields=True):
    survey: str
    id: str
    bits: str


@dataclass(frozen=True)
class Reports:
    """All reports of an audit: the input, earlier inputs, id, bits and spelling of each."""

    inputs: Indices
    earlier_inputs: Indices  # a row for each lag; −1 if the process had not printed enough lines
    process: Indices
    place: Indices  # among the lines of its process
    seconds: npt.NDArray[np.float64]
    ids: Matrix
    bits: Matrix
    shapes: Indices
    shape_names: list[str]
    repeated: int  # the number of reports whose id occurred before
    faults: list[str]  # descriptions of the lines that are no report


def read_reports(survey: Survey, outputs: Sequence[ClientOutput]) -> Reports:
    """Return the reports of all processes, in order; lines that are no report are left out and listed as faults."""
    decode = msgspec.json.Decoder(_Wire).decode
    inputs: list[int] = []
    process: list[int] = []
    places: list[int] = []
    seconds: list[float] = []
    ids, bits, shapes = bytearray(), bytearray(), list[int]()
    names: dict[bytes, int] = {}
    bits_by_text: dict[str, bytes] = {}
    faults: Counter[str] = Counter()
    for number, output in enumerate(outputs):
        for place, (input_number, line) in enumerate(zip(output.inputs, output.lines, strict=True)):
            try:
                wire = decode(line)
                if wire.survey != survey.digest:
                    raise ReportError("wrong_survey", "the report belongs to another definition")
                identity = from_base64url(wire.id)
                if len(identity) != ID_BYTES:
                    raise ReportError("malformed_report", f"an id must have {ID_BYTES} bytes")
                if wire.bits not in bits_by_text:
                    unpack(survey, from_base64url(wire.bits))
                    bits_by_text[wire.bits] = from_base64url(wire.bits)
            except (msgspec.DecodeError, UnicodeDecodeError, ReportError) as error:
                faults[str(error)] += 1
                continue
            inputs.append(input_number)
            process.append(number)
            places.append(place)
            seconds.append(output.seconds[place] if output.seconds else 0.0)
            ids += identity
            bits += bits_by_text[wire.bits]
            shape = TEXTS.sub(lambda text: b'"' + b"." * (len(text[0]) - 2) + b'"', line)
            shapes.append(names.setdefault(shape, len(names)))
    count = len(inputs)
    id_bytes = [bytes(ids[ID_BYTES * place : ID_BYTES * (place + 1)]) for place in range(count)]
    return Reports(
        np.array(inputs, dtype=np.int64),
        np.array([_earlier_inputs(outputs, process, places, lag) for lag in LAGS], dtype=np.int64),
        np.array(process, dtype=np.int64),
        np.array(places, dtype=np.int64),
        np.array(seconds),
        _unpack_columns(ids, count, ID_BYTES, ID_BITS),
        _unpack_columns(bits, count, survey.length, survey.width),
        np.array(shapes, dtype=np.int64),
        [name.decode("utf-8", "replace").strip() for name in names],
        count - len(set(id_bytes)),
        [f"{number} lines are not reports: {reason}" for reason, number in faults.most_common(MAX_FAULTS)],
    )


def _earlier_inputs(outputs: Sequence[ClientOutput], process: list[int], places: list[int], lag: int) -> list[int]:
    """Return the input that each process was given `lag` lines before each report; −1 if there is none."""
    return [
        outputs[number].inputs[place - lag] if place >= lag else -1
        for number, place in zip(process, places, strict=True)
    ]


def _unpack_columns(packed: bytearray, count: int, length: int, width: int) -> Matrix:
    rows = np.frombuffer(bytes(packed), dtype=np.uint8).reshape(count, length)
    return np.unpackbits(rows, axis=1, count=width)
