"""The tool of an independent party: reports go in, bits come out, without ids or tickets and in a secret order.

A file is NDJSON: reports as devices send them, or an export, whose first line holds the definition. It is read twice:
first every line is checked and its place noted, then the lines are written in an order drawn from the system's
randomness, each spelled anew, so that neither spaces nor the order of keys can mark one. Memory holds a place and a
few hashes for each report, some 250 bytes, never the reports.
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

from client import canonical
from client.definition import LARGEST_REPORT, Survey
from client.errors import CandorError
from client.report import ID_BYTES, from_text, to_text, unpack
from client.sampling import RandomBytes

PERMITTED = {"survey", "id", "bits", "ticket"}
DIGEST = re.compile(r"[0-9a-f]{64}")
LARGEST_LINE = LARGEST_REPORT + 600_000  # the first line may hold a definition
KEY_WORDS = 2  # 128 random bits order a report: two alike are not to be feared


class ShufflingError(Exception):
    """The file cannot be shuffled; the message says where it is wrong."""


@dataclass(frozen=True)
class Shuffled:
    """What was written: how many reports, how many lines were the same report again, and of which definition."""

    reports: int
    again: int
    digest: str
    survey: Survey | None


@dataclass
class _Read:
    """What the first reading finds."""

    survey: Survey | None
    digest: str
    again: int = 0
    places: list[int] = field(default_factory=list)
    seen: dict[bytes, bytes] = field(default_factory=dict)  # of every id a hash of its bits


def permutation(count: int, random_bytes: RandomBytes = secrets.token_bytes) -> npt.NDArray[np.int64]:
    """The numbers below `count` in an order that only the random bytes tell: each has a key, and keys are sorted."""
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
) -> Shuffled:
    """Write every report of `source` once, in a secret order, without its id; `renumber` gives each a new one.

    With a definition, given or in the first line, bits that no device could have sent are refused. `progress` is told
    of bytes, twice those of `source` in all.
    """
    found = _read(source, survey, progress)
    if found.survey and not renumber:
        head = b'{"definition":%b,"digest":"%b","reports":%d}\n'
        target.write(head % (found.survey.source, found.digest.encode(), len(found.places)))
    for at in permutation(len(found.places), random_bytes):
        source.seek(found.places[at])
        line = source.readline()
        bits = json.loads(line)["bits"]
        if renumber:
            identity = to_text(random_bytes(ID_BYTES))
            target.write(f'{{"survey":"{found.digest}","id":"{identity}","bits":"{bits}"}}\n'.encode())
        elif found.survey:
            target.write(f'{{"bits":"{bits}"}}\n'.encode())
        else:
            target.write(f'{{"survey":"{found.digest}","bits":"{bits}"}}\n'.encode())
        progress(len(line))
    return Shuffled(len(found.places), found.again, found.digest, found.survey)


def _read(source: BinaryIO, survey: Survey | None, progress: Callable[[int], None]) -> _Read:
    found = _Read(survey, survey.digest if survey else "")
    number = place = 0
    while line := source.readline(LARGEST_LINE + 1):
        number += 1
        if len(line) > LARGEST_LINE:
            raise ShufflingError(f"line {number}: longer than any report")
        if line.strip():
            try:
                _note(found, json.loads(line), place, first=number == 1)
            except (CandorError, UnicodeDecodeError, ValueError, RecursionError) as error:
                raise ShufflingError(f"line {number}: {error}") from None
        place += len(line)
        progress(len(line))
    if not found.places:
        raise ShufflingError("there are no reports in it")
    return found


def _note(found: _Read, value: Any, place: int, *, first: bool) -> None:
    """Take one line to account; ValueError, or an error of the client, if it is no report to this definition."""
    if not isinstance(value, dict):
        raise ValueError("not a report")
    if first and "definition" in value:
        inside = Survey.from_stored(canonical.dumps(value["definition"]))
        if found.survey and found.survey.digest != inside.digest:
            raise ValueError(f"the file is of {inside.digest}, the definition given is {found.survey.digest}")
        found.survey, found.digest = inside, inside.digest
        return
    texts = all(isinstance(value[key], str) for key in value.keys() & {"survey", "id", "bits"})
    if not (texts and value.keys() <= PERMITTED and "bits" in value):
        raise ValueError("a report has survey, id and bits")
    digest = value.get("survey", found.digest)
    if digest and not DIGEST.fullmatch(digest):
        raise ValueError("survey is a digest: 64 digits and letters from a to f")
    found.digest = found.digest or digest
    if not found.digest or digest != found.digest:
        raise ValueError("reports of several definitions, or of none: shuffle those of one definition at a time")
    bits = from_text(value["bits"])
    if found.survey:
        unpack(found.survey, bits)
    if "id" in value:
        identity, held = from_text(value["id"]), hashlib.sha256(bits).digest()
        before = found.seen.setdefault(identity, held)
        if before != held:
            raise ValueError("the id of an earlier report, with other bits")
        if before is not held:
            found.again += 1
            return
    found.places.append(place)
