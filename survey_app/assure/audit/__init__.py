"""A black-box audit: run a client many thousand times, and test its claims on the reports that it prints.

`audit` tries every field of a definition (`inputs`) with any client (`client_processes`).
It bounds the loss of privacy from below (`bounds`).
It checks that the bits follow the published integers (`checks`, `binomial_counts`).
It checks that nothing else reveals an answer (`checks`) and that noise is never reused (`repeats`).
With `time` it also checks whether the time of a report reveals an answer (`timing`).
A faithful client is refuted with probability ERROR at most, over all tests together.
"""

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from candor_client.definition import Field, Survey
from candor_client.errors import ClaimExceeded
from candor_client.mechanisms import round_up
from candor_client.verify import verify
from survey_app.assure.audit import client_processes
from survey_app.assure.audit.binomial_counts import Check
from survey_app.assure.audit.bounds import lower_bound, needed
from survey_app.assure.audit.checks import run_checks
from survey_app.assure.audit.inputs import Inputs, choose_inputs, rounds
from survey_app.assure.audit.report_reader import read
from survey_app.assure.audit.timing import TimedField, noise_in_time, timed_fields
from survey_app.tally import columns

ERROR = 0.05  # the largest probability that a faithful client is refuted
FOR_BOUNDS, FOR_CHECKS, FOR_TIME = 0.7 * ERROR, 0.2 * ERROR, 0.1 * ERROR
FEWEST, MOST = 2_000, 400_000  # reports for each of two sets of answers
OTHERS = 0.5  # of their number: reports for all other sets together
FEWEST_OTHERS = 200  # reports for each other set, at least
STARTS, BRIEF = 4, 1_000  # restarts of a third-party client, and reports of each restart
STEPS = 1_000  # of the progress bar
MOST_CELLS, LEAST = 400_000_000, 100  # for large definitions: bits of all reports together, and reports for each set
MOST_TIMED = 10_000  # reports for each set whose time is measured


@dataclass(frozen=True)
class AuditedField:
    """The privacy loss of a field: claimed, exact by its integers, and a lower bound from the reports."""

    questions: tuple[str, ...]
    claimed: float
    exact: float
    lower: float
    timed: TimedField | None = None

    @property
    def ok(self) -> bool:
        """Whether no lower bound exceeds the claim."""
        return self.lower <= self.claimed and (self.timed is None or self.timed.lower <= self.claimed)


@dataclass(frozen=True)
class Audit:
    """The result of an audit."""

    fields: tuple[AuditedField, ...]
    checks: tuple[Check, ...]
    reports: int
    trials: int = 0
    notes: tuple[str, ...] = ()  # about tests that could not be run

    @property
    def ok(self) -> bool:
        """Whether neither a field nor a check is refuted."""
        return all(part.ok for part in self.fields) and all(part.ok for part in self.checks)


def trials_needed(survey: Survey) -> int:
    """Return the number of reports for each of two sets of answers that brings every bound near its ε.

    The number stays within the limits of this module.
    """
    inputs = Inputs(survey, tuple(rounds(survey)), ())
    field_columns = list(columns(survey))
    error = FOR_BOUNDS / len(survey.fields)
    required = max(needed(survey, field_columns[index], inputs.symbols(index), error) for index in inputs.pairs)
    affordable = int(MOST_CELLS // ((1 + OTHERS) * len(inputs.answers) * survey.width))
    return max(min(max(required, FEWEST), MOST, affordable), LEAST)


def counts(given: Inputs, each: int) -> list[int]:
    """Return the number of reports for every set of answers.

    Each of the two sets of a round gets `trials` reports. All other sets together get a share of that total.
    """
    extra = int(min(each, max(OTHERS * each * 2 * len(given.rounds) / len(given.others), min(each, FEWEST_OTHERS))))
    return [each] * (2 * len(given.rounds)) + [extra] * len(given.others)


def audit(
    survey: Survey,
    arguments: Sequence[str],
    trials: int | None = None,
    *,
    ours: bool = False,
    time: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Audit:
    """Run a client on every set of answers and return the audit of its reports.

    `trials` is the number of reports for each of two sets of answers; by default it is computed.
    `progress` is called with parts of `STEPS`. Several copies of a `built_in` client run at once.
    A third-party client is started once. When it has ended, some short runs are started at the same moment.
    They reveal a generator that starts in the same state, or is seeded by the clock.
    Raise SubjectError if the client cannot be run.
    """
    inputs = choose_inputs(survey)
    trial_counts = counts(inputs, trials or trials_needed(survey))
    timed_counts = [min(count, MOST_TIMED) for count in trial_counts]
    report_progress = _scaled(
        progress, sum(trial_counts) + (0 if ours else STARTS * BRIEF) + (sum(timed_counts) if time else 0)
    )
    outputs = client_processes.run(
        arguments,
        survey,
        inputs.answers,
        _plans(trial_counts, client_processes.processes() if ours else 1),
        report_progress,
    )
    notes: list[str] = []
    if not ours:
        restart_plans = [_plans(trial_counts, 1)[0][:BRIEF] for _ in range(STARTS)]
        restart_outputs, errors = client_processes.attempt(
            arguments, survey, inputs.answers, restart_plans, report_progress
        )
        outputs += restart_outputs
        if not restart_outputs:
            notes.append(f"Whether it draws alike at every start is not known; at a second one {errors[0]}")
    timed_output = None
    if time:
        (plan,) = _plans(timed_counts, 1)
        timed_output = client_processes.timed(arguments, survey, inputs.answers, plan, report_progress)
    return replace(judged(inputs, outputs, timed_output), trials=trial_counts[0], notes=tuple(notes))


def judged(
    given: Inputs, printed: Sequence[client_processes.Printed], clocked: client_processes.Printed | None = None
) -> Audit:
    """Return the audit of the outputs of a client, and of its timed output if there is one."""
    survey = given.survey
    reports = read(survey, printed)
    by_input = [reports.bits[reports.inputs == number] for number in range(len(given.answers))]
    checks = [claim(survey), *run_checks(survey, given, reports, FOR_CHECKS)]
    timed: dict[int, TimedField] = {}
    if clocked:
        timed_reports = read(survey, [clocked])
        timed = timed_fields(survey, given, timed_reports, FOR_TIME / 2)
        chance, description = noise_in_time(survey, given, timed_reports)
        ok = chance >= FOR_TIME / 2
        checks.append(Check("time does not tell the noise", ok, chance, "" if ok else description))
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
    """Return the audit of a client that gave no reports; the definition may be refuted without it."""
    fields = tuple(_audited(survey, field, 0.0) for field in survey.fields)
    return Audit(fields, (claim(survey),), 0, notes=(f"No report was seen: {why}",))


def _audited(survey: Survey, field: Field, lower: float, timed: TimedField | None = None) -> AuditedField:
    """Return the audit of a field.

    The claim is its ε rounded up to twelve decimals, and at most that of the whole survey.
    """
    exact = field.mechanism.epsilon
    claimed = float(min(round_up(exact), survey.epsilon))
    return AuditedField(tuple(question.id for question in field.questions), claimed, float(exact), lower, timed)


def _scaled(progress: Callable[[int], None], length: int) -> Callable[[int], None]:
    """Return a function that takes numbers of reports, out of `length`, and calls `progress` with parts of `STEPS`."""
    finished = reported = 0

    def advance(number: int) -> None:
        nonlocal finished, reported
        finished += number
        if (steps := STEPS * finished // length) > reported:
            progress(steps - reported)
            reported = steps

    return advance


def claim(survey: Survey) -> Check:
    """Check that the definition claims no less than its integers spend, and return the result."""
    try:
        verify(survey)
    except ClaimExceeded as error:
        return Check("the definition claims what its integers spend", False, 0.0, str(error))
    return Check("the definition claims what its integers spend", True, 1.0)


def _plans(each: Sequence[int], processes: int) -> list[list[int]]:
    """Return the numbers of the inputs for each process, in an unpredictable order."""
    order = np.repeat(np.arange(len(each)), each)
    np.random.default_rng(secrets.randbits(128)).shuffle(order)
    size = math.ceil(len(order) / processes)
    return [plan for start in range(0, len(order), size) if (plan := order[start : start + size].tolist())]
