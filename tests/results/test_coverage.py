"""How often the intervals of a survey of blocks hold what is true: devices' exact distribution, the real documents.

Blocks with own chances, a follow-up inside its block and one whose filter lies outside, optional points, drawn options
and pairs of them, levels, geometric noise; few reports, many, and answers that nearly all share. A claim that holds is
called false in one of 1e8 runs for each figure; all guaranteed figures together are held to two standard errors, and
intervals made for 70% are shown to fail both.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from candor_client.answer import unanswered
from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.assure.simulation.devices import reports
from survey_app.assure.simulation.trial import population_figure as true_figure
from survey_app.estimate.intervals import GUARANTEED, Coverage, Options
from survey_app.figures import FigureKind
from survey_app.kinds import kind_of
from survey_app.kinds.planning_assumptions import Indices
from survey_app.plan.simulated_people import draw_people
from survey_app.results.crosstab_document import Crosstab, make_crosstab
from survey_app.results.survey_document import Line, results
from survey_app.tally import Tally, add_bits
from tests.block_survey import blocks
from tests.estimate.rare import lowest_share

PEOPLE = 1_000_000  # their shares are taken for true: wrong by .0005, where intervals are from .03 on
PAIR = "used:notes", "used:phone"
ALIKE: dict[str, Any] = {
    "cheated": 0.97, "why": {"no_answer": 0.0, "of": {"time": 1}}, "stress": 0.03, "who": {"no_answer": 0.5, "of": {"myself": 1}},
    "fair": {"no_answer": 0.6, "of": {"Agree": 1}}, "used": {"notes": 0.99, "phone": 0.01, "neighbour": 0.0},
    "hours": {"mean": 2, "sd": 2}, "spend": {"mean": 495, "sd": 10},
}  # fmt: skip


@dataclass(frozen=True)
class Held:
    """How often the interval of one figure held what is true, of so many surveys."""

    coverage: Coverage
    hits: int
    runs: int


def study(made: Survey, truth: Mapping[str, Any], n: int, runs: int, options: Options) -> dict[tuple[str, ...], Held]:
    """Every figure of so many surveys of n people."""
    rng = np.random.default_rng()
    everybody = draw_people(made, truth, PEOPLE, rng)
    hits, seen = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    labels: dict[tuple[str, ...], Coverage] = {}
    truths: dict[tuple[str, ...], float] = {}  # of everybody, so the same in every survey
    for _ in range(runs):
        rows = np.concatenate(list(reports(made, draw_people(made, truth, n, rng), rng)))
        counts = np.zeros(made.width, dtype=np.int64)
        add_bits(counts, rows)
        for name, line, true_of in figures(made, Tally(n, counts), rows, everybody, options):
            if name not in truths:
                truths[name] = float(true_of())
            true = truths[name]
            seen[name] += 1
            hits[name] += line.low - 1e-9 <= true <= line.high + 1e-9
            labels[name] = line.coverage
    return {name: Held(labels[name], hits[name], seen[name]) for name in seen}


def figures(
    made: Survey, tally: Tally, rows: Any, everybody: dict[str, Indices], options: Options
) -> Iterator[tuple[tuple[str, ...], Line, Callable[[], Any]]]:
    """All lines of the results, and of a pair of drawn options, with what tells the truth of everybody."""
    document = results(made, tally, options)
    for question, part in zip(made.questions, document.questions, strict=True):
        said = everybody[question.id]
        for line in part.estimates:
            yield (question.id, line.option), line, partial(true_figure, question, line.option, line.kind, said)
        answered = said[said != unanswered(question)] if part.answered else said
        for line in part.answered:
            told = partial(true_figure, question, line.option, FigureKind.SHARE, answered)
            yield (question.id, line.option, "answered"), line, told
        for place, line in enumerate(part.cumulative):
            yield (question.id, line.option), line, partial(_share, partial(np.less_equal, said, place))
    for joint in document.joint:
        members = [question for question in made.questions if question.id in joint.questions]
        for line in joint.estimates:
            pairs = [
                (everybody[one.id], symbol(one, option)) for one, option in zip(members, line.options, strict=True)
            ]
            yield ("joint", *line.options), line, partial(_share, partial(_all_are, pairs))
    crossed = make_crosstab(made, tally, [rows], *PAIR, options)
    if isinstance(crossed, Crosstab):
        used = everybody["used"]
        for line in crossed.estimates:
            notes, phone = (option.endswith("yes") for option in line.options)
            yield (
                ("pair", *line.options),
                line,
                partial(_share, partial(_all_are, [(used & 1, notes), (used >> 1 & 1, phone)])),
            )


def _share(chosen: Callable[[], Any]) -> float:
    return float(np.mean(chosen()))


def _all_are(pairs: list[tuple[Any, int]]) -> Any:
    return np.all([said == wanted for said, wanted in pairs], axis=0)


def symbol(question: Question, option: str) -> int:
    return kind_of(question).all_answers(question).index(option)


def failing(found: dict[tuple[str, ...], Held]) -> list[tuple[str, ...]]:
    """The figures whose intervals hold too seldom to be what they are called."""
    least = {name: 0.95 if one.coverage == GUARANTEED else 0.93 for name, one in found.items()}
    return [name for name, one in found.items() if one.hits / one.runs < lowest_share(least[name], one.runs)]


def guaranteed(found: dict[tuple[str, ...], Held]) -> float:
    """How often the guaranteed intervals hold, all together, in standard errors above .95 (of independent surveys)."""
    lines = [one for one in found.values() if one.coverage == GUARANTEED]
    runs = max(one.runs for one in lines)
    return (sum(one.hits for one in lines) / sum(one.runs for one in lines) - 0.95) / math.sqrt(0.95 * 0.05 / runs)


@pytest.mark.slow
@pytest.mark.parametrize(("truth", "n", "runs"), [({}, 150, 80), ({}, 1200, 80), (ALIKE, 500, 80)])
def test_intervals_of_blocks_hold_what_they_promise(truth: Mapping[str, Any], n: int, runs: int) -> None:
    found = study(blocks(), truth, n, runs, Options())
    assert len(found) > 40
    assert {one.coverage for one in found.values()} == {"guaranteed", "approximate"}
    assert failing(found) == []
    assert guaranteed(found) > -2


@pytest.mark.slow
def test_intervals_that_are_too_narrow_would_be_noticed() -> None:
    found = study(blocks(), {}, 1200, 60, Options(0.7))
    assert failing(found)
    assert guaranteed(found) < -2
