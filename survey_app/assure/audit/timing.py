"""Whether the time that a report takes tells what its bits keep: bounds of ε for bits and time together.

One report after the other is asked of one process, so that the time between question and report is its own. Times fall
into four bins, whose borders are taken from reports that are then left out. If time tells nothing, bits and bin
together lose no more than ε; if coins can be read off the clock, they lose far more. How well time alone tells the
answer, and what was sent, is given beside it: ½ is guessing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from client.definition import Survey
from survey_app.assure.audit.bounds import Compared, Hits, seen_loss, telling
from survey_app.assure.audit.inputs import Round
from survey_app.assure.audit.reading import Reports
from survey_app.channel import Floats
from survey_app.tally import columns

BINS = 4
CALIBRATION = 0.1  # of the reports: they set the borders


@dataclass(frozen=True)
class TimedField:
    """A field: what bits and time were seen to lose, and how well time alone tells the answer, and what was sent."""

    lower: float
    answer: float
    sent: float


def timed_fields(survey: Survey, rounds: Sequence[Round], reports: Reports, error: float) -> dict[int, TimedField]:
    """For every field, from reports whose time was taken; `error` is for all of them together."""
    first = int(len(reports.seconds) * CALIBRATION)
    borders = np.quantile(reports.seconds[:first], np.arange(1, BINS) / BINS) if first else np.zeros(0)
    used = np.arange(len(reports.seconds)) >= first
    found: dict[int, TimedField] = {}
    all_at = list(columns(survey))
    for number, turn in enumerate(rounds):
        for index, symbols in turn.symbols.items():
            at = all_at[index]
            mine = used & (reports.inputs // 2 == number)
            if at.asked is not None:
                mine &= reports.bits[:, at.asked] == 1
            second = reports.inputs[mine] % 2 == 1
            explained = telling(at, symbols, reports.bits[mine])
            bins = np.searchsorted(borders, reports.seconds[mine])
            found[index] = TimedField(
                _lower(explained, bins, second, error / len(survey.fields)),
                guessed(reports.seconds[mine], second),
                guessed(reports.seconds[mine], explained[1]),
            )
    return found


def _lower(explained: tuple[Hits, Hits], bins: np.ndarray, second: Hits, error: float) -> float:
    n, n_other = int((~second).sum()), int(second.sum())
    if not n or not n_other:
        return 0.0
    outcomes = [explained[0], explained[1], ~explained[0] & ~explained[1]]
    events = [one & (bins == place) for one in outcomes for place in range(BINS)]
    return max(
        seen_loss(Compared(int((one & ~second).sum()), n, int((one & second).sum()), n_other), error / len(events))
        for one in events
    )


def guessed(seconds: Floats, which: Hits) -> float:
    """How often time tells two reports of different kind apart, whichever way it leans (the area under the curve)."""
    n, others = int(which.sum()), int((~which).sum())
    if not n or not others:
        return 0.5
    above = (float(rankdata(seconds)[which].sum()) - n * (n + 1) / 2) / (n * others)
    return max(above, 1 - above)
