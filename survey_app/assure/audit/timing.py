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
from survey_app.assure.audit.bounds import Compared, seen_loss, telling
from survey_app.assure.audit.inputs import Inputs
from survey_app.assure.audit.report_reader import Reports
from survey_app.channels import channel_of
from survey_app.channels.channel import Hits, Indices
from survey_app.figures import Floats
from survey_app.tally import Columns, columns

PARTS = 4  # groups of equal size, by time, of the reports to one set of answers
LEAST = 0.0001  # the smallest difference, in seconds, that counts
CALIBRATION = 0.1  # the share of reports that determine the usual time; they are not tested

Divided = tuple[list[Hits], Indices, Hits]  # outcomes, time bins, and which reports belong to the second answer


@dataclass(frozen=True)
class TimedField:
    """A lower bound of a field's loss by bits and time, and how well time alone predicts the answer and the bits."""

    lower: float
    answer: float
    sent: float


def timed_fields(survey: Survey, given: Inputs, reports: Reports, error: float) -> dict[int, TimedField]:
    """Return the result for every field, from timed reports; `error` is for all fields together."""
    first = int(len(reports.seconds) * CALIBRATION)
    usual = float(np.median(reports.seconds[:first])) if first else LEAST
    apart = max(LEAST, usual)
    bins = np.searchsorted([usual / 2, usual + apart, usual + 3 * apart], reports.seconds)
    found: dict[int, TimedField] = {}
    part = error / (2 * len(survey.fields))
    for index, at in enumerate(columns(survey)):
        used = (np.arange(len(reports.seconds)) >= first) & _asked(at, reports)
        mine = used & np.isin(reports.inputs, given.pairs[index])
        second = reports.inputs[mine] == given.pairs[index][1]
        explained = telling(channel_of(at.field.mechanism), given.symbols(index), reports.bits[mine, at.part])
        outcomes = [*explained, ~explained[0] & ~explained[1]]
        found[index] = TimedField(
            max(
                _lower([(outcomes, bins[mine], second)], part),
                _lower(_against_rest(given, index, at, reports, used, bins), part),
            ),
            guessed(reports.seconds[mine], second),
            guessed(reports.seconds[mine], explained[1]),
        )
    return found


def noise_in_time(survey: Survey, given: Inputs, reports: Reports) -> tuple[float, str]:
    """Return the p-value of the strongest association of time and noise, and its description.

    Only reports to the same answers are compared. For any times, the noise of an honest client is independent of them.
    So the number of true reports in each group by time is hypergeometric.
    """
    worst, told, tested = 1.0, "", 0
    for number, mixtures in enumerate(given.mixtures):
        for at, mixture in zip(columns(survey), mixtures, strict=True):
            rows = (reports.inputs == number) & _asked(at, reports)
            said, _ = truthful_reports(channel_of(at.field.mechanism), reports.bits[rows, at.part], mixture)
            part = (PARTS * (rankdata(reports.seconds[rows], "ordinal") - 1)) // max(len(said), 1)
            for place in range(PARTS):
                inside = part == place
                tested += 1
                hits, law = int(said[inside].sum()), hypergeom(len(said), int(said.sum()), int(inside.sum()))
                chance = 2 * float(min(law.cdf(hits), law.sf(hits - 1)))
                if chance < worst:
                    names = " + ".join(question.id for question in at.field.questions)
                    worst, told = chance, f"{names}: {hits} of {inside.sum()}, where {law.mean():.0f} were expected"
    return min(1.0, worst * max(tested, 1)), told


def _asked(at: Columns, reports: Reports) -> Hits:
    return np.ones(len(reports.inputs), dtype=bool) if at.asked is None else reports.bits[:, at.asked] == 1


def _against_rest(given: Inputs, index: int, at: Columns, reports: Reports, used: Hits, bins: Indices) -> list[Divided]:
    """Return the reports to a field split by answer, each answer against all others: whether it was named, and when."""
    each = [mixtures[index] for mixtures in given.mixtures]
    found: list[Divided] = []
    for mixture in dict.fromkeys(each):
        mine = np.isin(reports.inputs[used], [place for place, one in enumerate(each) if one == mixture])
        said, _ = truthful_reports(channel_of(at.field.mechanism), reports.bits[used, at.part], mixture)
        found.append(([said, ~said], bins[used], mine))
    return found


def _lower(divided: list[Divided], error: float) -> float:
    compared = []
    for outcomes, bins, second in divided:
        n, n_other = float((~second).sum()), float(second.sum())
        events = [one & (bins == place) for one in outcomes for place in range(PARTS)] if n and n_other else []
        compared += [(float((one & ~second).sum()), n, float((one & second).sum()), n_other) for one in events]
    return seen_loss(Compared(*np.array(compared).T), error) if compared else 0.0


def guessed(seconds: Floats, which: Hits) -> float:
    """Return how often time separates two reports of different kinds, in either direction (area under the curve)."""
    n, others = int(which.sum()), int((~which).sum())
    if not n or not others:
        return 0.5
    above = (float(rankdata(seconds)[which].sum()) - n * (n + 1) / 2) / (n * others)
    return max(above, 1 - above)
