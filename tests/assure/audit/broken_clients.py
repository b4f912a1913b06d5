"""Clients that are not faithful, one for each way to betray people: `python -m tests.assure.audit.broken_clients WAY`.

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

from candor_client import Survey, randomize
from candor_client.mechanisms import Drawn, Flip, Subset
from candor_client.report import Report
from candor_client.sampling import RandomBytes, draw_below, flip_coin, pick


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


def without_noise(survey: Survey, answers: dict[str, Any], name: str) -> Report:
    """A report in which one question is answered plainly."""
    fields = tuple(
        replace(field, mechanism=replace(field.mechanism, keep=2**64 - 1))
        if isinstance(field.mechanism, Subset | Drawn) and field.questions[0].id == name
        else field
        for field in survey.fields
    )
    return randomize(replace(survey, fields=fields), answers)


def middling(survey: Survey, answers: dict[str, Any]) -> Report:
    """Faithful to the first and the last option, and plain about one in the middle."""
    return without_noise(survey, answers, "help") if answers["help"] == "option 2" else randomize(survey, answers)


def frank(survey: Survey, answers: dict[str, Any]) -> Report:
    """Says who did not answer."""
    return without_noise(survey, answers, "help") if answers["help"] is None else randomize(survey, answers)


def unmasking(survey: Survey, answers: dict[str, Any]) -> Report:
    """Says who was not asked a question that depends on another."""
    return without_noise(survey, answers, "second") if answers["second"] is None else randomize(survey, answers)


def rounding(survey: Survey, answers: dict[str, Any]) -> Report:
    """Rounds a number to the nearest level, without a coin."""
    question = next(one for one in survey.questions if one.id == "hours")
    if answers["hours"] is None:
        return randomize(survey, answers)
    level = round(int(answers["hours"]) * (question.levels - 1) / question.steps + 1e-9)
    return randomize(survey, answers | {"hours": level * question.steps // (question.levels - 1)})


class Chosen(Drawn):  # type: ignore[misc]  # a broken client may do what ours may not
    """Draws neighbours only, each option as often as it should."""

    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        first = draw_below(self.size, random_bytes)
        options = sorted((first + place) % self.size for place in range(self.draw))
        truth = sum((symbol >> option & 1) << place for place, option in enumerate(options))
        other = draw_below(self.sets - 1, random_bytes)
        sent = truth if flip_coin(self.keep, random_bytes) else other + (other >= truth)
        return sum(1 << (self.width - 1 - 2 * option - (sent >> place & 1)) for place, option in enumerate(options))


class Paired(Drawn):  # type: ignore[misc]  # a broken client may do what ours may not
    """Turns what was said of both options or of none: each is as noisy as it should be, whether they agree is plain."""

    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        options = sorted(pick(2, list(range(self.size)), random_bytes))
        turned = not flip_coin(int(self.p * 2**64), random_bytes)
        said = [(symbol >> option & 1) ^ turned for option in options]
        return sum(1 << (self.width - 1 - 2 * option - bit) for option, bit in zip(options, said, strict=True))


def _drawing(survey: Survey, answers: dict[str, Any], kind: type[Drawn]) -> Report:
    fields = tuple(
        replace(field, mechanism=kind(size=field.mechanism.size, draw=field.mechanism.draw, keep=field.mechanism.keep))
        if isinstance(field.mechanism, Drawn)
        else field
        for field in survey.fields
    )
    return randomize(replace(survey, fields=fields), answers)


def neighbouring(survey: Survey, answers: dict[str, Any]) -> Report:
    """Options of a multiple that are drawn together too often."""
    return _drawing(survey, answers, Chosen)


def pairing(survey: Survey, answers: dict[str, Any]) -> Report:
    """Noise of two options that is one."""
    return _drawing(survey, answers, Paired)


def repeating(survey: Survey, answers: dict[str, Any], held: list[list[bytes]] = []) -> Report:  # noqa: B006
    """The noise of the report before, in one of four."""
    again = iter(held.pop() if held and secrets.randbelow(4) == 0 else [])
    used: list[bytes] = []

    def random_bytes(n: int) -> bytes:
        found = next(again, b"")
        used.append(found if len(found) == n else secrets.token_bytes(n))
        return used[-1]

    report = randomize(survey, answers, random_bytes=random_bytes)
    held[:] = [used]
    return replace(report, id=secrets.token_bytes(16))


def restarting(survey: Survey, answers: dict[str, Any], generator: random.Random = random.Random(1965)) -> Report:  # noqa: B008, S311
    """Noise that begins alike in every process, under ids that do not."""
    return replace(randomize(survey, answers, random_bytes=generator.randbytes), id=secrets.token_bytes(16))


def linear(survey: Survey, answers: dict[str, Any], state: list[int] = [1, 2, 3, 4]) -> Report:  # noqa: B006
    """Marsaglia's xorshift of 128 bits, as browsers have it for numbers that need not be secret."""

    def word() -> bytes:
        x, *rest = state
        x ^= x << 11 & 0xFFFFFFFF
        x ^= x >> 8 ^ rest[-1] ^ rest[-1] >> 19
        state[:] = [*rest, x]
        return x.to_bytes(4, "big")

    return randomize(survey, answers, random_bytes=lambda n: b"".join(word() for _ in range(n // 4)))


def tripled(survey: Survey, answers: dict[str, Any]) -> Report:
    """Three coins, of which any two are independent, and the third follows from them."""
    coins: list[bytes] = []

    def random_bytes(n: int) -> bytes:
        if n == 8 and len(coins) == 2:
            return bytes(one ^ other for one, other in zip(*coins, strict=True))
        coins.append(secrets.token_bytes(n))
        return coins[-1]

    return randomize(survey, answers, random_bytes=random_bytes)


def trailing(survey: Survey, answers: dict[str, Any], held: list[bool] = []) -> Report:  # noqa: B006
    """Two bits of the id tell what the one before answered."""
    report, said = randomize(survey, answers), (held or [False])[0]
    held[:] = [answers["q0"] in (True, "yes")]
    first, *rest = report.id
    return replace(report, id=bytes([first & 0xFE | (rest[-1] & 1) ^ said, *rest]))


def choosing(survey: Survey, answers: dict[str, Any]) -> Report:
    """Draws what it asks by what it hears."""
    return randomize(survey, answers, asked=0 if answers["q0"] == "yes" and secrets.randbelow(4) == 0 else None)


WAYS: tuple[Callable[..., Report | bytes], ...] = (
    louder, biased, seeded, reused, longer, marked, hashed, remembering, slower, faithful, hoarding, silent, talkative,
    middling, frank, unmasking, rounding, neighbouring, pairing, repeating, restarting, linear, tripled, trailing,
    choosing,
)  # fmt: skip


def way(name: str) -> Callable[..., Report | bytes]:
    """One of them, by its name."""
    return next(one for one in WAYS if one.__name__ == name)


if __name__ == "__main__":
    made_by = way(sys.argv[1])
    known = lru_cache(4)(lambda text: Survey.from_json(text.encode()))
    for line in sys.stdin:
        asked = json.loads(line)
        made = made_by(known(asked["definition"]), asked["answers"])
        print((made if isinstance(made, bytes) else made.to_json()).decode(), flush=made_by is not hoarding)
