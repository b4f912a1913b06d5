"""Every mechanism against exact enumeration, from both sides of its ε."""

import hashlib
import itertools
import math
import sys
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from random import Random
from types import FrameType
from typing import Any

import pytest

from candor_client import Survey, mechanisms, randomize
from candor_client.errors import DefinitionError
from candor_client.mechanisms import EXACT, Drawn, Flip, Geometric, Mechanism, Subset, round_up
from candor_client.sampling import DENOMINATOR, draw_below, flip_coin
from candor_client.verify import verify
from survey_app.authoring import mechanism_choice
from tests import make_vectors, reference
from tests.answers import SMALL, all_answers
from tests.definitions import survey
from tests.golden_files import Golden


def worst_ratio(definition: dict[str, Any]) -> Fraction:
    """The largest ratio of two probabilities of one output, over all pairs of answers."""
    distributions = [reference.distribution(definition, answers) for answers in all_answers(definition)]
    outputs = set().union(*distributions)
    columns = ([chances.get(output, Fraction(0)) for chances in distributions] for output in outputs)
    return max(max(column) / min(column) for column in columns)


def claimed_ratio(parsed: Survey) -> Fraction:
    """e^ε from the formulas: the product over all fields, or with `ask` the largest."""
    ratios = [f.mechanism.odds for f in parsed.fields]
    return max(ratios) if parsed.ask else math.prod(ratios, start=Fraction(1))


@pytest.mark.parametrize("name", SMALL)
def test_epsilon_equals_brute_force_enumeration(name: str) -> None:
    assert worst_ratio(SMALL[name]) == claimed_ratio(survey(SMALL[name]))


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


def level_chances(noisy: Geometric) -> list[list[Fraction]]:
    """P(noisy level | level) by counting words: u is cut where its meaning changes, and the pieces are measured."""
    up = reference.tails({"size": noisy.size, "ratio": str(noisy.ratio)})
    ends = sorted({0, *up, *(DENOMINATOR - tail for tail in up), DENOMINATOR})
    chances = [[Fraction(0)] * noisy.size for _ in range(noisy.size)]
    for low, high in itertools.pairwise(ends):
        for level in range(noisy.size):
            sent, last = (noisy.randomize(level, reference.ByteDraw(u.to_bytes(8)).take) for u in (low, high - 1))
            assert sent == last
            chances[level][noisy.size - sent.bit_length()] += Fraction(high - low, DENOMINATOR)
    return chances


EXTREME = [
    (2, 1),
    (2, 2**64 - 4),
    (3, 2**33),
    (3, 2**64 - 4),
    (4, 2**44),
    (5, 2**64 - 2**20),
    (8, 2**64 - 2**16),
    (16, 2**64 - 2**33),
    (64, 2**64 - 2**12),
    (64, 2**64 - 2**40),
    (64, 2**64 - 2**60),
    (64, 2**63 + 12345),
]


@pytest.mark.parametrize(("size", "ratio"), [(3, 2**62), (5, 2**60 + 99), (7, 2**63), *EXTREME])
def test_geometric_epsilon_equals_enumeration(size: int, ratio: int) -> None:
    """Also where ε is below 1e-9, and whole parts of 2^64 are coarse: rounding must not leak."""
    noisy = Geometric(size=size, ratio=ratio)
    chances = level_chances(noisy)
    assert all(sum(row) == 1 for row in chances)
    assert max(max(column) / min(column) for column in zip(*chances, strict=True)) == noisy.odds


def test_a_shorter_formula_would_understate_it() -> None:
    """(L − 1) ln(1/r), the loss of noise that is not rounded, is not what the integers give away."""
    understated = [
        (size, ratio)
        for size, ratio in EXTREME
        if Geometric(size=size, ratio=ratio).odds > Fraction(DENOMINATOR, ratio) ** (size - 1)
    ]
    assert len(understated) >= 3


def test_geometric_noise_is_clamped_to_the_levels() -> None:
    noisy = Geometric(size=3, ratio=2**62)
    far_up, far_down = bytes(8), b"\xff" * 8
    assert [noisy.randomize(level, lambda _: far_up) for level in range(3)] == [0b001] * 3
    assert [noisy.randomize(level, lambda _: far_down) for level in range(3)] == [0b100] * 3
    assert [noisy.randomize(level, lambda _: b"\x80" + bytes(7)) for level in range(3)] == [0b100, 0b010, 0b001]


ALIKE = {**SMALL, **make_vectors.LARGE}
REPEATS = "levels on a long grid"  # of 2,000,001,000 steps: 7 words of 100 are drawn again, whatever is answered


@pytest.mark.parametrize("name", [name for name in ALIKE if "tickets" not in ALIKE[name] and name != REPEATS])
def test_the_bytes_drawn_depend_on_nothing_but_the_definition(name: str) -> None:
    """Neither the answers nor what comes out show in how many bytes were asked for, or in which portions.

    With `ask` the field that was drawn shows, in the report too. The stream is fixed and holds none of the rare words
    that `below` has to draw again.
    """
    parsed = survey(ALIKE[name])
    random = Random(name)  # noqa: S311
    drawn: dict[int | None, set[tuple[int, ...]]] = {}
    for answers in make_vectors.answers_to(name, ALIKE[name]):
        for _ in range(20):
            asked = random.randrange(len(parsed.fields)) if parsed.ask else None
            portions: list[int] = []

            def source(count: int, portions: list[int] = portions) -> bytes:
                portions.append(count)
                return random.randbytes(count)

            randomize(parsed, answers, asked=asked, random_bytes=source)
            drawn.setdefault(asked, set()).add(tuple(portions))
    assert all(len(one) == 1 for one in drawn.values())


@pytest.mark.parametrize(
    "made",
    [
        Flip(one=3 * 2**62, zero=2**62),
        Subset(size=6, weight=1, keep=2**63),
        Subset(size=7, weight=3, keep=3 * 2**62),
        Drawn(size=5, draw=3, keep=2**62),
        Geometric(size=6, ratio=2**63),
    ],
    ids=lambda made: f"{made.kind} {made.width}",
)
def test_the_steps_taken_depend_on_neither_symbol_nor_outcome(made: Mechanism) -> None:
    """Lines of code run in a mechanism and under it, counted: a clock would measure the machine."""
    random, taken = Random(made.kind), set[int]()  # noqa: S311
    symbols = 1 << made.size if isinstance(made, Drawn) else made.size
    for symbol in range(symbols):
        for _ in range(60):
            lines = Counter[int]()

            def trace(frame: FrameType, event: str, _: Any, lines: Counter[int] = lines) -> Any:
                lines[hash((frame.f_code.co_filename, frame.f_lineno))] += event == "line"
                return trace

            before = sys.gettrace()
            sys.settrace(trace)
            try:
                made.randomize(symbol, random.randbytes)
            finally:
                sys.settrace(before)
            taken.add(lines.total())
    assert len(taken) == 1


EPSILONS = [Decimal(text) for text in ("0.01", "0.1", "0.5", "1", "1.0986122886681098", "2", "3", "5", "8", "10")]


@pytest.mark.parametrize("size", [2, 3, 4, 7, 32, 100, 463, 1000, 10_000])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_thresholds_spend_what_was_asked_for_and_never_more(size: int, epsilon: Decimal) -> None:
    made: list[Mechanism] = [mechanism_choice.choose_subset(size, epsilon), mechanism_choice.make_flip(epsilon)]
    made += [mechanism_choice.make_subset(size, weight, epsilon) for weight in {1, size // 2, size - 1}]
    made += [mechanism_choice.make_drawn(size, draw, epsilon) for draw in range(1, min(size, 16) + 1)]
    made += [mechanism_choice.make_geometric(min(size, 64), epsilon)]
    for one in made:
        assert epsilon - Decimal("1e-9") <= one.epsilon <= epsilon


INVALID: list[dict[str, Any]] = [
    {"one": 2**62, "zero": 3 * 2**62},
    {"one": 2**63, "zero": 2**63},
    {"one": 2**62, "zero": 0},
    {"one": 2**64, "zero": 2**62},
    {"one": 2**63, "zero": -1},
]


@pytest.mark.parametrize("coins", INVALID)
def test_inverted_or_degenerate_coins_are_refused(coins: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError) as refusal:
        Flip(**coins)
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
    ],
)
def test_degenerate_subsets_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError):
        Subset(**parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {"size": 3, "draw": 0, "keep": 3 * 2**62},
        {"size": 3, "draw": 4, "keep": 3 * 2**62},
        {"size": 30, "draw": 17, "keep": 3 * 2**62},
        {"size": 3, "draw": 1, "keep": 2**63},  # exactly chance
        {"size": 3, "draw": 2, "keep": 2**62},
        {"size": 3, "draw": 2, "keep": 2**64},
    ],
)
def test_degenerate_draws_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError):
        Drawn(**parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {"size": 3, "ratio": 2**64},
        {"size": 3, "ratio": 0},
        {"size": 1, "ratio": 2**62},
        {"size": 65, "ratio": 2**62},
        {"size": 2, "ratio": 2**64 - 1},  # its noise does not fall from level to level, nor in the next two
        {"size": 64, "ratio": 2**64 - 2},
        {"size": 4, "ratio": 2**10},
    ],
)
def test_degenerate_geometric_noise_is_refused(parameters: dict[str, Any], golden: Golden) -> None:
    with pytest.raises(DefinitionError) as refusal:
        Geometric(**parameters)
    assert refusal.value.code == "bad_mechanism"
    golden(refusal.value)


@pytest.mark.parametrize(
    ("made", "bits", "possible"),
    [
        (Subset(size=4, weight=2, keep=3 * 2**62), 0b0110, True),
        (Subset(size=4, weight=2, keep=3 * 2**62), 0b0111, False),
        (Subset(size=4, weight=2, keep=3 * 2**62), 0b0000, False),
        (Drawn(size=3, draw=2, keep=3 * 2**62), 0b100100, True),
        (Drawn(size=3, draw=2, keep=3 * 2**62), 0b110000, False),
        (Drawn(size=3, draw=2, keep=3 * 2**62), 0b100000, False),
        (Drawn(size=3, draw=2, keep=3 * 2**62), 0b101010, False),
        (Flip(one=2**63, zero=2**62), 1, True),
        (Geometric(size=3, ratio=2**62), 0b010, True),
        (Geometric(size=3, ratio=2**62), 0b011, False),
        (Geometric(size=3, ratio=2**62), 0b000, False),
    ],
)
def test_possible_bits(made: Mechanism, bits: int, possible: bool) -> None:
    assert made.is_possible(bits) is possible


@pytest.mark.parametrize("name", [name for name in SMALL if "geometric" not in name])
def test_p_and_q_are_the_marginals_of_the_enumeration(name: str) -> None:
    definition = SMALL[name]
    parsed = survey(definition)
    made = parsed.fields[0].mechanism
    if len(parsed.fields) > 1 or not isinstance(made, Subset) or any(q.levels for q in parsed.questions):
        return
    for answers in all_answers(definition):
        chances = reference.distribution(definition, answers)
        shares = [sum(c for row, c in chances.items() if row[i] == "1") for i in range(made.width)]
        assert sorted(shares) == sorted([made.p] + [made.q] * (made.size - 1))


def test_p_and_q_of_a_drawn_option_are_the_marginals_of_the_enumeration() -> None:
    for name in (name for name in SMALL if name.startswith("drawn")):
        definition = SMALL[name]
        made = survey(definition).fields[0].mechanism
        assert isinstance(made, Drawn)
        options = [*definition["questions"][0]["options"], None][: made.size]
        for answers in all_answers(definition):
            chances = reference.distribution(definition, answers)
            for place, option in enumerate(options):
                asked = sum(chance for row, chance in chances.items() if "1" in row[2 * place : 2 * place + 2])
                heads = sum(chance for row, chance in chances.items() if row[2 * place + 1] == "1")
                said = answers["used"]
                assert asked == Fraction(made.draw, made.size)
                assert heads / asked == (made.p if (option in said if said is not None else option is None) else made.q)


def test_symbols_out_of_range_never_reach_a_coin() -> None:
    for made in (
        Flip(one=2**63, zero=2**62),
        Subset(size=4, weight=2, keep=3 * 2**62),
        Geometric(size=3, ratio=2**62),
    ):
        for symbol in (-1, made.size):
            with pytest.raises(ValueError, match="symbol"):
                made.randomize(symbol, lambda count: pytest.fail("drew bytes"))
    with pytest.raises(ValueError, match="symbol"):
        Drawn(size=3, draw=1, keep=3 * 2**62).randomize(8, lambda count: pytest.fail("drew bytes"))


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

    threshold = mechanism_choice.make_flip(Decimal(1)).one
    assert threshold == 13485650502877570762
    bits = [int(flip_coin(threshold, stream)) for _ in range(100_000)]
    numbers = [draw_below(bound, stream) for bound in (3, 5, 7, 1000, 4294967295) for _ in range(5000)]
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
    assert mechanism_choice.make_flip(Decimal(epsilon)).one == threshold


def test_epsilon_is_displayed_rounded_up() -> None:
    assert round_up(Flip(one=3 * 2**62, zero=2**62).epsilon) == Decimal("1.098612288669")
    assert round_up(Decimal("1.00000000000000000001"), 4) == Decimal("1.0001")
    assert round_up(Decimal("1.0000"), 4) == 1


def test_publishing_and_parsing_are_inverse() -> None:
    for made, size in (
        (Flip(one=2**63, zero=2**62), 2),
        (Subset(size=4, weight=2, keep=3 * 2**62), 4),
        (Drawn(size=3, draw=2, keep=2**63), 3),
        (Geometric(size=3, ratio=2**62), 3),
    ):
        assert mechanisms.parse(mechanisms.publish(made), size, "") == made
