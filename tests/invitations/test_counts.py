"""How many were invited, and have a ticket, as everybody reads it: in steps that are drawn."""

from itertools import pairwise

import pytest

from survey_app.invitations.codes import count_in_steps
from survey_app.store import STEP

SECRET = b"\x07" * 32


def shown(count: int, name: str = "taken", *, final: bool = False) -> int:
    return count_in_steps(count, SECRET, name, final=final)


def test_at_least_a_step_is_left_out_and_no_two_states_differ_by_less() -> None:
    states = sorted({shown(count) for count in range(2000)})
    assert all(STEP <= count - shown(count) < 3 * STEP for count in range(3 * STEP, 2000))
    assert all(shown(count) <= shown(count + 1) for count in range(2000))
    lengths = {after - before for before, after in pairwise(states)}
    assert min(lengths) >= STEP and max(lengths) < 2 * STEP and len(lengths) > 5, "steps of many lengths"


def test_a_researcher_who_adds_people_of_their_own_cannot_tell_where_a_step_ends() -> None:
    """With steps of exactly twenty, nineteen of one's own tell when the twentieth comes."""
    ends = [next(count for count in range(3 * STEP) if shown(count, f"taken {survey}")) for survey in range(400)]
    assert len(set(ends)) == STEP and min(ends) == 2 * STEP


@pytest.mark.parametrize("count", range(0, 130, 7))
def test_at_the_end_the_rest_is_shown_if_it_is_a_step(count: int) -> None:
    before, after = shown(count), shown(count, final=True)
    assert after == (count if count - before >= STEP else before)
