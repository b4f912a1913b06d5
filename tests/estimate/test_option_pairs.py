"""Two options of one multiple: exactly, from the distribution of whole reports, and refused where nobody answers both."""

from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

import numpy as np
import pytest

from candor_client import Survey
from candor_client.mechanisms import Drawn
from survey_app.assure.simulation.devices import reports
from survey_app.channels.design_variance import share_variance
from survey_app.estimate.contingency import CrosstabEstimates, PairError
from survey_app.estimate.crosstab import crosstab
from survey_app.estimate.intervals import Options
from survey_app.estimate.option_pairs import CELLS, has_pairs
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.tally import Bits, Tally
from tests.definitions import COIN, choice, define, drawn, field, multiple, subset, survey, yes_no
from tests.exact import mechanism_bits
from tests.golden_files import Golden

BOTH = "used:item 0", "used:item 2"


def used(mechanism: dict[str, Any], **more: Any) -> Survey:
    return survey(define([multiple(**more)], [field(mechanism, "used")]))


def crossed(made: Survey, rows: Bits) -> CrosstabEstimates:
    counts = np.unpackbits(rows, axis=1, count=made.width).sum(axis=0, dtype=np.int64)
    return crosstab(made, *BOTH, Tally(len(rows), counts), iter([rows[:7], rows[7:]]), Options())


@pytest.mark.parametrize(("size", "draw"), [(3, 2), (4, 2), (4, 3), (4, 4), (5, 3)])
def test_who_is_asked_about_both_reports_one_of_four_cells(size: int, draw: int) -> None:
    """P = p + (c−1)q and Q = cq, with c = 2^(r−2): every count is binomial, given that the pair was asked."""
    mechanism = Drawn(size=size, draw=draw, keep=7 * 2**61)
    kept = Fraction(7, 8)
    other, each = (1 - kept) / (mechanism.sets - 1), mechanism.sets // 4
    for mask in range(2**size):
        chances: dict[tuple[int, int], Fraction] = {}
        for bits, chance in mechanism_bits(mechanism, mask).items():
            for i, j in CELLS:
                if bits[i] == "1" and bits[4 + j] == "1":
                    chances[i, j] = chances.get((i, j), Fraction(0)) + chance
        whole = sum(chances.values())
        assert whole == Fraction(draw * (draw - 1), size * (size - 1))
        true = mask & 1, mask >> 2 & 1
        for cell in CELLS:
            assert chances[cell] / whole == (kept + (each - 1) * other if cell == true else each * other)


@pytest.mark.parametrize("draw", [2, 3, 4])
def test_cells_are_exact_in_expectation_and_their_variance_is_that_of_the_plan(draw: int) -> None:
    """n·Var = (π + τ/4)(1 − π + 3τ/4) for each who is asked about both, τ = 2^r/(e^ε − 1) (docs/methods.md §15)."""
    made = used(drawn(4, draw, 7 * 2**61), options=4)
    mechanism = made.fields[0].mechanism
    assert isinstance(mechanism, Drawn)
    people = {0b0000: 4, 0b0001: 2, 0b0101: 1, 0b1100: 3}
    rows: list[Bits] = []
    common = lcm(*(chance.denominator for mask in people for chance in mechanism_bits(mechanism, mask).values()))
    for mask, weight in people.items():
        for bits, chance in mechanism_bits(mechanism, mask).items():
            rows += [np.packbits([int(bit) for bit in bits])] * int(weight * chance * common)
    found = crossed(made, np.array(rows))
    shares = {(0, 0): 0.4, (0, 1): 0.3, (1, 0): 0.2, (1, 1): 0.1}
    for cell, place in zip(found.cells, CELLS, strict=True):
        assert cell.estimate.unbiased == pytest.approx(shares[place])
        assert cell.estimate.interval.coverage == "guaranteed"
        assert cell.estimate.limits.sample is None
    assert found.n == len(rows) * draw * (draw - 1) / 12
    tau = 2**draw / (float(mechanism.odds) - 1)
    q = 2 ** (draw - 2) * (1 / 8) / (2**draw - 1)
    for share in shares.values():
        planned = (share + tau / 4) * (1 - share + 3 * tau / 4)
        assert share_variance(q + 1 / (1 + tau), q, share) == pytest.approx(planned)


def test_a_multiple_of_joint_cells_gives_pairs_from_the_tally() -> None:
    """The 2^m sets of a subset, also beside another question; no bits are read."""
    questions = [yes_no(), multiple()]
    made = survey(define(questions, [field(subset(16, 1), "cheated", "used")]))
    shares = np.arange(1, 17) / 136
    p, q = 0.75, 0.25 / 15
    tally = Tally(10**9, np.rint(10**9 * (q + (p - q) * shares)).astype(np.int64))
    found = crosstab(made, *BOTH, tally, iter([]), Options())
    for cell, (i, j) in zip(found.cells, CELLS, strict=True):
        held = sum(shares[8 * yes + mask] for yes, mask in product((0, 1), range(8)) if (mask & 1, mask >> 2) == (i, j))
        assert cell.estimate.unbiased == pytest.approx(held, abs=1e-6)
        assert cell.estimate.interval.coverage == "guaranteed"
    assert found.rows == ("item 0: no", "item 0: yes")
    assert found.test is not None


def test_who_gave_no_answer_to_joint_cells_is_apart() -> None:
    made = used(subset(9, 1), optional=True)
    counts = np.array([100, 20, 20, 20, 20, 20, 20, 20, 160])
    found = crosstab(made, *BOTH, Tally(400, counts), iter([]), Options())
    assert [cell.options for cell in found.cells][-1] == ("no answer", "no answer")
    assert len(found.cells) == 5 and found.test is None
    assert sum(cell.estimate.unbiased for cell in found.cells) == pytest.approx(1)


def test_options_that_go_together_are_found() -> None:
    """Everybody chose both or neither: the likelihood ratio rejects independence, in all but one run in 1e8."""
    made, rng = used(drawn(3, 2, 15 * 2**60)), np.random.default_rng()
    rows = np.concatenate(list(reports(made, {"used": rng.choice([0b000, 0b101], 3000)}, rng)))
    found = crossed(made, rows)
    assert found.test is not None and found.test.p_value < 1e-6
    rows = np.concatenate(list(reports(made, {"used": rng.integers(0, 8, 3000)}, rng)))
    independent = crossed(made, rows).test
    assert independent is not None and independent.p_value > 1e-8


@pytest.mark.parametrize(
    ("names", "code", "named"),
    [
        (("used:item 0", "used:item 0"), RefusalCode.REPEATED, ()),
        (("used:item 0", "used:nothing"), RefusalCode.UNKNOWN_OPTION, ("item 0, item 1, item 2",)),
        (("used:item 0", "cheated"), RefusalCode.OPTION_WITH_QUESTION, ()),
        (("help:option 0", "used:item 0"), RefusalCode.UNKNOWN_QUESTION, ("used, once",)),
        (("used:item 0", "once:item 1"), RefusalCode.OPTIONS_OF_TWO_QUESTIONS, ("used", "once")),
        (("once:item 0", "once:item 1"), RefusalCode.ONE_OPTION_EACH, ("once",)),
    ],
    ids=["same", "no-option", "question", "no-multiple", "two-questions", "one-option-each"],
)
def test_pairs_that_cannot_be_are_refused_in_a_sentence(
    names: tuple[str, str], code: RefusalCode, named: tuple[str, ...], golden: Golden
) -> None:
    questions = [yes_no(), choice(), multiple(), multiple("once", options=2)]
    forms = [COIN, subset(3, 1), drawn(3, 2), drawn(2, 1)]
    made = survey(define(questions, [field(form, one["id"]) for form, one in zip(forms, questions, strict=True)]))
    with pytest.raises(PairError) as caught:
        crosstab(made, *names, Tally.empty(made), iter([]), Options())
    assert caught.value.code is code and all(name in caught.value.message for name in named)
    golden(caught.value)
    assert [has_pairs(made, question) for question in made.questions] == [False, False, True, False]


def test_a_pair_that_nobody_was_asked_about_says_nothing() -> None:
    made = used(drawn(3, 2))
    found = crossed(made, np.zeros((0, made.length), dtype=np.uint8))
    assert (found.n, found.cells, found.test) == (0, [], None)
