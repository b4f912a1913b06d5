"""A black-box audit: run a client many thousand times, and let what comes out speak for or against its claims.

`audit` tries every field of a definition (`inputs`), with any client (`subjects`), bounds from below how much privacy
was lost (`bounds`), checks that nothing else gives an answer away (`checks`), and with `time` whether the moment does
(`timing`). A faithful client is called unfaithful with probability ERROR at the most, over everything together.
"""

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from client.definition import Survey
from client.mechanism import round_up
from survey_app.assure.audit import subjects
from survey_app.assure.audit.bounds import lower_bound, needed
from survey_app.assure.audit.checks import Check, run_checks
from survey_app.assure.audit.inputs import Answers, Round, rounds
from survey_app.assure.audit.reading import read
from survey_app.assure.audit.timing import TimedField, timed_fields
from survey_app.tally import columns

ERROR = 0.05  # how often a faithful client is called unfaithful, at the most
FOR_BOUNDS, FOR_CHECKS, FOR_TIME = 0.7 * ERROR, 0.2 * ERROR, 0.1 * ERROR
FEWEST, MOST = 2_000, 400_000  # reports for each set of answers
MOST_CELLS, LEAST = 400_000_000, 100  # bits of all reports together, for large definitions
MOST_TIMED = 10_000  # of which the time is taken, one by one


@dataclass(frozen=True)
class AuditedField:
    """A field: what it claims to lose, what its integers lose exactly, and what it was seen to lose at least."""

    questions: tuple[str, ...]
    claimed: float
    exact: float
    lower: float
    timed: TimedField | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing refutes the claim."""
        return self.lower <= self.claimed and (self.timed is None or self.timed.lower <= self.claimed)


@dataclass(frozen=True)
class Audit:
    """What an audit found."""

    fields: tuple[AuditedField, ...]
    checks: tuple[Check, ...]
    reports: int
    trials: int

    @property
    def ok(self) -> bool:
        """Whether no claim is refuted."""
        return all(one.ok for one in self.fields) and all(one.ok for one in self.checks)


def trials_needed(survey: Survey) -> int:
    """So many reports for each set of answers that every bound comes near its ε, if that is not too many."""
    tried = [(index, symbols) for one in rounds(survey) for index, symbols in one.symbols.items()]
    all_at = list(columns(survey))
    wanted = max(needed(survey, all_at[index], symbols, FOR_BOUNDS / len(tried)) for index, symbols in tried)
    room = MOST_CELLS // (2 * len(rounds(survey)) * survey.width)
    return max(min(max(wanted, FEWEST), MOST, room), LEAST)


def audit(
    survey: Survey,
    arguments: Sequence[str],
    trials: int | None = None,
    *,
    time: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Audit:
    """Run a client `trials` times for every set of answers; `progress` is told of reports (see `planned`)."""
    turns = rounds(survey)
    answers = all_answers(turns)
    each = trials or trials_needed(survey)
    plans = shuffled_plans(len(answers), each, subjects.processes())
    reports = read(survey, subjects.run(arguments, survey, answers, plans, progress))
    found: dict[int, float] = {}
    all_at = list(columns(survey))
    for number, turn in enumerate(turns):
        pair = reports.bits[reports.inputs == 2 * number], reports.bits[reports.inputs == 2 * number + 1]
        for index, symbols in turn.symbols.items():
            found[index] = lower_bound(all_at[index], symbols, pair, FOR_BOUNDS / len(survey.fields))
    timed: dict[int, TimedField] = {}
    if time:
        (plan,) = shuffled_plans(len(answers), min(each, MOST_TIMED), 1)
        once = subjects.timed(arguments, survey, answers, plan, progress)
        timed = timed_fields(survey, turns, read(survey, [once]), FOR_TIME)
    fields = tuple(
        AuditedField(
            tuple(question.id for question in field.questions),
            float(_claimed(field.mechanism.epsilon)),
            float(field.mechanism.epsilon),
            found[index],
            timed.get(index),
        )
        for index, field in enumerate(survey.fields)
    )
    return Audit(fields, tuple(run_checks(survey, turns, reports, FOR_CHECKS)), len(reports.inputs), each)


def planned(survey: Survey, trials: int | None, *, time: bool) -> int:
    """How many reports an audit will ask for."""
    each = trials or trials_needed(survey)
    return 2 * len(rounds(survey)) * (each + (min(each, MOST_TIMED) if time else 0))


def _claimed(epsilon: Decimal) -> Decimal:
    """What pages and definitions say of it: rounded up to twelve decimals."""
    return round_up(epsilon)


def all_answers(turns: Sequence[Round]) -> list[Answers]:
    """The two sets of answers of each round, one after the other."""
    return [answers for turn in turns for answers in turn.answers]


def shuffled_plans(inputs: int, each: int, processes: int) -> list[list[int]]:
    """For each process the inputs that it is given, in an order that nobody can foresee."""
    order = np.repeat(np.arange(inputs), each)
    np.random.default_rng(secrets.randbits(128)).shuffle(order)
    size = math.ceil(len(order) / processes)
    return [part for start in range(0, len(order), size) if (part := order[start : start + size].tolist())]
