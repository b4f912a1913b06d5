"""A black-box audit: run a client many thousand times, and let what comes out speak for or against its claims.

`audit` tries every field of a definition (`inputs`), with any client (`subjects`), bounds from below how much privacy
was lost (`bounds`), checks that what came out is what the integers say (`checks`, `counting`), that nothing else gives
an answer away (`checks`) and that noise is never used again (`repeats`), and with `time` whether the moment does
(`timing`). A faithful client is called unfaithful with probability ERROR at the most, over everything together.
"""

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from client.definition import Field, Survey
from client.errors import ClaimExceeded
from client.mechanisms import round_up
from client.verify import verify
from survey_app.assure.audit import subjects
from survey_app.assure.audit.bounds import lower_bound, needed
from survey_app.assure.audit.checks import run_checks
from survey_app.assure.audit.counting import Check
from survey_app.assure.audit.inputs import Inputs, choose_inputs, rounds
from survey_app.assure.audit.reading import read
from survey_app.assure.audit.timing import TimedField, noise_in_time, timed_fields
from survey_app.tally import columns

ERROR = 0.05  # how often a faithful client is called unfaithful, at the most
FOR_BOUNDS, FOR_CHECKS, FOR_TIME = 0.7 * ERROR, 0.2 * ERROR, 0.1 * ERROR
FEWEST, MOST = 2_000, 400_000  # reports for each of two sets of answers
OTHERS = 0.5  # of their number for all other sets together,
FEWEST_OTHERS = 200  # but at least so many for each
STARTS, BRIEF = 4, 1_000  # how often a stranger's client is started again, and for how many reports
STEPS = 1_000  # of progress
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
    trials: int = 0
    notes: tuple[str, ...] = ()  # what could not be looked at

    @property
    def ok(self) -> bool:
        """Whether no claim is refuted."""
        return all(one.ok for one in self.fields) and all(one.ok for one in self.checks)


def trials_needed(survey: Survey) -> int:
    """So many reports for each of two sets of answers that every bound comes near its ε, if that is not too many."""
    given = Inputs(survey, tuple(rounds(survey)), ())
    all_at = list(columns(survey))
    error = FOR_BOUNDS / len(survey.fields)
    wanted = max(needed(survey, all_at[index], given.symbols(index), error) for index in given.pairs)
    room = int(MOST_CELLS // ((1 + OTHERS) * len(given.answers) * survey.width))
    return max(min(max(wanted, FEWEST), MOST, room), LEAST)


def counts(given: Inputs, each: int) -> list[int]:
    """How many reports for every set of answers: the others together get a part of what the two of each round get."""
    rest = int(min(each, max(OTHERS * each * 2 * len(given.rounds) / len(given.others), min(each, FEWEST_OTHERS))))
    return [each] * (2 * len(given.rounds)) + [rest] * len(given.others)


def audit(
    survey: Survey,
    arguments: Sequence[str],
    trials: int | None = None,
    *,
    ours: bool = False,
    time: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Audit:
    """Run a client so often for every set of answers; `progress` is told of parts of `STEPS`.

    One of `ours` bears several copies at once. A stranger's is started once, and when it has ended some more times,
    briefly and at the same moment: a generator that begins alike, or by the clock, betrays itself.
    """
    given = choose_inputs(survey)
    each = counts(given, trials or trials_needed(survey))
    short = [min(one, MOST_TIMED) for one in each]
    told = _scaled(progress, sum(each) + (0 if ours else STARTS * BRIEF) + (sum(short) if time else 0))
    printed = subjects.run(arguments, survey, given.answers, _plans(each, subjects.processes() if ours else 1), told)
    notes: list[str] = []
    if not ours:
        brief = [_plans(each, 1)[0][:BRIEF] for _ in range(STARTS)]
        more, errors = subjects.attempt(arguments, survey, given.answers, brief, told)
        printed += more
        if not more:
            notes.append(f"Whether it draws alike at every start is not known; at a second one {errors[0]}")
    clocked = None
    if time:
        (plan,) = _plans(short, 1)
        clocked = subjects.timed(arguments, survey, given.answers, plan, told)
    return replace(judged(given, printed, clocked), trials=each[0], notes=tuple(notes))


def judged(given: Inputs, printed: Sequence[subjects.Printed], clocked: subjects.Printed | None = None) -> Audit:
    """What came out, and what came out one by one with its time, against the claims."""
    survey = given.survey
    reports = read(survey, printed)
    by_input = [reports.bits[reports.inputs == number] for number in range(len(given.answers))]
    checks = [claim(survey), *run_checks(survey, given, reports, FOR_CHECKS)]
    timed: dict[int, TimedField] = {}
    if clocked:
        one_by_one = read(survey, [clocked])
        timed = timed_fields(survey, given, one_by_one, FOR_TIME / 2)
        chance, what = noise_in_time(survey, given, one_by_one)
        ok = chance >= FOR_TIME / 2
        checks.append(Check("time does not tell the noise", ok, chance, "" if ok else what))
    fields = tuple(
        _audited(
            survey,
            at.field,
            lower_bound(given, index, at, by_input, FOR_BOUNDS / len(survey.fields)),
            timed.get(index),
        )
        for index, at in enumerate(columns(survey))
    )
    return Audit(fields, tuple(checks), len(reports.inputs))


def unheard(survey: Survey, why: str) -> Audit:
    """Of a client that gave no reports, to a definition that may be refuted without it."""
    fields = tuple(_audited(survey, field, 0.0) for field in survey.fields)
    return Audit(fields, (claim(survey),), 0, notes=(f"No report was seen: {why}",))


def _audited(survey: Survey, field: Field, lower: float, timed: TimedField | None = None) -> AuditedField:
    """What is claimed of a field is its ε rounded up to twelve decimals, and no more than of the whole survey."""
    exact = field.mechanism.epsilon
    claimed = float(min(round_up(exact), survey.epsilon))
    return AuditedField(tuple(question.id for question in field.questions), claimed, float(exact), lower, timed)


def _scaled(progress: Callable[[int], None], length: int) -> Callable[[int], None]:
    """Reports, told as parts of STEPS."""
    done = told = 0

    def tell(number: int) -> None:
        nonlocal done, told
        done += number
        if (now := STEPS * done // length) > told:
            progress(now - told)
            told = now

    return tell


def claim(survey: Survey) -> Check:
    """Whether the definition itself claims no less than its integers spend."""
    try:
        verify(survey)
    except ClaimExceeded as error:
        return Check("the definition claims what its integers spend", False, 0.0, str(error))
    return Check("the definition claims what its integers spend", True, 1.0)


def _plans(each: Sequence[int], processes: int) -> list[list[int]]:
    """For each process the inputs that it is given, in an order that nobody can foresee."""
    order = np.repeat(np.arange(len(each)), each)
    np.random.default_rng(secrets.randbits(128)).shuffle(order)
    size = math.ceil(len(order) / processes)
    return [part for start in range(0, len(order), size) if (part := order[start : start + size].tolist())]
