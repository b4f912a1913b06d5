"""Groups of a study: weighted sums and differences, also of many small groups, with equal and unequal sizes."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

import numpy as np

from benchmarks.coverage.finders import PLAIN, find_evidence
from benchmarks.coverage.study import Case, Find, People, PopulationTruth, make_survey
from benchmarks.coverage.truths import MOVER, SCORE, yes_no
from candor_client.definition import Survey
from survey_app.authoring import mechanism_choice
from survey_app.estimate.group_estimates import combine, difference
from survey_app.estimate.intervals import Interval
from survey_app.estimate.question_estimates import Estimate, question_estimates
from survey_app.kinds.planning_assumptions import Indices
from survey_app.tally import Bits, Tally


def many_groups() -> Iterator[Case]:
    for e in ("1", "3", "6"):
        survey = make_survey([yes_no()], [(mechanism_choice.make_flip(Decimal(e)), ["a"])])
        studies = [(f"{count} × {size}", [size] * count) for count, size in ((2, 20), (10, 20), (10, 100), (30, 20))]
        studies.append(("10 of 20 to 200", [20 * (place + 1) for place in range(10)]))
        for name, sizes in studies:
            truths = [
                PopulationTruth(title, (float(np.dot(shares, sizes)) / sum(sizes),), draw_by_group(shares, sizes))
                for title, shares in (
                    ("0.005", [0.005] * len(sizes)), ("0.02", [0.02] * len(sizes)), ("0.3", [0.3] * len(sizes)),
                    ("0.005 and 0.3", [(0.005, 0.3)[place % 2] for place in range(len(sizes))]),
                )
            ]  # fmt: skip
            weights = [size / sum(sizes) for size in sizes]
            yield Case(
                "whole of groups", SCORE, f"{name}, ε {e}", survey, sum(sizes), find_weighted_sum(sizes, weights),
                truths, effort=0.5, scan=True,
            )  # fmt: skip
        equal = [0.25] * 4
        sizes = [20, 50, 100, 400]
        truths = [
            PopulationTruth(title, (float(np.dot(shares, equal)),), draw_by_group(shares, sizes))
            for title, shares in (("0.02", [0.02] * 4), ("the smallest at 0.3", [0.3, 0.02, 0.02, 0.02]))
        ]
        setting = f"20, 50, 100, 400 of equal weight, ε {e}"
        yield Case(
            "whole of groups",
            SCORE,
            setting,
            survey,
            sum(sizes),
            find_weighted_sum(sizes, equal),
            truths,
            effort=0.5,
            scan=True,
        )


def two_groups() -> Iterator[Case]:
    for e, n in (("1", 100), ("3", 20), ("8", 20), ("8", 100)):
        survey = make_survey([yes_no()], [(mechanism_choice.make_flip(Decimal(e)), ["a"])])
        truths = [
            PopulationTruth(f"{first:g} and {second:g}", (second - first,), draw_by_group([first, second], [n, n]))
            for first, second in ((0.02, 0.02), (0.2, 0.3), (0.005, 0.95), (0, 1))
        ]
        find = find_difference([n, n])
        yield Case("difference of groups", MOVER, f"2 × {n}, ε {e}", survey, 2 * n, find, truths, effort=0.5, scan=True)


def draw_by_group(shares: Sequence[float], sizes: Sequence[int]) -> People:
    """Return people who answer by group: the sizes and shares of all groups repeat for every survey."""
    chances = np.repeat(shares, sizes)

    def people(count: int, rng: np.random.Generator) -> dict[str, Indices]:
        return {"a": (rng.random(count) < np.tile(chances, count // len(chances))).astype(np.int64)}

    return people


def _yes_shares(survey: Survey, rows: Bits, sizes: Sequence[int]) -> list[Estimate]:
    """Return the estimated share of yes in every group."""
    ends = np.cumsum([0, *sizes])
    estimates: list[Estimate] = []
    for start, end in pairwise(ends.tolist()):
        counts = np.unpackbits(rows[start:end], axis=1, count=survey.width).sum(axis=0, dtype=np.int64)
        lines = question_estimates(*find_evidence(survey, Tally(end - start, counts), "a"), PLAIN)
        estimates += [line for line in lines if line.option == "yes"]
    return estimates


def find_weighted_sum(sizes: Sequence[int], weights: Sequence[float]) -> Find:
    """Return a finder of the interval of the weighted sum of the groups."""

    def find(survey: Survey, tally: Tally, rows: Bits) -> Sequence[Interval]:
        return [combine(_yes_shares(survey, rows, sizes), weights).interval]

    return find


def find_difference(sizes: Sequence[int]) -> Find:
    """Return a finder of the interval of the difference, second group minus first."""

    def find(survey: Survey, tally: Tally, rows: Bits) -> Sequence[Interval]:
        first, second = _yes_shares(survey, rows, sizes)
        return [difference(second, first).interval]

    return find
