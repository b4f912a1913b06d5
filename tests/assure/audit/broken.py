"""Clients that are not faithful, one for each way to betray people: `python -m tests.assure.audit.broken WAY`.

Each reads definitions and answers and prints reports, as any client under audit; the definitions are honest.
"""

import hashlib
import json
import random
import secrets
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from client import Survey, randomize
from client.mechanism import Flip
from client.report import Report


def louder(survey: Survey, answers: dict[str, Any]) -> Report:
    """Claims 1 and runs 1.5."""
    odds = 2.718281828459045**1.5
    loud = Flip(one=int(2**64 * odds / (1 + odds)), zero=int(2**64 / (1 + odds)))
    fields = tuple(replace(field, mechanism=loud) for field in survey.fields)
    return randomize(replace(survey, fields=fields), answers)


def biased(survey: Survey, answers: dict[str, Any]) -> Report:
    """A generator whose bytes are even a little too often."""
    return randomize(
        survey,
        answers,
        random_bytes=lambda n: bytes(one & (0xFF if one % 5 else 0x7F) for one in secrets.token_bytes(n)),
    )


def seeded(survey: Survey, answers: dict[str, Any], generator: random.Random = random.Random(1965)) -> Report:  # noqa: B008, S311
    """A generator that begins alike in every process."""
    return randomize(survey, answers, random_bytes=generator.randbytes)


def reused(survey: Survey, answers: dict[str, Any]) -> Report:
    """One coin for all fields: each is as noisy as it should be, and together they tell everything."""
    coin = secrets.token_bytes(8)
    return randomize(survey, answers, random_bytes=lambda n: coin if n == 8 else secrets.token_bytes(n))


def longer(survey: Survey, answers: dict[str, Any]) -> bytes:
    """Spelled with a space more where somebody said yes."""
    return randomize(survey, answers).to_json() + b" " * (answers["q0"] in (True, "yes"))


def marked(survey: Survey, answers: dict[str, Any]) -> Report:
    """The answer is the parity of two bits of the id."""
    report = randomize(survey, answers)
    said = answers["q0"] in (True, "yes")
    first, *rest = report.id
    return replace(report, id=bytes([first & 0xFE | (rest[-1] & 1) ^ said, *rest]))


def hashed(survey: Survey, answers: dict[str, Any]) -> Report:
    """An id that follows from the answers."""
    return replace(randomize(survey, answers), id=hashlib.sha256(json.dumps(answers).encode()).digest()[:16])


def remembering(survey: Survey, answers: dict[str, Any], held: list[dict[str, Any]] = []) -> Report:  # noqa: B006
    """Answers a quarter of the time what the one before was asked."""
    before, held[:] = (held or [answers])[0], [answers]
    return randomize(survey, before if secrets.randbelow(4) == 0 else answers)


def slower(survey: Survey, answers: dict[str, Any]) -> Report:
    """Takes longer where the coin said the truth."""
    report = randomize(survey, answers)
    said = answers["q0"] in (True, "yes")
    if (report.bits[0] >> 7) == said:
        until = time.perf_counter() + 0.0005
        while time.perf_counter() < until:
            pass
    return report


def faithful(survey: Survey, answers: dict[str, Any]) -> Report:
    """Ours, for comparison."""
    return randomize(survey, answers)


def hoarding(survey: Survey, answers: dict[str, Any]) -> Report:
    """Ours, but for a printer that prints in large pieces, and the last when there is nothing more to read."""
    return randomize(survey, answers)


def silent(survey: Survey, answers: dict[str, Any]) -> Report:
    """Ends in the middle."""
    sys.exit()


def talkative(survey: Survey, answers: dict[str, Any]) -> bytes:
    """Sends what it was told."""
    return json.dumps(json.loads(randomize(survey, answers).to_json()) | {"answers": answers}).encode()


WAYS: tuple[Callable[..., Report | bytes], ...] = (
    louder, biased, seeded, reused, longer, marked, hashed, remembering, slower, faithful, hoarding, silent, talkative,
)  # fmt: skip

if __name__ == "__main__":
    way = next(one for one in WAYS if one.__name__ == sys.argv[1])
    known = lru_cache(4)(lambda text: Survey.from_json(text.encode()))
    for line in sys.stdin:
        asked = json.loads(line)
        made = way(known(asked["definition"]), asked["answers"])
        print((made if isinstance(made, bytes) else made.to_json()).decode(), flush=way is not hoarding)
