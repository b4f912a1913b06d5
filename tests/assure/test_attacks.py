"""The attacks of docs/attacks.md, at a small size: what they find is what theory says, and the page has all of them.

Those by the clock, on tickets and from wave to wave are in tests/client and tests/invitations.
"""

from pathlib import Path

import numpy as np
import pytest

from candor_client.mechanisms import Subset
from tests.attacks.__main__ import HEAD, PAGE, sections
from tests.attacks.files import administrator
from tests.attacks.pins import expected_rank, ranks, survey_of
from tests.attacks.posterior import belief_section, largest_odds
from tests.attacks.reasking import guess_chance, reasking_section
from tests.attacks.watching import poll_results

OPTIONS = 400
FAR = 5.5  # standard errors; some twenty numbers together: false alarms below 1e-6, but for the skew of small counts


def test_asking_again_averages_noise_away_up_to_the_limits(tmp_path: Path) -> None:
    assert [round(guess_chance(m, 0.7310585786), 3) for m in (1, 3, 5, 10, 20)] == [0.731, 0.822, 0.876, 0.935, 0.985]
    section = reasking_section(60, tmp_path)
    assert all(number.distance < FAR for number in section.numbers[:4])
    assert "**7** reports" in section.text and "**21** reports" in section.text and "**1** report:" in section.text


def test_odds_never_move_by_more_than_the_claim() -> None:
    seen, bound = largest_odds()
    assert bound * 0.999 < seen <= bound
    assert belief_section(1_000).numbers[0].distance < FAR


def test_the_rank_of_a_pin_is_as_theory_says_and_one_without_noise() -> None:
    made = survey_of(3, OPTIONS)
    mechanism = made.fields[0].mechanism
    assert isinstance(mechanism, Subset)
    mean, spread = expected_rank(mechanism)
    seen = ranks(made, 60)
    assert abs(seen.mean() - mean) < FAR * spread / np.sqrt(60)
    every = np.concatenate([np.arange(1, mechanism.weight + 1), np.arange(mechanism.weight + 1, OPTIONS + 1)])
    p = float(mechanism.p)
    chances = np.where(every <= mechanism.weight, p / mechanism.weight, (1 - p) / (OPTIONS - mechanism.weight))
    assert chances @ every == pytest.approx(mean)
    assert np.sqrt(chances @ every**2 - mean**2) == pytest.approx(spread)


def test_order_is_gone_once_the_server_has_tidied_up(tmp_path: Path) -> None:
    """False alarm about 1e-6; that the same attempt finds an order where there is one, tests/invitations shows."""
    _, after, _ = administrator(tmp_path / "files")
    assert not after.beats_guessing, after


def test_polling_sees_no_single_report(tmp_path: Path) -> None:
    states, gap = poll_results(tmp_path / "polling", 40)
    assert states >= 3 and gap >= 20


def test_the_page_has_every_attack(tmp_path: Path) -> None:
    page = PAGE.read_text()
    assert page.startswith(HEAD)
    assert page.count("\n## ") == len(sections(tmp_path, people=20, events=10, runs=1))
