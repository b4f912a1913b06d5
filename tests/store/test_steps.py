"""The rule of the steps alone: which pending reports stay, given how many there are and what is drawn."""

import math
from collections import Counter
from collections.abc import Sequence

import pytest

from survey_app.store.steps import STEP, choose_pending


def ids(count: int) -> list[bytes]:
    return [i.to_bytes(16, "big") for i in range(count)]


def never(pending: Sequence[bytes], count: int) -> list[bytes]:
    raise AssertionError("nothing is to be drawn")


@pytest.mark.parametrize("count", [0, 1, 19, 20, 39])
def test_fewer_than_two_steps_all_stay(count: int) -> None:
    assert choose_pending(ids(count)[::-1], final=False, draw=never) == ids(count)


@pytest.mark.parametrize("count", [40, 41, 59, 1000])
def test_from_two_steps_on_one_step_stays_as_drawn(count: int) -> None:
    drawn = [ids(count)[i] for i in (39, *range(0, 38, 2))]
    assert len(drawn) == STEP
    assert choose_pending(ids(count), final=False, draw=lambda pending, wanted: drawn[:wanted]) == sorted(drawn)


@pytest.mark.parametrize("count", [0, 1, 19])
def test_at_the_end_fewer_than_a_step_stay_for_ever(count: int) -> None:
    assert choose_pending(ids(count), final=True, draw=never) == ids(count)


@pytest.mark.parametrize("count", [20, 21, 39])
def test_at_the_end_a_step_and_more_are_shown(count: int) -> None:
    assert choose_pending(ids(count), final=True, draw=never) == []


def worst(counts: Counter[bytes], rounds: int, count: int) -> float:
    """The largest deviation of an id's share from STEP/count, in standard errors."""
    chance = STEP / count
    error = math.sqrt(rounds * chance * (1 - chance))
    return max(abs(counts[one] - rounds * chance) / error for one in ids(count))


def test_rows_that_stay_are_drawn_alike_wherever_they_stand() -> None:
    """Each of 45 stays with chance 20/45, in 4,000 draws: 6 standard errors are exceeded with chance below 1e-7."""
    counts: Counter[bytes] = Counter()
    for _ in range(4000):
        staying = choose_pending(ids(45), final=False)
        assert len(set(staying)) == STEP
        counts.update(staying)
    assert worst(counts, 4000, 45) < 6
    last = Counter(
        one for _ in range(4000) for one in choose_pending(ids(45), final=False, draw=lambda of, n: list(of[-n:]))
    )
    assert worst(last, 4000, 45) > 6  # the newest always, as it once was
