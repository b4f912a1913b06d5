"""What the clock tells: the figures that the pages and the threat model quote."""

import numpy as np
from click.testing import CliRunner

from benchmarks.clock import PEOPLE, SCENARIOS, main, match_share

RUNS = 20
ONE_VISIT, ANEW, HABITS = SCENARIOS


def found(way: str) -> float:
    """How many of 300 people a matching finds, in the mean."""
    rng = np.random.default_rng()
    return PEOPLE * float(np.mean([match_share(way, PEOPLE, rng) for _ in range(RUNS)]))


def test_in_one_visit_the_clock_tells_who_is_who_of_more_than_half() -> None:
    """174 ± 11 in a run, so that a mean of 20 runs leaves 174 ± 15 less often than once in 10^8."""
    assert abs(found(ONE_VISIT) - 0.58 * PEOPLE) < 15


def test_in_phases_it_is_guessing() -> None:
    """A matching that knows nothing finds one person in the mean: 20 runs find more than 50 once in 10^8."""
    assert found(ANEW) * RUNS <= 50


def test_in_phases_people_of_habits_are_found_more_often() -> None:
    """14.7 ± 4 in a run: a mean of 20 runs below 8 or above 22 comes less often than once in 10^10."""
    assert 8 < found(HABITS) < 22


def test_the_command_prints_a_line_for_each_way_and_one_for_guessing() -> None:
    said = CliRunner().invoke(main, ["--runs", "2", "--people", "20"])
    assert said.exit_code == 0, said.output
    assert [line[:10] for line in said.output.splitlines()] == ["one visit,", "phases, ev", "phases, ev", "by guessin"]
