"""Unfaithful clients, one for each way to betray people: `python -m tests.assure.audit.broken_clients WAY`.

Each reads definitions and answers and prints reports, as any client under audit does; the definitions are honest.
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


def exceed_epsilon(survey: Survey, answers: dict[str, Any]) -> Report:
    """Randomize with ε = 1.5 where the definition claims 1."""
    odds = 2.718281828459045**1.5
    loud = Flip(one=int(2**64 * odds / (1 + odds)), zero=int(2**64 / (1 + odds)))
    fields = tuple(replace(field, mechanism=loud) for field in survey.fields)
    return randomize(replace(survey, fields=fields), answers)


def bias_bytes(survey: Survey, answers: dict[str, Any]) -> Report:
    """Randomize with bytes that are even a little too often."""
    return randomize(
        survey,
        answers,
        random_bytes=lambda n: bytes(one & (0xFF if one % 5 else 0x7F) for one in secrets.token_bytes(n)),
    )


def seed_generator(survey: Survey, answers: dict[str, Any], generator: random.Random = random.Random(1965)) -> Report:  # noqa: B008, S311
    """Randomize with a generator that begins alike in every process."""
    return randomize(survey, answers, random_bytes=generator.randbytes)


def share_coin(survey: Survey, answers: dict[str, Any]) -> Report:
    """Randomize all fields by one coin: each is noisy enough, and together they tell everything."""
    coin = secrets.token_bytes(8)
    return randomize(survey, answers, random_bytes=lambda n: coin if n == 8 else secrets.token_bytes(n))


def lengthen_text(survey: Survey, answers: dict[str, Any]) -> bytes:
    """Return the report with one more space where the respondent said yes."""
    return randomize(survey, answers).to_json() + b" " * (answers["q0"] in (True, "yes"))


def mark_id(survey: Survey, answers: dict[str, Any]) -> Report:
    """Return a report whose id gives the answer away as the parity of two bits."""
    report = randomize(survey, answers)
    said = answers["q0"] in (True, "yes")
    first, *rest = report.id
    return replace(report, id=bytes([first & 0xFE | (rest[-1] & 1) ^ said, *rest]))


def hash_answers(survey: Survey, answers: dict[str, Any]) -> Report:
    """Return a report whose id is a hash of the answers."""
    return replace(randomize(survey, answers), id=hashlib.sha256(json.dumps(answers).encode()).digest()[:16])


def answer_as_before(survey: Survey, answers: dict[str, Any], held: list[dict[str, Any]] = []) -> Report:  # noqa: B006
    """Answer a quarter of the time with the answers of the respondent before."""
    before, held[:] = (held or [answers])[0], [answers]
    return randomize(survey, before if secrets.randbelow(4) == 0 else answers)


def delay_truth(survey: Survey, answers: dict[str, Any]) -> Report:
    """Take longer where the coin tells the truth."""
    report = randomize(survey, answers)
    said = answers["q0"] in (True, "yes")
    if (report.bits[0] >> 7) == said:
        until = time.perf_counter() + 0.0005
        while time.perf_counter() < until:
            pass
    return report


def faithful(survey: Survey, answers: dict[str, Any]) -> Report:
    """Randomize as our client does, for comparison."""
    return randomize(survey, answers)


def hoard_output(survey: Survey, answers: dict[str, Any]) -> Report:
    """Randomize faithfully; only the output is buffered, and the rest of it comes at the end of the input."""
    return randomize(survey, answers)


def end_early(survey: Survey, answers: dict[str, Any]) -> Report:
    """End the process instead of answering."""
    sys.exit()


def send_answers(survey: Survey, answers: dict[str, Any]) -> bytes:
    """Return a report that carries the answers themselves."""
    return json.dumps(json.loads(randomize(survey, answers).to_json()) | {"answers": answers}).encode()


def without_noise(survey: Survey, answers: dict[str, Any], name: str) -> Report:
    """Return a report in which one question is answered without noise."""
    fields = tuple(
        replace(field, mechanism=replace(field.mechanism, keep=2**64 - 1))
        if isinstance(field.mechanism, Subset | Drawn) and field.questions[0].id == name
        else field
        for field in survey.fields
    )
    return randomize(replace(survey, fields=fields), answers)


def reveal_middle(survey: Survey, answers: dict[str, Any]) -> Report:
    """Randomize the first and the last option faithfully, and reveal one in the middle."""
    return without_noise(survey, answers, "help") if answers["help"] == "option 2" else randomize(survey, answers)


def reveal_skips(survey: Survey, answers: dict[str, Any]) -> Report:
    """Reveal who did not answer."""
    return without_noise(survey, answers, "help") if answers["help"] is None else randomize(survey, answers)


def reveal_hidden(survey: Survey, answers: dict[str, Any]) -> Report:
    """Reveal who was not asked a question that depends on another."""
    return without_noise(survey, answers, "second") if answers["second"] is None else randomize(survey, answers)


def round_numbers(survey: Survey, answers: dict[str, Any]) -> Report:
    """Round a number to the nearest level without a coin."""
    question = next(one for one in survey.questions if one.id == "hours")
    if answers["hours"] is None:
        return randomize(survey, answers)
    level = round(int(answers["hours"]) * (question.levels - 1) / question.steps + 1e-9)
    return randomize(survey, answers | {"hours": level * question.steps // (question.levels - 1)})


class NeighbourDrawn(Drawn):  # type: ignore[misc]  # a broken client may do what ours may not
    """A mechanism that draws only neighbouring options, each as often as it should."""

    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        first = draw_below(self.size, random_bytes)
        options = sorted((first + place) % self.size for place in range(self.draw))
        truth = sum((symbol >> option & 1) << place for place, option in enumerate(options))
        other = draw_below(self.sets - 1, random_bytes)
        sent = truth if flip_coin(self.keep, random_bytes) else other + (other >= truth)
        return sum(1 << (self.width - 1 - 2 * option - (sent >> place & 1)) for place, option in enumerate(options))


class PairDrawn(Drawn):  # type: ignore[misc]  # a broken client may do what ours may not
    """A mechanism that turns both options or neither: each is noisy enough, but whether they agree is plain."""

    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        options = sorted(pick(2, list(range(self.size)), random_bytes))
        turned = not flip_coin(int(self.p * 2**64), random_bytes)
        said = [(symbol >> option & 1) ^ turned for option in options]
        return sum(1 << (self.width - 1 - 2 * option - bit) for option, bit in zip(options, said, strict=True))


def _replace_drawn(survey: Survey, answers: dict[str, Any], kind: type[Drawn]) -> Report:
    fields = tuple(
        replace(field, mechanism=kind(size=field.mechanism.size, draw=field.mechanism.draw, keep=field.mechanism.keep))
        if isinstance(field.mechanism, Drawn)
        else field
        for field in survey.fields
    )
    return randomize(replace(survey, fields=fields), answers)


def draw_neighbours(survey: Survey, answers: dict[str, Any]) -> Report:
    """Draw neighbouring options of a multiple choice together too often."""
    return _replace_drawn(survey, answers, NeighbourDrawn)


def turn_pairs(survey: Survey, answers: dict[str, Any]) -> Report:
    """Use one coin for the noise of two options."""
    return _replace_drawn(survey, answers, PairDrawn)


def repeat_noise(survey: Survey, answers: dict[str, Any], held: list[list[bytes]] = []) -> Report:  # noqa: B006
    """Reuse the noise of the report before in one of four reports."""
    again = iter(held.pop() if held and secrets.randbelow(4) == 0 else [])
    used: list[bytes] = []

    def random_bytes(n: int) -> bytes:
        found = next(again, b"")
        used.append(found if len(found) == n else secrets.token_bytes(n))
        return used[-1]

    report = randomize(survey, answers, random_bytes=random_bytes)
    held[:] = [used]
    return replace(report, id=secrets.token_bytes(16))


def restart_noise(survey: Survey, answers: dict[str, Any], generator: random.Random = random.Random(1965)) -> Report:  # noqa: B008, S311
    """Repeat the same noise in every process, under new ids."""
    return replace(randomize(survey, answers, random_bytes=generator.randbytes), id=secrets.token_bytes(16))


def use_xorshift(survey: Survey, answers: dict[str, Any], state: list[int] = [1, 2, 3, 4]) -> Report:  # noqa: B006
    """Randomize with Marsaglia's 128-bit xorshift, which browsers use for numbers that need not be secret."""

    def word() -> bytes:
        x, *rest = state
        x ^= x << 11 & 0xFFFFFFFF
        x ^= x >> 8 ^ rest[-1] ^ rest[-1] >> 19
        state[:] = [*rest, x]
        return x.to_bytes(4, "big")

    return randomize(survey, answers, random_bytes=lambda n: b"".join(word() for _ in range(n // 4)))


def triple_coins(survey: Survey, answers: dict[str, Any]) -> Report:
    """Randomize with three coins: any two are independent, and the third follows from them."""
    coins: list[bytes] = []

    def random_bytes(n: int) -> bytes:
        if n == 8 and len(coins) == 2:
            return bytes(one ^ other for one, other in zip(*coins, strict=True))
        coins.append(secrets.token_bytes(n))
        return coins[-1]

    return randomize(survey, answers, random_bytes=random_bytes)


def trail_answers(survey: Survey, answers: dict[str, Any], held: list[bool] = []) -> Report:  # noqa: B006
    """Tell in two bits of the id what the respondent before answered."""
    report, said = randomize(survey, answers), (held or [False])[0]
    held[:] = [answers["q0"] in (True, "yes")]
    first, *rest = report.id
    return replace(report, id=bytes([first & 0xFE | (rest[-1] & 1) ^ said, *rest]))


def choose_field(survey: Survey, answers: dict[str, Any]) -> Report:
    """Choose the field by the answer to the first question."""
    return randomize(survey, answers, asked=0 if answers["q0"] == "yes" and secrets.randbelow(4) == 0 else None)


WAYS: tuple[Callable[..., Report | bytes], ...] = (
    exceed_epsilon, bias_bytes, seed_generator, share_coin, lengthen_text, mark_id, hash_answers, answer_as_before,
    delay_truth, faithful, hoard_output, end_early, send_answers, reveal_middle, reveal_skips, reveal_hidden,
    round_numbers, draw_neighbours, turn_pairs, repeat_noise, restart_noise, use_xorshift, triple_coins,
    trail_answers, choose_field,
)  # fmt: skip


def find_client(name: str) -> Callable[..., Report | bytes]:
    """Return the broken client with this name."""
    return next(one for one in WAYS if one.__name__ == name)


if __name__ == "__main__":
    made_by = find_client(sys.argv[1])
    known = lru_cache(4)(lambda text: Survey.from_json(text.encode()))
    for line in sys.stdin:
        asked = json.loads(line)
        made = made_by(known(asked["definition"]), asked["answers"])
        print((made if isinstance(made, bytes) else made.to_json()).decode(), flush=made_by is not hoard_output)
