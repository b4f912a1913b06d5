"""Tests of whether the time of a report reveals an answer, or the noise that hides it.

Reports are requested from one process one at a time, so each time belongs to one report.
There are two tests.
*Noise*: among reports to the same answers, true and untrue reports must take equally long.
This test is exact, and detects differences of a microsecond.
*Answers*: bits and time together must lose at most ε.
Reading a longer answer takes slightly longer, and is no fault.
So times count as different if they differ by a tenth of a millisecond and by the usual time of a report.
The result also states how well time alone predicts the answer and the bits sent: ½ is guessing.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import hypergeom, rankdata

from candor_client.definition import Survey
from survey_app.assure.answer_mixtures import truthful_reports
from survey_app.assure.audit.bounds import EventCounts, distinguishing_reports, observed_loss
from survey_app.assure.audit.inputs import Inputs
from survey_app.assure.audit.report_reader import Reports
from survey_app.channels import channel_of
from survey_app.channels.channel import Hits, Indices
from survey_app.figures import Floats
from survey_app.tally import Columns, columns

TIME_GROUPS = 4  # groups of equal size, by time, of the reports to one set of answers
MIN_DIFFERENCE = 0.0001  # the smallest difference, in seconds, that counts
CALIBRATION = 0.1  # the share of reports that determine the usual time; they are not tested

OutcomeSplit = tuple[list[Hits], Indices, Hits]  # outcomes, time bins, and which reports belong to the second answer


@dataclass(frozen=True)
class TimedField:
    """A lower bound of a field's loss by bits and time, and how well time alone predicts the answer and the bits."""

    lower: float
    answer: float
    sent: float


def timed_fields(survey: Survey, inputs: Inputs, reports: Reports, error: float) -> dict[int, TimedField]:
    """Return the result for every field, from timed reports; `error` is for all fields together."""
    first = int(len(reports.seconds) * CALIBRATION)
    usual_time = float(np.median(reports.seconds[:first])) if first else MIN_DIFFERENCE
    margin = max(MIN_DIFFERENCE, usual_time)
    bins = np.searchsorted([usual_time / 2, usual_time + margin, usual_time + 3 * margin], reports.seconds)
    results: dict[int, TimedField] = {}
    part = error / (2 * len(survey.fields))
    for index, at in enumerate(columns(survey)):
        is_used = (np.arange(len(reports.seconds)) >= first) & _is_field_asked(at, reports)
        is_pair = is_used & np.isin(reports.inputs, inputs.pairs[index])
        second = reports.inputs[is_pair] == inputs.pairs[index][1]
        explains = distinguishing_reports(
            channel_of(at.field.mechanism), inputs.symbols(index), reports.bits[is_pair, at.bit_slice]
        )
        outcomes = [*explains, ~explains[0] & ~explains[1]]
        results[index] = TimedField(
            max(
                _lower_bound([(outcomes, bins[is_pair], second)], part),
                _lower_bound(_split_by_answer(inputs, index, at, reports, is_used, bins), part),
            ),
            time_separation(reports.seconds[is_pair], second),
            time_separation(reports.seconds[is_pair], explains[1]),
        )
    return results


def noise_in_time(survey: Survey, inputs: Inputs, reports: Reports) -> tuple[float, str]:
    """Return the p-value of the strongest association of time and noise, and its description.

    Only reports to the same answers are compared. For any times, the noise of an honest client is independent of them.
    So the number of true reports in each group by time is hypergeometric.
    """
    worst, detail, count = 1.0, "", 0
    for number, mixtures in enumerate(inputs.mixtures):
        for at, mixture in zip(columns(survey), mixtures, strict=True):
            rows = (reports.inputs == number) & _is_field_asked(at, reports)
            is_true, _ = truthful_reports(channel_of(at.field.mechanism), reports.bits[rows, at.bit_slice], mixture)
            group = (TIME_GROUPS * (rankdata(reports.seconds[rows], "ordinal") - 1)) // max(len(is_true), 1)
            for place in range(TIME_GROUPS):
                in_group = group == place
                count += 1
                hits, distribution = (
                    int(is_true[in_group].sum()),
                    hypergeom(len(is_true), int(is_true.sum()), int(in_group.sum())),
                )
                chance = 2 * float(min(distribution.cdf(hits), distribution.sf(hits - 1)))
                if chance < worst:
                    names = " + ".join(question.id for question in at.field.questions)
                    worst, detail = (
                        chance,
                        f"{names}: {hits} of {in_group.sum()}, expected {distribution.mean():.0f}",
                    )
    return min(1.0, worst * max(count, 1)), detail


def _is_field_asked(at: Columns, reports: Reports) -> Hits:
    return (
        np.ones(len(reports.inputs), dtype=bool) if at.asked_column is None else reports.bits[:, at.asked_column] == 1
    )


def _split_by_answer(
    inputs: Inputs, index: int, at: Columns, reports: Reports, is_used: Hits, bins: Indices
) -> list[OutcomeSplit]:
    """Return the reports to a field split by answer, each answer against all others: whether it was named, and when."""
    field_mixtures = [mixtures[index] for mixtures in inputs.mixtures]
    result: list[OutcomeSplit] = []
    for mixture in dict.fromkeys(field_mixtures):
        is_answer = np.isin(
            reports.inputs[is_used], [place for place, other in enumerate(field_mixtures) if other == mixture]
        )
        is_true, _ = truthful_reports(channel_of(at.field.mechanism), reports.bits[is_used, at.bit_slice], mixture)
        result.append(([is_true, ~is_true], bins[is_used], is_answer))
    return result


def _lower_bound(divided: list[OutcomeSplit], error: float) -> float:
    rows = []
    for outcomes, bins, second in divided:
        n, n_other = float((~second).sum()), float(second.sum())
        events = (
            [event & (bins == place) for event in outcomes for place in range(TIME_GROUPS)] if n and n_other else []
        )
        rows += [(float((event & ~second).sum()), n, float((event & second).sum()), n_other) for event in events]
    return observed_loss(EventCounts(*np.array(rows).T), error) if rows else 0.0


def time_separation(seconds: Floats, is_first_kind: Hits) -> float:
    """Return how often time separates two reports of different kinds, in either direction (area under the curve)."""
    n, n_other = int(is_first_kind.sum()), int((~is_first_kind).sum())
    if not n or not n_other:
        return 0.5
    share = (float(rankdata(seconds)[is_first_kind].sum()) - n * (n + 1) / 2) / (n * n_other)
    return max(share, 1 - share)
