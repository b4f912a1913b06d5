"""Whether the time that a report takes tells an answer, or the noise that is to hide it.

One report after the other is asked of one process, so that the time between question and report is its own. Two
things are looked at. *Noise*: of reports to the same answers, those that say what is true and those that do not must
take equally long; the test is exact, and sees millionths of a second. *Answers*: bits and time together must lose no
more than ε. Reading a longer answer takes a little longer and is no fault, so times are told apart where they differ by
a tenth of a millisecond, and by as much as a report usually takes. How well time alone tells the answer, and what was
sent, is given beside it: ½ is guessing.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import hypergeom, rankdata

from client.definition import Survey
from survey_app.assure.audit.bounds import Compared, seen_loss, telling
from survey_app.assure.audit.inputs import Inputs
from survey_app.assure.audit.reading import Reports
from survey_app.assure.mixtures import truthful_reports
from survey_app.channels import channel_of
from survey_app.channels.base import Hits, Indices
from survey_app.figures import Floats
from survey_app.tally import Columns, columns

PARTS = 4  # of the reports to one set of answers, by their time
LEAST = 0.0001  # seconds that are told apart
CALIBRATION = 0.1  # of the reports: they say how long one usually takes, and are then left out

Divided = tuple[list[Hits], Indices, Hits]  # outcomes, bins, and which of the reports are of the second answer


@dataclass(frozen=True)
class TimedField:
    """A field: what bits and time were seen to lose, and how well time alone tells the answer, and what was sent."""

    lower: float
    answer: float
    sent: float


def timed_fields(survey: Survey, given: Inputs, reports: Reports, error: float) -> dict[int, TimedField]:
    """For every field, from reports whose time was taken; `error` is for all of them together."""
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
    """How unlikely the oddest agreement of time and noise is, among reports to the same answers; and what it is.

    Whatever the times are, an honest client's coins are dealt over them: of the reports in each part by time, the
    number that say what is true is hypergeometric.
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
    """Every answer to a field against all others together: whether it was named, and when."""
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
    """How often time tells two reports of different kind apart, whichever way it leans (the area under the curve)."""
    n, others = int(which.sum()), int((~which).sum())
    if not n or not others:
        return 0.5
    above = (float(rankdata(seconds)[which].sum()) - n * (n + 1) / 2) / (n * others)
    return max(above, 1 - above)
