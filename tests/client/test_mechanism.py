"""Every mechanism against exact enumeration, from both sides of its ε."""

import hashlib
import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest

from client import Survey, mechanism, randomize
from client.errors import DefinitionError
from client.mechanism import EXACT, Flip, Geometric, Mechanism, Sampled, Subset, Unary, round_up
from client.sampling import WHOLE, below, coin
from client.verify import verify
from survey_app.authoring import choose
from tests import reference
from tests.answers import SMALL, all_answers
from tests.definitions import (
    define,
    field,
    geometric,
    number,
    survey,
)


def worst_ratio(definition: dict[str, Any]) -> Fraction:
    """The largest ratio of two probabilities of one output, over all pairs of answers."""
    distributions = [reference.distribution(definition, answers) for answers in all_answers(definition)]
    outputs = set().union(*distributions)
    columns = ([chances.get(output, Fraction(0)) for chances in distributions] for output in outputs)
    return max(max(column) / min(column) for column in columns)


def claimed_ratio(parsed: Survey) -> Fraction:
    """e^ε from the formulas: the product over all fields, or over the `ask` largest."""
    ratios = sorted((f.mechanism.odds**f.mechanism.times for f in parsed.fields), reverse=True)
    return math.prod(ratios[: parsed.ask], start=Fraction(1))


@pytest.mark.parametrize("name", SMALL)
def test_epsilon_equals_brute_force_enumeration(name: str) -> None:
    definition = SMALL[name]
    ratio = worst_ratio(definition)
    if name == "hidden":  # a hidden question cannot be answered, so not every pair of symbols can occur
        assert ratio <= claimed_ratio(survey(definition))
    else:
        assert ratio == claimed_ratio(survey(definition))


@pytest.mark.parametrize("name", SMALL)
def test_the_check_holds_at_the_true_epsilon_and_fails_just_below(name: str) -> None:
    ratio = claimed_ratio(survey(SMALL[name]))
    with localcontext(EXACT):
        exact = (Decimal(ratio.numerator) / ratio.denominator).ln()
    above, under = round_up(exact), round_up(exact - Decimal("1.1e-9"))
    assert verify(survey(SMALL[name] | {"epsilon": canonical_decimal(above)})) == pytest.approx(
        exact, abs=Decimal("1e-40")
    )
    with pytest.raises(Exception, match="claims ε"):
        verify(survey(SMALL[name] | {"epsilon": canonical_decimal(under)}))


def canonical_decimal(value: Decimal) -> int | str:
    return int(value) if value == int(value) else str(value.normalize())


@pytest.mark.parametrize("name", SMALL)
def test_the_client_walks_every_path_of_the_reference(name: str) -> None:
    definition = SMALL[name]
    parsed = survey(definition)
    for answers in all_answers(definition):

        def run(draw: reference.PathDraw, answers: dict[str, Any] = answers) -> str:
            bits = reference.report_bits(definition, answers, draw)
            draw.identity()
            return bits

        total = Fraction(0)
        for probability, tape, bits in reference.paths(run):
            draw = reference.ByteDraw(tape)
            report = randomize(parsed, answers, random_bytes=draw.take)
            assert report.bits == reference.pack(bits)
            assert draw.used == len(tape)
            total += probability
        assert total == 1


def noise_chance(ratio: Fraction, k: int) -> Fraction:
    return (1 - ratio) / (1 + ratio) * ratio ** abs(k)


def clamped(ratio: Fraction, width: int, level: int) -> dict[int, Fraction]:
    """The exact output distribution of a geometric field."""
    half = 2 ** (width - 1)
    chances = {value: noise_chance(ratio, value - level) for value in range(-half + 1, half - 1)}
    chances[half - 1] = ratio ** (half - 1 - level) / (1 + ratio)
    chances[-half] = ratio ** (half + level) / (1 + ratio)
    return chances


@pytest.mark.parametrize(
    ("ratio", "width", "levels"), [(2**62, 7, 3), (2**60 + 99, 6, 5), (2**63, 8, 7), (2**50, 4, 3)]
)
def test_geometric_epsilon_equals_enumeration_with_clamping(ratio: int, width: int, levels: int) -> None:
    noisy = Geometric(size=levels, ratio=ratio, width=width)
    chances = [clamped(Fraction(ratio, WHOLE), width, level) for level in range(levels)]
    assert all(sum(chance.values()) == 1 for chance in chances)
    columns = ([chance[value] for chance in chances] for value in chances[0])
    assert max(max(column) / min(column) for column in columns) == noisy.odds**noisy.times


def test_geometric_paths_agree_with_the_closed_form_and_the_client() -> None:
    definition = define([number(max=2, levels=3)], [field(geometric(2**62, 7), "hours")])
    parsed = survey(definition)
    for level in range(3):
        seen: dict[int, Fraction] = {}

        def run(draw: reference.PathDraw, level: int = level) -> str:
            bits = reference.report_bits(definition, {"hours": level}, draw)
            draw.identity()
            return bits

        mass = Fraction(0)
        for probability, tape, bits in reference.paths(run, depth=12):
            draw = reference.ByteDraw(tape)
            assert randomize(parsed, {"hours": level}, random_bytes=draw.take).bits == reference.pack(bits)
            value = int(bits, 2) - (128 if bits[0] == "1" else 0)
            seen[value] = seen.get(value, Fraction(0)) + probability
            mass += probability
        exact = clamped(Fraction(1, 4), 7, level)
        assert all(chance <= exact[value] <= chance + 1 - mass for value, chance in seen.items())
        assert mass > 1 - Fraction(1, 10**4)


def test_geometric_noise_is_clamped_to_its_width() -> None:
    noisy = Geometric(size=3, ratio=2**62, width=7)
    heads, tails = bytes(8), b"\xff" * 8
    assert noisy.level(noisy.randomize(2, reference.ByteDraw(heads * 100 + tails + tails).take)) == 63
    assert noisy.level(noisy.randomize(0, reference.ByteDraw(tails + heads * 100 + tails).take)) == -64
    assert noisy.level(noisy.randomize(0, reference.ByteDraw(tails + heads * 3 + tails).take)) == -3


EPSILONS = [Decimal(text) for text in ("0.01", "0.1", "0.5", "1", "1.0986122886681098", "2", "3", "5", "8", "10")]


@pytest.mark.parametrize("size", [2, 3, 4, 7, 32, 100, 463, 1000, 10_000])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_thresholds_spend_what_was_asked_for_and_never_more(size: int, epsilon: Decimal) -> None:
    made: list[Mechanism] = [choose.categories(size, epsilon), choose.unary(size, epsilon), choose.flip(epsilon)]
    made += [choose.subset(size, weight, epsilon) for weight in {1, size // 2, size - 1}]
    for one in made:
        assert epsilon - Decimal("1e-9") <= one.epsilon <= epsilon


@pytest.mark.parametrize("levels", [2, 3, 50, 501, 10_000])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_geometric_ratios_spend_what_was_asked_for_and_never_more(levels: int, epsilon: Decimal) -> None:
    if levels - 1 > epsilon * choose.LEVELS_PER_EPSILON:
        with pytest.raises(DefinitionError, match=r"coins on average|clamped"):
            choose.geometric(levels, epsilon)
    else:
        assert epsilon - Decimal("1e-9") <= choose.geometric(levels, epsilon).epsilon <= epsilon


INVALID: list[dict[str, Any]] = [
    {"one": 2**62, "zero": 3 * 2**62},
    {"one": 2**63, "zero": 2**63},
    {"one": 2**62, "zero": 0},
    {"one": 2**64, "zero": 2**62},
    {"one": 2**63, "zero": -1},
]


@pytest.mark.parametrize("coins", INVALID)
def test_inverted_or_degenerate_coins_are_refused(coins: dict[str, Any]) -> None:
    for make in (
        lambda: Flip(**coins),
        lambda: Unary(size=3, **coins),
        lambda: Sampled(size=3, draw=1, **coins),
    ):
        with pytest.raises(DefinitionError) as refusal:
            make()
        assert refusal.value.code == "bad_mechanism"


@pytest.mark.parametrize(
    "parameters",
    [
        {"size": 4, "weight": 0, "keep": 2**63},
        {"size": 4, "weight": 4, "keep": 2**63},
        {"size": 4, "weight": 1, "keep": 2**62},  # exactly chance
        {"size": 4, "weight": 1, "keep": 2**61},  # below chance
        {"size": 4, "weight": 1, "keep": 2**64},
        {"size": 4, "weight": 1, "keep": 0},
        {"size": 1, "weight": 1, "keep": 2**63},
        {"size": 2**21, "weight": 1, "keep": 2**63},
    ],
)
def test_degenerate_subsets_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError):
        Subset(**parameters)


@pytest.mark.parametrize("draw", [0, 4])
def test_a_draw_beyond_the_options_is_refused(draw: int) -> None:
    with pytest.raises(DefinitionError):
        Sampled(size=3, draw=draw, one=3 * 2**62, zero=2**62)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"size": 3, "ratio": 2**64, "width": 8}, "0 < ratio"),
        ({"size": 3, "ratio": 0, "width": 8}, "0 < ratio"),
        ({"size": 3, "ratio": 2**62, "width": 33}, "width"),
        ({"size": 3, "ratio": 2**62, "width": 1}, "width"),
        ({"size": 3, "ratio": 2**62, "width": 5}, "clamped"),
        ({"size": 65, "ratio": 2**40, "width": 7}, "clamped"),
        ({"size": 3, "ratio": WHOLE - WHOLE // 5001, "width": 32}, "coins on average"),
    ],
)
def test_degenerate_geometric_noise_is_refused(parameters: dict[str, Any], reason: str) -> None:
    with pytest.raises(DefinitionError, match=reason):
        Geometric(**parameters)


def test_the_mean_number_of_coins_is_bounded_from_both_sides() -> None:
    assert Geometric(size=3, ratio=WHOLE - WHOLE // 4999, width=32).ratio
    with pytest.raises(DefinitionError):
        Geometric(size=3, ratio=WHOLE - WHOLE // 5001, width=32)


def test_clamping_is_computed_exactly() -> None:
    noisy = Geometric(size=3, ratio=2**62, width=7)
    beyond = sum(
        (noise_chance(Fraction(1, 4), k) for k in itertools.chain(range(62, 400), range(-400, -66))), Fraction(0)
    )
    assert float(noisy.clamping) == pytest.approx(float(beyond), rel=1e-12)


@pytest.mark.parametrize(
    ("made", "bits", "possible"),
    [
        (Subset(size=4, weight=2, keep=3 * 2**62), 0b0110, True),
        (Subset(size=4, weight=2, keep=3 * 2**62), 0b0111, False),
        (Subset(size=4, weight=2, keep=3 * 2**62), 0b0000, False),
        (Sampled(size=3, draw=2, one=3 * 2**62, zero=2**62), 0b100100, True),
        (Sampled(size=3, draw=2, one=3 * 2**62, zero=2**62), 0b110000, False),
        (Sampled(size=3, draw=2, one=3 * 2**62, zero=2**62), 0b100000, False),
        (Sampled(size=3, draw=2, one=3 * 2**62, zero=2**62), 0b101010, False),
        (Unary(size=3, one=2**63, zero=2**62), 0b000, True),
        (Flip(one=2**63, zero=2**62), 1, True),
        (Geometric(size=3, ratio=2**62, width=7), 0b1000000, True),
    ],
)
def test_possible_bits(made: Mechanism, bits: int, possible: bool) -> None:
    assert made.possible(bits) is possible


@pytest.mark.parametrize("name", [name for name in SMALL if "geometric" not in name])
def test_p_and_q_are_the_marginals_of_the_enumeration(name: str) -> None:
    definition = SMALL[name]
    parsed = survey(definition)
    made = parsed.fields[0].mechanism
    if len(parsed.fields) > 1 or not isinstance(made, Subset | Unary) or any(q.levels for q in parsed.questions):
        return
    for answers in all_answers(definition):
        chances = reference.distribution(definition, answers)
        shares = [sum(c for row, c in chances.items() if row[i] == "1") for i in range(made.width)]
        assert sorted(shares) == sorted([made.p] + [made.q] * (made.size - 1))


def test_symbols_out_of_range_never_reach_a_coin() -> None:
    for made in (
        Flip(one=2**63, zero=2**62),
        Subset(size=4, weight=2, keep=3 * 2**62),
        Unary(size=3, one=2**63, zero=2**62),
        Geometric(size=3, ratio=2**62, width=7),
    ):
        for symbol in (-1, made.size):
            with pytest.raises(ValueError, match="symbol"):
                made.randomize(symbol, lambda count: pytest.fail("drew bytes"))
    with pytest.raises(ValueError, match="symbol"):
        Sampled(size=3, draw=1, one=2**63, zero=2**62).randomize(8, lambda count: pytest.fail("drew bytes"))


def test_a_byte_source_that_runs_short_is_an_error_not_a_biased_coin() -> None:
    for made in (Flip(one=2**63, zero=2**62), Subset(size=4, weight=2, keep=3 * 2**62)):
        with pytest.raises(Exception, match="unpack requires"):
            made.randomize(0, lambda count: bytes(count - 1))


def test_the_independent_vector() -> None:
    """SHA-256("test-vector-1" ‖ counter), read as 100,000 coins at ε = 1, then 5,000 numbers below each bound."""
    blocks = (hashlib.sha256(b"test-vector-1" + i.to_bytes(8, "big")).digest() for i in itertools.count())
    buffer = b""

    def stream(count: int) -> bytes:
        nonlocal buffer
        while len(buffer) < count:
            buffer += next(blocks)
        taken, buffer = buffer[:count], buffer[count:]
        return taken

    threshold = choose.flip(Decimal(1)).one
    assert threshold == 13485650502877570762
    bits = [int(coin(threshold, stream)) for _ in range(100_000)]
    numbers = [below(bound, stream) for bound in (3, 5, 7, 1000, 4294967295) for _ in range(5000)]
    assert "".join(map(str, bits[:16])) == "1010001111111111"
    assert numbers[:8] == [1, 2, 2, 0, 1, 2, 0, 0]
    digest = hashlib.sha256(",".join(map(str, bits + numbers)).encode()).hexdigest()
    assert digest == "b3e85cbdac7a76b641248b28d7ea76aaea12b7a37e937d281f068a9d5209ecb7"


@pytest.mark.parametrize(
    ("epsilon", "threshold"),
    [
        ("0.1", 9684156715447991831),
        ("1", 13485650502877570762),
        ("1.0986122886681098", 13835058055282164087),
        ("3", 17571891128730770819),
    ],
)
def test_published_thresholds(epsilon: str, threshold: int) -> None:
    assert choose.flip(Decimal(epsilon)).one == threshold


def test_epsilon_is_displayed_rounded_up() -> None:
    assert round_up(Flip(one=3 * 2**62, zero=2**62).epsilon) == Decimal("1.098612288669")
    assert round_up(Decimal("1.00000000000000000001"), 4) == Decimal("1.0001")
    assert round_up(Decimal("1.0000"), 4) == 1


def test_publishing_and_parsing_are_inverse() -> None:
    for made, size in (
        (Flip(one=2**63, zero=2**62), 2),
        (Subset(size=4, weight=2, keep=3 * 2**62), 4),
        (Unary(size=3, one=2**63, zero=2**62), 3),
        (Sampled(size=3, draw=2, one=2**63, zero=2**62), 3),
        (Geometric(size=3, ratio=2**62, width=7), 3),
    ):
        assert mechanism.parse(mechanism.publish(made), size, "") == made
