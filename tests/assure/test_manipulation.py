"""The tests of counts: how often they alarm in vain, exactly where it can be added up, and what they find."""

import numpy as np
import pytest
from scipy.stats import binom

from candor_client.definition import Survey
from survey_app.assure.manipulation import describe_manipulation, find_impossible_counts, find_odd_draws
from survey_app.assure.simulation.devices import reports
from survey_app.plan.simulated_people import draw_people
from survey_app.tally import Tally, add_bits
from tests.definitions import (
    COIN,
    choice,
    define,
    drawn,
    field,
    geometric,
    multiple,
    number,
    simple,
    subset,
    survey,
    yes_no,
)
from tests.golden_files import Golden

EVERYTHING = survey(
    define(
        [yes_no(), choice(options=5), multiple(options=6), number("spend", levels=7)],
        [field(COIN, "cheated", chance=4), field(subset(5, 2), "help", chance=3), field(drawn(6, 2), "used", chance=2), field(geometric(7), "spend")],
        ask=1,
    )
)  # fmt: skip


def tally(made: Survey, people: int, rng: np.random.Generator, truth: dict[str, object] | None = None) -> Tally:
    counts = np.zeros(made.width, dtype=np.int64)
    for rows in reports(made, draw_people(made, truth or {}, people, rng), rng):
        add_bits(counts, rows)
    return Tally(people, counts)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("n", [40, 1000])
def test_a_yes_or_no_is_doubted_in_vain_as_rarely_as_stated(share: float, n: int) -> None:
    """Exactly: every count and its probability, people with and without the answer drawn apart."""
    made = survey(simple())
    rate = share * 0.75 + (1 - share) * 0.25
    doubted = [bool(find_impossible_counts(made, Tally(n, np.array([ones])), 0.02)) for ones in range(n + 1)]
    false = float(binom.pmf(np.arange(n + 1), n, rate) @ np.array(doubted))
    assert false <= 0.02
    if share in (0.0, 1.0) and n == 1000:
        assert false > 0.005, "and it is no test that never speaks"


def test_honest_devices_of_all_kinds_are_doubted_in_vain_as_rarely_as_stated() -> None:
    """400 surveys at level .05 for the ranges, .05 for the draws: more than 45 of either have a chance below 1e-6."""
    rng = np.random.default_rng()
    alone: dict[str, object] = {"cheated": 0.0, "help": {"option 0": 1.0}, "spend": {"mean": 0.0}}
    ranges = draws = 0
    for _ in range(400):
        counted = tally(EVERYTHING, 600, rng, alone)
        ranges += bool(find_impossible_counts(EVERYTHING, counted, 0.05))
        draws += bool(find_odd_draws(EVERYTHING, counted, 0.05))
    assert binom.sf(45, 400, 0.05) < 1e-6
    assert ranges <= 45
    assert 1 <= draws <= 45, "some are due: none at all has a chance below 1e-8"


def test_fakes_that_send_the_same_bits_are_found_and_those_that_look_honest_are_not() -> None:
    """docs/methods.md §9: of 10,000 at ε = ln 3 with nobody who says yes, 15% of zeros are seen; honest noise never."""
    rng = np.random.default_rng()
    made = survey(simple())
    honest = tally(made, 8_500, rng, {"cheated": 0.0}).counts
    (seldom,) = find_impossible_counts(made, Tally(10_000, honest))
    assert (seldom.questions, seldom.is_too_low) == (("cheated",), True), "missed with a chance below 1e-8"
    noisy = rng.binomial(1_500, 0.75)  # each fake says yes, and flips its coins
    assert describe_manipulation(made, Tally(10_000, honest + noisy)) == []
    zeros = tally(made, 500, rng, {"cheated": 1.0}).counts + 500
    (often,) = find_impossible_counts(made, Tally(1_000, zeros))
    assert (often.questions, often.is_too_low) == (("cheated",), False)


def test_draws_that_were_chosen_are_found() -> None:
    rng = np.random.default_rng()
    counted = tally(EVERYTHING, 2_000, rng)
    chosen = counted.counts.copy()
    chosen[0] += 300  # fakes that answer the first field only
    chosen[1] += 150
    assert () in dict(find_odd_draws(EVERYTHING, Tally(2_300, chosen))), "of the questions that devices drew"
    asked = 2 + 1 + 5 + 1  # the first bit of the drawn field
    one_sided = counted.counts.copy()
    moved = int(one_sided[asked + 4])  # about 80
    one_sided[asked] += moved
    one_sided[asked + 4] -= moved
    assert ("used",) in dict(find_odd_draws(EVERYTHING, Tally(2_000, one_sided)))


def test_what_cannot_be_honest_is_put_into_words(golden: Golden) -> None:
    made = survey(simple())
    golden(describe_manipulation(made, Tally(1_000, np.array([100])))[0], "seldom")
    golden(describe_manipulation(made, Tally(1_000, np.array([900])))[0], "often")
    drawing = survey(
        define([multiple(options=6), yes_no()], [field(drawn(6, 2), "used"), field(COIN, "cheated")], ask=1)
    )
    asked = drawing.fields[0].mechanism.width + 1
    counts = np.zeros(drawing.width, dtype=np.int64)
    counts[0], counts[asked], counts[asked + 1] = 1_500, 500, 250
    counts[1:asked] = [250] * 12
    golden("\n".join(describe_manipulation(drawing, Tally(2_000, counts))), "drawn")
