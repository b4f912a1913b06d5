"""Cross-tabs of two questions: cells, conditional shares, differences, and a valid test of independence.

Each answer gets an unbiased score from the bits of a report: u_i = 1{answer i} on average. The noise of two separate
fields is independent, so u_i v_j is unbiased for the cell, and a scan of the reports stores only sums of these
products. Two questions of one joint field need no scan, because their cells are columns of the tally. Combinations that
cannot occur, because one question decides whether the other is asked, are left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.channels import channel_of
from survey_app.channels.channel import ScoreMap
from survey_app.estimate import hypotheses
from survey_app.estimate.contingency import (
    MOST_CELLS,
    CrosstabEstimates,
    PairError,
    RowShares,
    SeparateBlocksError,
    estimate_rows,
    score_interval,
    share_estimate,
)
from survey_app.estimate.hypotheses import ScoreSummary, Test
from survey_app.estimate.intervals import Options
from survey_app.estimate.joint_field import joint_crosstab
from survey_app.estimate.option_pairs import is_option_name, option_crosstab
from survey_app.estimate.possible_pairs import possible_cells
from survey_app.estimate.projection import project_to_margins
from survey_app.estimate.question_estimates import LEAST_REPORTS, Cell, Evidence, field_symbols
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.figures import Floats
from survey_app.kinds import kind_of
from survey_app.tally import Bits, Columns, Tally, columns_of

MOST_STORED_SCORES = 2**18  # number of scores that are stored for permutations

Mask = npt.NDArray[np.bool_]  # for each cell: whether it can occur


def crosstab(
    survey: Survey, rows: str, columns: str, tally: Tally, scan: Iterable[Bits], options: Options
) -> CrosstabEstimates:
    """Return the cross-tab of two questions, or of two options of one question.

    `scan` yields the bits behind the tally. It is read only if the questions are in separate fields, or if options were
    drawn. Raise PairError if the two cannot be crossed.
    """
    if is_option_name(rows) or is_option_name(columns):
        return option_crosstab(survey, rows, columns, tally, scan, options)
    by_id = {question.id: question for question in survey.questions}
    for name in (rows, columns):
        if name not in by_id:
            raise PairError(
                RefusalCode.UNKNOWN_QUESTION, f"there is no question {name!r}; the questions are {', '.join(by_id)}"
            )
    if rows == columns:
        raise PairError(RefusalCode.REPEATED, "choose two different questions")
    first, second = by_id[rows], by_id[columns]
    places = columns_of(survey, rows), columns_of(survey, columns)
    left, right = _Scores.from_question(places[0], first), _Scores.from_question(places[1], second)
    if len(left.names) * len(right.names) > MOST_CELLS:
        raise PairError(
            RefusalCode.TOO_MANY_CELLS,
            f"{len(left.names)} × {len(right.names)} cells are more than the limit of {MOST_CELLS}; choose questions"
            " with fewer options",
        )
    if places[0] == places[1]:
        n = tally.reports if places[0].asked_column is None else int(tally.counts[places[0].asked_column])
        evidence = Evidence(places[0].field, tally.counts[places[0].bit_slice], n, places[0].asked_column is None)
        return joint_crosstab(evidence, (first, second), (left.names, right.names), options)
    if survey.ask:
        raise SeparateBlocksError(
            f"no device answered both {rows} and {columns}, because each device answers only one block of this survey;"
            " to cross them in a future survey, write"
            f" joint: [[{', '.join(_sort_by_survey(survey, rows, columns))}]]"
        )
    moments = _Moments(left, right)
    for packed in scan:
        moments.add(packed, survey.width, left, right)
    return _cross_separate_fields(moments, left, right, possible_cells(survey, first, second), options)


def _sort_by_survey(survey: Survey, *names: str) -> list[str]:
    """Return ids in the survey's order, which a joint field must have."""
    return [question.id for question in survey.questions if question.id in names]


@dataclass(frozen=True)
class _Scores:
    """Unbiased scores of a question's answers, as a map of the stored bits of its field.

    `exclusive` means that exactly one of the answers is true.
    """

    place: Columns
    names: tuple[str, ...]
    map: ScoreMap
    exclusive: bool

    @classmethod
    def from_question(cls, place: Columns, question: Question) -> "_Scores":
        channel, kind = channel_of(place.field.mechanism), kind_of(question)
        by_answer, scores = channel.reads_answers, None
        if kind.has_shares(question):
            scores = channel.score_map(() if by_answer else field_symbols(place.field, question))
        if scores is None:
            raise PairError(
                RefusalCode.NO_SHARES,
                f"{question.id} is a number without bins: only its mean can be estimated, not its shares;"
                " choose another question",
            )
        names = kind.all_answers(question) if by_answer else kind.symbol_labels(question)
        return cls(place, tuple(names), scores, kind.exclusive or not by_answer)

    def score_reports(self, bits: Bits) -> Floats:
        """Return the scores of the answers in each report, given unpacked bits."""
        scores: Floats = bits[:, self.place.bit_slice] @ self.map.slope + self.map.offset
        return scores


class _Moments:
    """Sums of products of scores over reports; also the scores themselves while a test may need to permute them."""

    def __init__(self, left: _Scores, right: _Scores) -> None:
        rows, columns = len(left.names), len(right.names)
        self.n = 0
        self.ones = [np.zeros(scores.place.stop - scores.place.start, dtype=np.int64) for scores in (left, right)]
        self.report_scores: list[tuple[Floats, Floats]] = []
        self.stores_scores = left.map.table is None or right.map.table is None
        self.u, self.v = np.zeros(rows), np.zeros(columns)
        self.uu, self.vv = np.zeros((rows, rows)), np.zeros((columns, columns))
        shape = (rows, columns)
        self.uv, self.u2v, self.u2v2 = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.ruv, self.ruv2 = np.zeros(shape), np.zeros(shape)  # r: the score of the first row

    @property
    def summaries(self) -> tuple[ScoreSummary, ScoreSummary]:
        """The summaries of both questions' scores, for a test."""
        u, v = (
            (np.concatenate(part) for part in zip(*self.report_scores, strict=True))
            if self.report_scores
            else (None, None)
        )
        return (
            ScoreSummary(self.uu / self.n, self.u / self.n, self.ones[0], u),
            ScoreSummary(self.vv / self.n, self.v / self.n, self.ones[1], v),
        )

    def add(self, packed: Bits, width: int, left: _Scores, right: _Scores) -> None:
        """Add some packed reports to the sums."""
        bits = np.unpackbits(packed, axis=1, count=width)
        u, v = left.score_reports(bits), right.score_reports(bits)
        u2, v2, ru = u * u, v * v, u * u[:, :1]
        self.n += len(bits)
        for scores, sums in zip((left, right), self.ones, strict=True):
            sums += bits[:, scores.place.bit_slice].sum(axis=0, dtype=np.int64)
        self.stores_scores = self.stores_scores and self.n * (u.shape[1] + v.shape[1]) <= MOST_STORED_SCORES
        self.report_scores = [*self.report_scores, (u, v)] if self.stores_scores else []
        self.u, self.v = self.u + u.sum(axis=0), self.v + v.sum(axis=0)
        self.uu, self.vv = self.uu + u.T @ u, self.vv + v.T @ v
        self.uv, self.u2v, self.u2v2 = self.uv + u.T @ v, self.u2v + u2.T @ v, self.u2v2 + u2.T @ v2
        self.ruv, self.ruv2 = self.ruv + ru.T @ v, self.ruv2 + ru.T @ v2


def _cross_separate_fields(
    sums: _Moments, left: _Scores, right: _Scores, possible: Mask, options: Options
) -> CrosstabEstimates:
    n, names = sums.n, (left.names, right.names)
    if n < LEAST_REPORTS:
        return CrosstabEstimates(*names, n, [], [], [], None)
    value, rows, columns = sums.uv / n, sums.u / n, np.clip(sums.v / n, 0, 1)[None, :]
    z = float(ndtri(1 - options.apply_bonferroni(int(possible.sum())).alpha / 2))
    row_shares = np.clip(rows, 0, 1)[:, None]
    a, b = left.map.noise_moment[:, None], right.map.noise_moment[None, :]
    g, h = left.map.moment_gain[:, None], right.map.moment_gain[None, :]
    least = row_shares * g * b + columns * a * h + a * b  # E(u²v²) − P · g · h
    displayed, displayed_rows = _displayed_cells(sums, left, right, possible)
    cells: list[Cell] = []
    for i, j in np.argwhere(possible).tolist():
        top, spread = float(value[i, j]), (float(least[i, j]), float(g[i, 0] * h[0, j]), -1.0)
        low, high = score_interval(top, 1.0, spread, n, z)
        cells.append(Cell((names[0][i], names[1][j]), share_estimate(n, top, float(displayed[i, j]), low, high)))
    is_nonempty = rows > z * np.sqrt(np.maximum(a + row_shares * g - row_shares**2, 0)[:, 0] / n)
    by_cell = least, row_shares * g * h - 2 * columns * a, a - row_shares * g + 0 * columns
    table = RowShares(value, rows, is_nonempty, by_cell, _correlation(sums), possible, displayed, displayed_rows)
    within, differences = estimate_rows(names, table, n, z)
    test = _independence(sums, left, right) if possible.all() else None
    return CrosstabEstimates(*names, n, cells, within, differences, test)


def _displayed_cells(sums: _Moments, left: _Scores, right: _Scores, possible: Mask) -> tuple[Floats, Floats]:
    """Return the displayed cells and rows: the nearest possible ones with the displayed margins of both questions.

    If answers do not exclude each other, each cell is clipped separately.
    """
    value, rows, columns = (part / sums.n for part in (sums.uv, sums.u, sums.v))
    if not (left.exclusive and right.exclusive):
        return np.where(possible, np.clip(value, 0, 1), 0), np.clip(rows, 0, 1)
    places = np.full(value.shape, -1)
    places[possible] = np.arange(possible.sum())
    margins = [line[line >= 0] for line in (*places, *places.T)]
    displayed = np.zeros(value.shape)
    displayed[possible] = project_to_margins(value[possible], margins, np.concatenate([rows, columns]))
    return displayed, displayed.sum(axis=1)


def _correlation(sums: _Moments) -> Floats:
    """Return the correlation of the share within each row with that within the first row, by the delta method.

    It is the correlation of uv − r u and u₀v − r₀ u₀, and is capped at zero. If everybody in a row gives the same
    answer, it is noise over noise, and an apparent value near 1 would shrink a difference to nearly a point.
    """
    rate = np.divide(sums.uv, sums.u[:, None], out=np.zeros_like(sums.uv), where=sums.u[:, None] > 0)
    variance = sums.u2v2 - 2 * rate * sums.u2v + rate**2 * np.diag(sums.uu)[:, None]
    covariance = sums.ruv2 - (rate + rate[0]) * sums.ruv + rate * rate[0] * sums.uu[:, :1]
    scale = np.sqrt(np.maximum(variance * variance[0], 0))
    correlation: Floats = np.clip(np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0), -1, 0)
    return correlation


def _independence(sums: _Moments, left: _Scores, right: _Scores) -> Test | None:
    n = sums.n
    if left.map.table is not None and right.map.table is not None:
        (base, d), (other_base, e) = left.map.table, right.map.table
        table = d * e * sums.uv + n * np.outer(base, other_base)
        table += d * np.outer(sums.u, other_base) + e * np.outer(base, sums.v)
        return hypotheses.pearson(np.rint(table))
    cross = sums.uv / n - np.outer(sums.u, sums.v) / n**2
    return hypotheses.quadratic(cross, *sums.summaries, n)
