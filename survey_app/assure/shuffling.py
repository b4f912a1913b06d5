"""The tool of an independent party that shuffles reports: it drops ids and tickets and writes bits in a secret order.

A file is NDJSON: reports as devices send them, or an export, whose first line contains the definition.
It is read twice. The first pass checks every line and records its offset.
The second pass writes the lines in an order drawn from the randomness of the operating system.
Each line is serialized again, so that neither spaces nor the order of keys can mark a report.
Memory holds an offset and a few hashes for each report, about 250 bytes, never the reports.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from candor_client import canonical
from candor_client.definition import LARGEST_REPORT, Survey
from candor_client.errors import CandorError
from candor_client.report import ID_BYTES, from_base64url, to_base64url, unpack
from candor_client.sampling import RandomBytes

PERMITTED = {"survey", "id", "bits", "ticket"}
DIGEST = re.compile(r"[0-9a-f]{64}")
LARGEST_LINE = LARGEST_REPORT + 600_000  # the first line may hold a definition
KEY_WORDS = 2  # 128 random bits are the sort key of a report, so equal keys are not a concern


class ShufflingError(Exception):
    """The file cannot be shuffled, for a reason that `code` names.

    `line` is the number of the faulty line; None if the fault concerns the whole file.
    """

    def __init__(self, code: str, reason: str, line: int | None = None) -> None:
        super().__init__(reason if line is None else f"line {line}: {reason}")
        self.code, self.line = code, line


class _LineFault(ValueError):
    """A line is not a report to this definition."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True)
class ShuffleResult:
    """The result of a shuffle: the number of reports written, the number of duplicate lines, and the definition."""

    reports: int
    duplicates: int
    digest: str
    survey: Survey | None


@dataclass
class _Scan:
    """The result of the first pass over a file."""

    survey: Survey | None
    digest: str
    duplicates: int = 0
    offsets: list[int] = field(default_factory=list)
    bits_hashes: dict[bytes, bytes] = field(default_factory=dict)  # for every id, a hash of its bits


def permutation(count: int, random_bytes: RandomBytes = secrets.token_bytes) -> npt.NDArray[np.int64]:
    """Return the numbers below `count`, sorted by random keys, so that only the random bytes decide their order."""
    keys = np.frombuffer(random_bytes(8 * KEY_WORDS * count), dtype=np.uint64).reshape(KEY_WORDS, count)
    order: npt.NDArray[np.int64] = np.lexsort(keys)
    return order


def shuffle(
    source: BinaryIO,
    target: BinaryIO,
    survey: Survey | None = None,
    *,
    renumber: bool = False,
    random_bytes: RandomBytes = secrets.token_bytes,
    progress: Callable[[int], None] = lambda _: None,
) -> ShuffleResult:
    """Write every report of `source` once, in a secret order and without its id, and return a summary.

    `renumber` gives each report a new id. With a definition, given or in the first line, impossible bits are refused.
    `progress` is called with numbers of bytes; their sum is twice the size of `source`.
    Raise ShufflingError if a line is not a report.
    """
    scan = _scan_file(source, survey, progress)
    if scan.survey and not renumber:
        head = b'{"definition":%b,"digest":"%b","reports":%d}\n'
        target.write(head % (scan.survey.source, scan.digest.encode(), len(scan.offsets)))
    for number in permutation(len(scan.offsets), random_bytes):
        source.seek(scan.offsets[number])
        line = source.readline()
        bits = json.loads(line)["bits"]
        if renumber:
            identity = to_base64url(random_bytes(ID_BYTES))
            target.write(f'{{"survey":"{scan.digest}","id":"{identity}","bits":"{bits}"}}\n'.encode())
        elif scan.survey:
            target.write(f'{{"bits":"{bits}"}}\n'.encode())
        else:
            target.write(f'{{"survey":"{scan.digest}","bits":"{bits}"}}\n'.encode())
        progress(len(line))
    return ShuffleResult(len(scan.offsets), scan.duplicates, scan.digest, scan.survey)


def _scan_file(source: BinaryIO, survey: Survey | None, progress: Callable[[int], None]) -> _Scan:
    scan = _Scan(survey, survey.digest if survey else "")
    number = place = 0
    while line := source.readline(LARGEST_LINE + 1):
        number += 1
        if len(line) > LARGEST_LINE:
            raise ShufflingError(
                "too_long", f"the line is longer than {LARGEST_LINE} bytes, so it is not a report", number
            )
        if line.strip():
            try:
                _scan_line(scan, json.loads(line), place, first=number == 1)
            except (_LineFault, CandorError) as error:
                raise ShufflingError(error.code, str(error), number) from None
            except (ValueError, RecursionError) as error:
                reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
                raise ShufflingError("not_json", f"not JSON: {reason}", number) from None
        place += len(line)
        progress(len(line))
    if not scan.offsets:
        raise ShufflingError("no_reports", "the file contains no reports")
    return scan


def _scan_line(scan: _Scan, value: Any, offset: int, *, first: bool) -> None:
    """Add one line to the scan; raise _LineFault or CandorError if it is not a report to this definition."""
    if not isinstance(value, dict):
        raise _LineFault("not_a_report", "not a report: a report is an object with the keys survey, id and bits")
    if first and "definition" in value:
        definition = Survey.from_stored(canonical.dumps(value["definition"]))
        if scan.survey and scan.survey.digest != definition.digest:
            reason = f"the file has the definition {definition.digest}, but --definition names {scan.survey.digest}"
            raise _LineFault("other_definition", reason)
        scan.survey, scan.digest = definition, definition.digest
        return
    texts = all(isinstance(value[key], str) for key in value.keys() & {"survey", "id", "bits"})
    if not (texts and value.keys() <= PERMITTED and "bits" in value):
        raise _LineFault(
            "not_a_report", "not a report: a report has the keys survey, id and bits, and their values are strings"
        )
    digest = value.get("survey", scan.digest)
    if digest and not DIGEST.fullmatch(digest):
        raise _LineFault("bad_digest", "survey must be a digest of 64 characters: digits, and letters from a to f")
    scan.digest = scan.digest or digest
    if not scan.digest:
        raise _LineFault("no_definition", "the report names no survey; give its definition with --definition")
    if digest != scan.digest:
        reason = (
            "the report belongs to a different definition than the reports before it; shuffle one definition at a time"
        )
        raise _LineFault("several_definitions", reason)
    bits = from_base64url(value["bits"])
    if scan.survey:
        unpack(scan.survey, bits)
    if "id" in value:
        identity, bits_hash = from_base64url(value["id"]), hashlib.sha256(bits).digest()
        earlier_hash = scan.bits_hashes.setdefault(identity, bits_hash)
        if earlier_hash != bits_hash:
            raise _LineFault(
                "reused_id", "the report has the id of an earlier report, but other bits; remove one of the two lines"
            )
        if earlier_hash is not bits_hash:
            scan.duplicates += 1
            return
    scan.offsets.append(offset)
