"""What a server learns from when a report comes: much from a client that tosses coin by coin, nothing from this one.

The attack: a server publishes a number with geometric noise, ε = 1, and measures how long each device takes. From runs
of its own it learns how time tells the bytes that were drawn, and with them how far up and down the noise went; then it
names those people whose one answer is e² times likelier than the other, which ε = 1 never allows. The clock is a
simulated one, on which drawing bytes takes time and nothing else does: the server sees more than any network would show.
"""

import json
import math
import secrets
import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pytest

import candor_client
from candor_client.answer import index_of
from candor_client.question import labels_of
from candor_client.report import from_base64url, unpack
from candor_client.sampling import DENOMINATOR, flip_coin
from tests import reference
from tests.clock import SimulatedClock
from tests.definitions import choice, define, drawn, encode, field, geometric, multiple, number, subset, survey
from tests.javascript import Node
from tests.scripted_server import Server

LEVELS = 64
RATIO = 0.9841  # e^(-1/63), rounded the private way: ε = 1 from one end of the scale to the other
DEFINITION = define(
    [number(max=LEVELS - 1, levels=LEVELS)], [field(geometric(LEVELS, int(RATIO * DENOMINATOR)), "hours")], epsilon=2
)
SURVEY = survey(DEFINITION)
ENDS = (0, LEVELS - 1)
SECONDS_A_BYTE = 1e-5
PEOPLE, OWN = 600, 100
CERTAIN = math.e**2


@dataclass
class Run:
    """One person: the answer, the bytes drawn, and what the server sees: when a report came, which level it says."""

    answer: int
    drawn: int
    time: float
    level: int


Client = Callable[[int], Run]
Chance = Callable[[int, int | None, int], float]  # of bytes drawn, if they are known, and level, for an answer


def coin_by_coin(*, waits: bool) -> Client:
    """Noise as it was once drawn, tails ending it: as many coins up and as many down as come heads."""

    def answer(level: int) -> Run:
        simulated, drawn, up = SimulatedClock(), 0, [0, 0]
        source = simulated.slow_source(secrets.token_bytes, SECONDS_A_BYTE)
        for side in (0, 1):
            while flip_coin(int(RATIO * DENOMINATOR), source):
                up[side] += 1
        drawn = 8 * (sum(up) + 2)
        if waits:
            simulated.clock.wait_for_second(0)
        return Run(level, drawn, simulated.seconds, min(max(level + up[0] - up[1], 0), LEVELS - 1))

    return answer


def this_client(server: Server) -> Client:
    """`respond`, whole, against a server that notes the time."""
    server.define(encode(DEFINITION))
    seen: list[tuple[float, int]] = []

    def answer(level: int) -> Run:
        simulated, drawn = SimulatedClock(), [0]
        source = simulated.slow_source(secrets.token_bytes, SECONDS_A_BYTE)

        def counted(count: int) -> bytes:
            drawn[0] += count
            return source(count)

        def note(body: bytes) -> Any:
            (bits,) = unpack(SURVEY, from_base64url(json.loads(body)["bits"]))
            seen.append((simulated.seconds, LEVELS - (bits or 0).bit_length()))
            return 201, {}, b'{"status":"stored"}'

        server.post = note
        candor_client.respond(
            f"{server.origin}/s/exam", {"hours": level}, ledger=None, random_bytes=counted, clock=simulated.clock
        )
        return Run(level, drawn[0], *seen[-1])

    return answer


def coin_by_coin_chance(answer: int, drawn: int | None, level: int) -> float:
    """With the coins known: (1−r)² r^k, for each way to split them that ends at this level; else two-sided geometric."""
    if drawn is not None:
        coins = drawn // 8 - 2
        ways = sum(min(max(answer + 2 * up - coins, 0), LEVELS - 1) == level for up in range(coins + 1))
        return float((1 - RATIO) ** 2 * RATIO**coins * ways)
    if level in ENDS:
        away = abs(level - answer)
        return float(RATIO**away / (1 + RATIO))
    return float((1 - RATIO) / (1 + RATIO) * RATIO ** abs(level - answer))


def this_chance(answer: int, drawn: int | None, level: int) -> float:
    """The bytes say nothing; so far or farther goes the noise with chance G_k/2^64, and what leaves the scale is cut."""
    farther = [DENOMINATOR, *reference.tails(DEFINITION["fields"][0]["mechanism"]), 0]
    away = abs(level - answer)
    return (farther[away] - farther[away + 1]) / DENOMINATOR


class Attacker:
    """Learns from runs of its own what a moment tells about the bytes that were drawn."""

    def __init__(self, own: list[Run], chance: Chance) -> None:
        times = [run.time for run in own]
        self.chance, self.blind = chance, max(times) - min(times) < SECONDS_A_BYTE
        if not self.blind:
            drawn = [float(run.drawn) for run in own]
            self.slope, self.start = statistics.linear_regression(times, drawn)

    def odds(self, run: Run) -> float:
        """How much likelier the upper end is than the lower, from what the server sees of a run."""
        drawn = None if self.blind else round((self.start + self.slope * run.time) / 8) * 8
        low, high = (self.chance(answer, drawn, run.level) for answer in ENDS)
        return high / low if low else math.inf

    def singled_out(self, people: list[Run]) -> tuple[int, int]:
        """How many are named, and how many of them rightly."""
        named = [(run, odds) for run in people if not 1 / CERTAIN < (odds := self.odds(run)) < CERTAIN]
        return len(named), sum((run.answer == ENDS[1]) == (odds > 1) for run, odds in named)


def attack(device: Client, chance: Chance) -> tuple[int, int, set[float]]:
    """Whom the attacker names of 600, how many rightly, and at which moments reports came."""
    attacker = Attacker([device(secrets.choice(ENDS)) for _ in range(OWN)], chance)
    people = [device(secrets.choice(ENDS)) for _ in range(PEOPLE)]
    return (*attacker.singled_out(people), {round(run.time, 9) for run in people})


class Counted(str):
    """A label that counts how often it is compared with another."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)


class Mask(int):
    """A set of options that counts the bits which are moved when it is shifted."""

    moved = 0

    def __rshift__(self, places: int) -> int:
        Mask.moved += self.bit_length()
        return int(self) >> places


@pytest.mark.parametrize("kind", [choice, multiple])
def test_the_last_option_takes_a_device_no_longer_than_the_first(kind: Callable[..., Any], node: Node) -> None:
    """As many labels are looked at, whichever is chosen, at the largest size that a question may have."""
    labels = [f"{place:x}" for place in range(1024)]
    question = kind("q") | {"options": labels}
    source = define([question], [field(drawn(1024, 1) if kind is multiple else subset(1024, 1), "q")])
    (read,) = survey(source).questions
    counts = []
    for label in (labels[0], labels[511], labels[-1]):
        Counted.compared = Mask.moved = 0
        index = index_of(replace(read, labels=tuple(map(Counted, labels))), [label] if kind is multiple else label)
        assert labels_of(read, Mask(index)) == {label}
        said = {"q": [label] if kind is multiple else label}
        looked = node.ask("looks", source=encode(source).hex(), answers=said)
        counts.append((Counted.compared, Mask.moved, looked))
    assert len({*counts}) == 1


def test_the_survey_is_one_that_a_device_answers() -> None:
    assert Decimal("0.99") < candor_client.verify(SURVEY, 8) < Decimal("1.1")


def test_the_time_of_a_client_that_tosses_coin_by_coin_singles_people_out() -> None:
    """About half of all people are expected; fewer than 100 of 600 have a chance below 1e-20."""
    named, right, moments = attack(coin_by_coin(waits=False), coin_by_coin_chance)
    assert named > 100
    assert right > 0.9 * named  # the most that ε = 1 allows is 73%
    assert len(moments) > 100


@pytest.mark.slow
def test_the_time_of_this_client_singles_nobody_out(server: Server) -> None:
    named, _, moments = attack(this_client(server), this_chance)
    assert named == 0
    assert moments == {1.0}


def test_a_whole_second_hides_even_coin_by_coin() -> None:
    """What is waited for does not depend on how the noise is drawn, as long as that takes less than a second."""
    named, _, moments = attack(coin_by_coin(waits=True), coin_by_coin_chance)
    assert named == 0
    assert moments == {1.0}
