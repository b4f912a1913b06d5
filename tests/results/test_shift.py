"""How far invented reports move a figure: every report that somebody could invent, through the real estimates.

docs/methods.md §15: a fraction b of all reports that claim one block, drawn by α of the devices, moves a share by up to
b(1 + (1−g)τ)/α; exactly, b/α is b/(α(1−b) + b), since invented reports are among those that drew the block.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest

from candor_client.definition import Field, Survey
from candor_client.mechanisms import Drawn, Subset
from candor_client.question import Question
from survey_app.estimate.intervals import Options
from survey_app.estimate.question_estimates import Evidence, question_estimates
from survey_app.results.caution import largest_shift
from tests.definitions import COIN, choice, define, drawn, field, geometric, multiple, number, subset, survey, yes_no
from tests.exact import mechanism_bits

INVENTED = 0.001
REPORTS = 10**9  # so many that rounding to whole reports does not matter

AFTER = {"question": "cheated", "is": ["yes"]}
QUESTIONS = [
    yes_no(), choice(options=2, show_if=AFTER), yes_no("sure"), multiple(), multiple("pair", options=2),
    number(levels=4), number("spend", levels=7),
]  # fmt: skip
FIELDS = [
    field(subset(8, 1, 7 * 2**61), "cheated", "help", "sure", chance=5),
    field(drawn(3, 2), "used", chance=3),
    field(subset(4, 1), "pair", chance=2),
    field(subset(4, 1), "hours"),
    field(geometric(7), "spend", chance=9),
]


@pytest.fixture(scope="module")
def made() -> Survey:
    return survey(define(QUESTIONS, FIELDS, ask=1))


def counts(one: Field, symbol: int, part: float) -> np.ndarray[Any, Any]:
    """The bits of honest devices with this symbol, on average."""
    total = np.zeros(one.mechanism.width)
    for bits, chance in mechanism_bits(one.mechanism, symbol).items():
        total += part * float(chance) * np.array([int(bit) for bit in bits])
    return total


def largest_seen(made: Survey, one: Field, question: Question) -> float:
    """Over everybody's truth and every report: how far the invented ones move any unbiased figure."""
    alpha, mechanism = float(made.answer_probability(one)), one.mechanism
    symbols = range(2**mechanism.size) if isinstance(mechanism, Drawn) else range(mechanism.size)
    sendable = {bits for symbol in symbols for bits in mechanism_bits(mechanism, symbol)}
    worst = 0.0
    for symbol, sent in product(symbols, sendable):
        figures = []
        for invented in (0.0, INVENTED):
            seen = counts(one, symbol, alpha * (1 - invented))
            seen += invented * np.array([int(bit) for bit in sent])
            n = alpha * (1 - invented) + invented
            evidence = Evidence(one, np.rint(REPORTS * seen).astype(np.int64), round(REPORTS * n), is_complete=False)
            lines = question_estimates(evidence, question, Options())
            figures.append([line.unbiased for line in lines if line.kind != "no_answer"])
        worst = max(worst, *(abs(a - b) for a, b in zip(*figures, strict=True)))
    return worst


@pytest.mark.parametrize("name", ["cheated", "help", "sure", "used", "pair", "hours", "spend"])
def test_no_report_that_somebody_invents_moves_a_figure_further_than_told(made: Survey, name: str) -> None:
    question = next(one for one in made.questions if one.id == name)
    one = next(one for one in made.fields if question in one.questions)
    told = largest_shift(made, one, question, INVENTED)
    assert told is not None
    reached = float(made.answer_probability(one))
    if isinstance(one.mechanism, Drawn):
        reached *= one.mechanism.draw / one.mechanism.size
    exactly = told * reached / (reached * (1 - INVENTED) + INVENTED)
    assert largest_seen(made, one, question) == pytest.approx(exactly, rel=1e-5)


def test_the_formula_of_a_block_is_the_one_that_is_told(made: Survey) -> None:
    """b(1 + (1−g)τ)/α, with g the smallest part of the block's cells that holds an answer."""
    block = made.fields[0]
    assert isinstance(block.mechanism, Subset)
    tau = block.mechanism.size / (float(block.mechanism.odds) - 1)
    for name, part in (("cheated", 2 / 8), ("help", 2 / 8), ("sure", 4 / 8)):
        question = next(one for one in made.questions if one.id == name)
        told = largest_shift(made, block, question, INVENTED)
        assert told == pytest.approx(INVENTED * (1 + (1 - part) * tau) * 20 / 5)


def test_a_coin_among_blocks(made: Survey) -> None:
    alone = survey(define([yes_no("a"), yes_no("b")], [field(COIN, "a"), field(COIN, "b", chance=3)], ask=1))
    told = largest_shift(alone, alone.fields[0], alone.questions[0], INVENTED)
    assert told == pytest.approx(INVENTED * 1.5 * 4)
