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
from survey_app.assure.audit.binomial_counts import Check, CheckCode
from survey_app.assure.audit.bounds import lower_bound, min_reports
from survey_app.assure.audit.checks import run_checks
from survey_app.assure.audit.inputs import Inputs, choose_inputs, plan_rounds
from survey_app.assure.audit.report_reader import read_reports
from survey_app.assure.audit.timing import TimedField, noise_in_time, timed_fields
from survey_app.tally import columns

ERROR = 0.05  # the largest probability that a faithful client is refuted
FOR_BOUNDS, FOR_CHECKS, FOR_TIME = 0.7 * ERROR, 0.2 * ERROR, 0.1 * ERROR
MIN_TRIALS, MAX_TRIALS = 2_000, 400_000  # reports for each of two sets of answers
EXTRA_SHARE = 0.5  # of their number: reports for all other sets together
MIN_EXTRA_TRIALS = 200  # reports for each other set, at least
STARTS, BRIEF = 4, 1_000  # restarts of a third-party client, and reports of each restart
STEPS = 1_000  # of the progress bar
MOST_CELLS, MIN_TRIALS_IF_LARGE = (
    400_000_000,
    100,
)  # for large definitions: bits of all reports together, and reports for each set
MAX_TIMED_TRIALS = 10_000  # reports for each set whose time is measured


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
    inputs = Inputs(survey, tuple(plan_rounds(survey)), ())
    field_columns = list(columns(survey))
    error = FOR_BOUNDS / len(survey.fields)
    required = max(min_reports(survey, field_columns[index], inputs.symbols(index), error) for index in inputs.pairs)
    affordable = int(MOST_CELLS // ((1 + EXTRA_SHARE) * len(inputs.answers) * survey.width))
    return max(min(max(required, MIN_TRIALS), MAX_TRIALS, affordable), MIN_TRIALS_IF_LARGE)


def allocate_trials(inputs: Inputs, trials: int) -> list[int]:
    """Return the number of reports for every set of answers.

    Each of the two sets of a round gets `trials` reports. All other sets together get a share of that total.
    """
    extra = int(
        min(
            trials,
            max(EXTRA_SHARE * trials * 2 * len(inputs.rounds) / len(inputs.extra), min(trials, MIN_EXTRA_TRIALS)),
        )
    )
    return [trials] * (2 * len(inputs.rounds)) + [extra] * len(inputs.extra)


def audit(
    survey: Survey,
    arguments: Sequence[str],
    trials: int | None = None,
    *,
    built_in: bool = False,
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
    trial_counts = allocate_trials(inputs, trials or trials_needed(survey))
    timed_counts = [min(count, MAX_TIMED_TRIALS) for count in trial_counts]
    report_progress = _scale_progress(
        progress, sum(trial_counts) + (0 if built_in else STARTS * BRIEF) + (sum(timed_counts) if time else 0)
    )
    outputs = client_processes.run_clients(
        arguments,
        survey,
        inputs.answers,
        _shuffle_plans(trial_counts, client_processes.process_count() if built_in else 1),
        report_progress,
    )
    notes: list[str] = []
    if not built_in:
        restart_plans = [_shuffle_plans(trial_counts, 1)[0][:BRIEF] for _ in range(STARTS)]
        restart_outputs, errors = client_processes.run_surviving_clients(
            arguments, survey, inputs.answers, restart_plans, report_progress
        )
        outputs += restart_outputs
        if not restart_outputs:
            notes.append(f"Not tested: whether a restart repeats the noise. At the second start, {errors[0]}.")
    timed_output = None
    if time:
        (plan,) = _shuffle_plans(timed_counts, 1)
        timed_output = client_processes.run_timed(arguments, survey, inputs.answers, plan, report_progress)
    return replace(audit_outputs(inputs, outputs, timed_output), trials=trial_counts[0], notes=tuple(notes))


def audit_outputs(
    inputs: Inputs,
    outputs: Sequence[client_processes.ClientOutput],
    timed_output: client_processes.ClientOutput | None = None,
) -> Audit:
    """Return the audit of the outputs of a client, and of its timed output if there is one."""
    survey = inputs.survey
    reports = read_reports(survey, outputs)
    by_input = [reports.bits[reports.inputs == number] for number in range(len(inputs.answers))]
    checks = [check_claim(survey), *run_checks(survey, inputs, reports, FOR_CHECKS)]
    timed: dict[int, TimedField] = {}
    if timed_output:
        timed_reports = read_reports(survey, [timed_output])
        timed = timed_fields(survey, inputs, timed_reports, FOR_TIME / 2)
        chance, description = noise_in_time(survey, inputs, timed_reports)
        ok = chance >= FOR_TIME / 2
        checks.append(Check(CheckCode.NOISE_IN_TIME, ok, chance, "" if ok else description))
    fields = tuple(
        _audit_field(
            survey,
            at.field,
            lower_bound(inputs, index, at, by_input, FOR_BOUNDS / len(survey.fields)),
            timed.get(index),
        )
        for index, at in enumerate(columns(survey))
    )
    return Audit(fields, tuple(checks), len(reports.inputs))


def audit_without_reports(survey: Survey, why: str) -> Audit:
    """Return the audit of a client that gave no reports; the definition may be refuted without it."""
    fields = tuple(_audit_field(survey, field, 0.0) for field in survey.fields)
    return Audit(fields, (check_claim(survey),), 0, notes=(f"No report was received: {why}",))


def _audit_field(survey: Survey, field: Field, lower: float, timed: TimedField | None = None) -> AuditedField:
    """Return the audit of a field.

    The claim is its ε rounded up to twelve decimals, and at most that of the whole survey.
    """
    exact = field.mechanism.epsilon
    claimed = float(min(round_up(exact), survey.epsilon))
    return AuditedField(tuple(question.id for question in field.questions), claimed, float(exact), lower, timed)


def _scale_progress(progress: Callable[[int], None], length: int) -> Callable[[int], None]:
    """Return a function that takes numbers of reports, out of `length`, and calls `progress` with parts of `STEPS`."""
    finished = reported = 0

    def advance(number: int) -> None:
        nonlocal finished, reported
        finished += number
        if (steps := STEPS * finished // length) > reported:
            progress(steps - reported)
            reported = steps

    return advance


def check_claim(survey: Survey) -> Check:
    """Check that the definition claims no less than its integers spend, and return the result."""
    try:
        verify(survey)
    except ClaimExceeded as error:
        return Check(CheckCode.CLAIM, False, 0.0, str(error))
    return Check(CheckCode.CLAIM, True, 1.0)


def _shuffle_plans(trial_counts: Sequence[int], processes: int) -> list[list[int]]:
    """Return the numbers of the inputs for each process, in an unpredictable order."""
    order = np.repeat(np.arange(len(trial_counts)), trial_counts)
    np.random.default_rng(secrets.randbits(128)).shuffle(order)
    size = math.ceil(len(order) / processes)
    return [plan for start in range(0, len(order), size) if (plan := order[start : start + size].tolist())]
