"""The real client with the operating system's randomness, against its exact distribution.

Every event below has a binomial count with a known probability: each outcome, each stored bit, and all outcomes less
likely than average together. The test rejects if any of them has a two-sided exact p-value below 1e-6 divided by the
number of events, so its false-alarm rate is at most 1e-6 (Bonferroni). That it can fail is shown, on the same number
of reports, by clients whose noise is 10% off in either direction: ¼ becomes 0.275 or 0.225, ten standard deviations
away, of which about five are needed; such a client slips through with probability below 1e-5.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from candor_client import randomize
from tests.definitions import choice as choice_question
from tests.definitions import define, drawn, encode, field, geometric, multiple, number, scale, subset, survey, yes_no
from tests.distribution import exact_distribution, rejects
from tests.javascript import Node
from tests.soak import soak_count

pytestmark = pytest.mark.slow

REPORTS = 30_000

THRESHOLDS = ("one", "zero", "keep", "ratio")

# Noise, the chance that the truth is not sent, is ¼ wherever a mechanism has one such chance.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "flip": (
        define([yes_no()], [field({"kind": "flip", "one": str(3 * 2**62), "zero": str(2**62)}, "cheated")]),
        {"cheated": True},
    ),
    "8-ary": (define([choice_question(options=8)], [field(subset(8, 1), "help")]), {"help": "option 5"}),
    "subset": (define([choice_question(options=6)], [field(subset(6, 2), "help")]), {"help": "option 0"}),
    "drawn, two of three": (define([multiple()], [field(drawn(3, 2), "used")]), {"used": ["item 1"]}),
    "geometric": (define([number(levels=7)], [field(geometric(7, 3 * 2**61), "hours")]), {"hours": 3}),
    "levels": (define([number()], [field(subset(2, 1), "hours")]), {"hours": 0}),
    "joint": (
        define([yes_no(), scale()], [field(subset(6, 1), "cheated", "fair")]),
        {"cheated": True, "fair": "Agree"},
    ),
    "ask": (
        define([yes_no("a"), yes_no("b")], [field(subset(2, 1), "a", chance=3), field(subset(2, 1), "b")], ask=1),
        {"a": True, "b": False},
    ),
    "joint, hidden": (
        define(
            [yes_no(), scale(show_if={"question": "cheated", "is": ["yes"]})], [field(subset(5, 1), "cheated", "fair")]
        ),
        {"cheated": True, "fair": None},
    ),
}


Sample = Callable[[dict[str, Any], dict[str, Any]], Counter[bytes]]


@pytest.fixture(params=["python", "javascript"])
def sample(request: pytest.FixtureRequest) -> Sample:
    """Reports of either client, with the system's own randomness."""
    if request.param == "python":
        return python_sample
    node: Node = request.getfixturevalue("node")

    def node_sample(definition: dict[str, Any], answers: dict[str, Any]) -> Counter[bytes]:
        counts = node.ask("sample", source=encode(definition).hex(), answers=answers, count=REPORTS)
        return Counter({bytes.fromhex(bits): count for bits, count in counts.items()})

    return node_sample


def python_sample(definition: dict[str, Any], answers: dict[str, Any]) -> Counter[bytes]:
    parsed = survey(definition)
    return Counter(randomize(parsed, answers).bits for _ in range(REPORTS))


def altered(definition: dict[str, Any], change: Callable[[int, bool], int]) -> dict[str, Any]:
    """The same survey with thresholds t changed; the flag tells whether 2^64 − t is the noise, or t itself."""
    fields = []
    for one in definition["fields"]:
        mechanism = dict(one["mechanism"])
        for key in THRESHOLDS:
            if key in mechanism:
                mechanism[key] = str(change(int(mechanism[key]), key in ("one", "keep")))
        fields.append({**one, "mechanism": mechanism})
    return {**definition, "fields": fields}


def more_noise(threshold: int, kept: bool) -> int:
    return 2**64 - (2**64 - threshold) * 11 // 10 if kept else threshold * 11 // 10


def less_noise(threshold: int, kept: bool) -> int:
    return 2**64 - (2**64 - threshold) * 9 // 10 if kept else threshold * 9 // 10


@pytest.mark.parametrize("name", CASES)
def test_the_client_has_the_distribution_it_publishes(sample: Sample, name: str) -> None:
    definition, answers = CASES[name]
    assert not rejects(sample(definition, answers), exact_distribution(definition, answers))


@pytest.mark.parametrize("change", [more_noise, less_noise])
@pytest.mark.parametrize("name", CASES)
def test_a_client_whose_noise_is_ten_percent_off_is_rejected(
    sample: Sample, name: str, change: Callable[[int, bool], int]
) -> None:
    definition, answers = CASES[name]
    assert rejects(sample(altered(definition, change), answers), exact_distribution(definition, answers))


@pytest.mark.soak
@pytest.mark.parametrize("name", CASES)
def test_a_million_reports_have_the_distribution_they_publish(name: str) -> None:
    definition, answers = CASES[name]
    counts = sum((python_sample(definition, answers) for _ in range(soak_count(34))), Counter[bytes]())
    assert not rejects(counts, exact_distribution(definition, answers))
