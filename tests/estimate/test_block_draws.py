"""Whether devices drew their blocks as their chances say: the size of the test exactly, its power by simulation."""

from itertools import combinations
from math import factorial, prod

import numpy as np
import pytest

from candor_client import Survey
from survey_app.assure.simulation.devices import reports
from survey_app.estimate.block_draws import count_draws, run_draw_test
from survey_app.tally import Tally
from tests.definitions import COIN, define, field, survey, yes_no
from tests.estimate.rare import lowest_share


def drawn_survey(*chances: int) -> Survey:
    names = [f"q{i}" for i in range(len(chances))]
    fields = [field(COIN, name, **({"chance": c} if c > 1 else {})) for name, c in zip(names, chances, strict=True)]
    return survey(define([yes_no(name) for name in names], fields, ask=1))


def tally_of(made: Survey, counts: list[int]) -> Tally:
    """So many devices drew each field, and said no."""
    bits = np.zeros(made.width, dtype=np.int64)
    bits[0::2] = counts
    return Tally(sum(counts), bits)


def all_counts(n: int, k: int) -> list[list[int]]:
    """Every way to share n among k."""
    bars = combinations(range(n + k - 1), k - 1)
    return [[b - a - 1 for a, b in zip((-1, *cut), (*cut, n + k - 1), strict=True)] for cut in bars]


def size(made: Survey, n: int) -> float:
    """How often the test rejects at .05 where devices draw as they should: by every outcome and its probability."""
    chances = [float(made.answer_probability(one)) for one in made.fields]
    rejected = 0.0
    for counts in all_counts(n, len(chances)):
        test = run_draw_test(count_draws(made, tally_of(made, counts)))
        assert test is not None and test.n == n and test.df == len(chances) - 1
        if test.p_value <= 0.05:
            ways = factorial(n) // prod(map(factorial, counts))
            rejected += ways * prod(chance**count for chance, count in zip(chances, counts, strict=True))
    return rejected


@pytest.mark.parametrize("chances", [(90, 7, 3), (1, 1, 1), (500, 499, 1)])
def test_few_reports_do_not_reject_more_often_than_they_say(chances: tuple[int, ...]) -> None:
    """Simulated p-values err by .0022 at .05; taken for a chi-square, it would reject .094 and .070."""
    made = drawn_survey(*chances)
    assert size(made, 12) <= 0.05 + 3 * 0.0022


def test_where_blocks_are_expected_often_enough_the_size_is_near_its_level() -> None:
    assert 0.04 < size(drawn_survey(6, 3, 1), 50) < 0.06


def test_it_is_the_same_whenever_it_is_asked() -> None:
    made = drawn_survey(90, 7, 3)
    found = [run_draw_test(count_draws(made, tally_of(made, [25, 4, 1]))) for _ in range(2)]
    assert found[0] is not None and found[0].name.endswith("simulated")
    assert found[0] == found[1]


def test_a_block_that_was_never_drawn_is_noticed() -> None:
    made = drawn_survey(1, 1)
    test = run_draw_test(count_draws(made, tally_of(made, [20, 0])))
    assert test is not None
    assert test.statistic == 20
    assert test.p_value < 1e-5


def test_nothing_is_tested_where_nothing_is_drawn() -> None:
    assert count_draws(survey(define([yes_no()], [field(COIN, "cheated")])), Tally(5, np.array([3]))) == []
    made = drawn_survey(1, 1)
    assert run_draw_test(count_draws(made, Tally.empty(made))) is None


def test_break_off_and_invented_reports_are_found() -> None:
    """Of 2,000 devices, those who see the block of a fifth: a quarter breaks off, or as many reports claim it besides.

    The noncentral chi-square gives powers of .99 and .98 at .05; seen are at least .97, but for one run in 1e8.
    Honest devices are rejected no more often than .05 says, to 1e-8.
    """
    made, rng, runs = drawn_survey(5, 3, 2), np.random.default_rng(), 200
    found = {"honest": 0, "broke off": 0, "invented": 0}
    for _ in range(runs):
        rows = np.concatenate(list(reports(made, {f"q{i}": rng.integers(0, 2, 2000) for i in range(3)}, rng)))
        bits = np.unpackbits(rows, axis=1, count=made.width)
        last = bits[:, 4] == 1
        stayed = ~last | (rng.random(len(bits)) >= 0.25)
        for name, kept in (
            ("honest", bits),
            ("broke off", bits[stayed]),
            ("invented", np.concatenate([bits, bits[last][:100]])),
        ):
            test = run_draw_test(count_draws(made, Tally(len(kept), kept.sum(axis=0, dtype=np.int64))))
            assert test is not None
            found[name] += test.p_value <= 0.05
    assert found["honest"] <= runs * (1 - lowest_share(0.95, runs))
    assert min(found["broke off"], found["invented"]) >= runs * lowest_share(0.97, runs)
