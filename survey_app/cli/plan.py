"""The `plan` command: the respondents that a margin takes, and the margins of a survey before its launch."""

import json
import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click
import msgspec

from candor_client.types import TypeName
from survey_app.authoring.ask import Ask
from survey_app.authoring.yaml_source import AuthoringError
from survey_app.cli.common import FILE, format_faults
from survey_app.cli.terminal import format_examples, show_status
from survey_app.kinds.planning_assumptions import Guess, PlanError
from survey_app.plan.central_model import DELTA
from survey_app.plan.epsilon_guide import list_levels
from survey_app.plan.plan_text import render_guidance, render_question_plan, render_survey_plan
from survey_app.plan.question_plan import has_range, make_question, needs_options, plan_question
from survey_app.plan.report_variance import Target
from survey_app.plan.survey_plan import DEFAULT, plan_survey
from survey_app.plan.target import Settings

TYPES = tuple(name.value for name in TypeName)
TYPES_WITH_OPTIONS = tuple(filter(needs_options, TYPES))


def _parse_epsilon(_: click.Context, __: click.Parameter, value: str | None) -> Decimal | None:
    """Parse an ε: a decimal, or a logarithm such as ln3. Raise BadParameter unless it is positive."""
    if value is None:
        return None
    try:
        text = value.strip().lower()
        epsilon = Decimal(text[2:].strip()).ln() if text.startswith("ln") else Decimal(text)
    except InvalidOperation:
        epsilon = Decimal("NaN")
    if not epsilon.is_finite() or epsilon <= 0:
        raise click.BadParameter(
            f"{value!r} is not a positive number; use a number such as 1.5, or a logarithm such as ln3."
        )
    return epsilon


def _parse_fraction(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    """Parse a fraction: 0.05 or 5%. Raise BadParameter unless it is between 0 and 1."""
    if value is None:
        return None
    text = value.strip()
    try:
        fraction = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        fraction = math.nan
    if not 0 <= fraction <= 1:
        raise click.BadParameter(f"{value!r} is not a fraction from 0 to 1, such as 0.05 or 5%.")
    return fraction


def _parse_number(_: click.Context, __: click.Parameter, value: str | None) -> Decimal | None:
    """Parse a decimal. Raise BadParameter if it is larger or smaller than numbers of questions can be."""
    if value is None:
        return None
    try:
        number = Decimal(value.strip())
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not -15 <= number.adjusted() <= 15:
        raise click.BadParameter(f"{value!r} is not a decimal number such as 0.5.")
    return Decimal(f"{number:f}")


def _parse_share_or_mean(ctx: click.Context, param: click.Parameter, value: str | None) -> Decimal | float | None:
    """Parse a number, or a fraction if it is in percent."""
    return (
        _parse_fraction(ctx, param, value)
        if value and value.strip().endswith("%")
        else _parse_number(ctx, param, value)
    )


@dataclass(frozen=True)
class PlanRequest:
    """The options of the command, each under the name of its parameter."""

    respondents: int | None
    margin: float | None
    confidence: float
    population: int | None
    sample: bool
    share: float | None
    mean: Decimal | None
    sd: Decimal | None
    power: float
    cross: tuple[str, ...]
    epsilon: Decimal | None
    kind: str | None
    options: int | None
    optional: bool
    low: Decimal | None
    high: Decimal | None
    step: Decimal | None
    bin_count: int | None
    mechanism: str | None
    questions: int | None
    ask: str
    against: Decimal | float | None
    delta: float | None
    guidance: bool
    as_json: bool


RESPONDENT_COUNT = click.IntRange(2, 10**12)


@click.command(
    "plan",
    epilog=format_examples(
        "candor plan exam.yaml --respondents 1200", "candor plan --epsilon ln3 --margin 5% --share 20%"
    ),
)
@click.argument("file", type=FILE, required=False)
@click.option("--respondents", type=RESPONDENT_COUNT, help="The number of respondents; with a FILE, 1000 by default.")
@click.option(
    "--margin",
    callback=_parse_fraction,
    metavar="PART",
    help="The target margin, as a fraction of the possible range; with a FILE, 0.05 by default.",
)
@click.option(
    "--confidence",
    callback=_parse_fraction,
    metavar="PART",
    default="0.95",
    show_default=True,
    help="The confidence of the intervals.",
)
@click.option("--population", type=RESPONDENT_COUNT, help="The size of the population; large by default.")
@click.option("--sample", is_flag=True, help="Plan estimates about the respondents themselves, not about a population.")
@click.option("--share", callback=_parse_fraction, metavar="PART", help="The expected share of yes, or of an option.")
@click.option(
    "--mean",
    callback=_parse_number,
    metavar="X",
    help="For numbers: the expected mean. With neither --mean nor --sd, the numbers are spread evenly.",
)
@click.option("--sd", callback=_parse_number, metavar="X", help="For numbers: the expected standard deviation.")
@click.option(
    "--power",
    callback=_parse_fraction,
    metavar="PART",
    default="0.8",
    show_default=True,
    help="The power of the tests.",
)
@click.option(
    "--cross",
    multiple=True,
    metavar="A,B",
    help="With a FILE: compare randomizing these questions together and separately.",
)
@click.option(
    "--epsilon",
    callback=_parse_epsilon,
    metavar="E",
    help="Instead of a FILE: the ε of one question, such as 1 or ln3.",
)
@click.option("--type", "kind", type=click.Choice(TYPES), help="The type of that question; yes_no by default.")
@click.option("--options", type=click.IntRange(2, 100_000), help="The number of its options or points.")
@click.option("--optional", is_flag=True, help="The question may be skipped, and one in ten respondents skips it.")
@click.option("--min", "low", callback=_parse_number, metavar="X", help="The smallest number; 0 by default.")
@click.option("--max", "high", callback=_parse_number, metavar="X", help="The largest number; 100 by default.")
@click.option("--step", callback=_parse_number, metavar="X", help="The step between numbers; 1 by default.")
@click.option(
    "--bins",
    "bin_count",
    type=click.IntRange(2, 100_000),
    help="Ask for the distribution of the number, in this many bins.",
)
@click.option("--mechanism", type=click.Choice(["laplace"]), help="Add Laplace noise to the number.")
@click.option("--questions", type=click.IntRange(1, 10_000), help="The number of such questions that share the ε.")
@click.option(
    "--ask",
    type=click.Choice([Ask.ONE.value, Ask.ALL.value]),
    default=Ask.ALL.value,
    help="Whether each device answers one of these questions or all; all by default.",
)
@click.option(
    "--against",
    callback=_parse_share_or_mean,
    metavar="X",
    help="The share or mean of a second group, to be distinguished from the first.",
)
@click.option(
    "--delta",
    callback=_parse_fraction,
    metavar="PART",
    help="δ of the central Gaussian mechanism in the comparison; 0.000001 by default.",
)
@click.option("--guidance", is_flag=True, help="Print only a table of what levels of ε cost and mean.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def plan_command(ctx: click.Context, /, file: Path | None, **options: Any) -> None:
    """Compute how many respondents a margin needs, before a survey is launched.

    For a survey FILE, print how many respondents each of three ways to ask it needs, all margins, the cost of joint
    fields, and advice. For one question, use --epsilon with --margin or --respondents. --guidance prints a table of ε
    and its cost.
    """
    option_names = {
        name for name in options if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    _check_combination(file, option_names)
    request = PlanRequest(**options)
    try:
        if request.guidance:
            levels = list_levels()
            click.echo(_to_json(levels) if request.as_json else render_guidance(levels))
        elif file:
            with show_status("Planning"):
                text = _plan_file(file, request)
            click.echo(text)
        elif request.epsilon is not None:
            _plan_question(request, request.epsilon, option_names)
    except PlanError as error:
        raise click.UsageError(f"{error}.") from None


ONE_QUESTION = (
    "epsilon", "kind", "options", "optional", "low", "high", "step", "bin_count", "mechanism", "questions", "ask",
    "against", "mean", "sd", "delta",
)  # fmt: skip
NUMBERS = ("low", "high", "step", "bin_count", "mechanism", "mean", "sd")


def _check_combination(file: Path | None, option_names: set[str]) -> None:
    """Raise UsageError if the options do not fit together, with a sentence about the options that do."""
    if "guidance" in option_names:
        if file or option_names - {"guidance", "as_json"}:
            raise click.UsageError("--guidance cannot be combined with FILE, or with any option except --json.")
        return
    question_options = [name for name in ONE_QUESTION if name in option_names]
    if file:
        if question_options == ["against"]:
            raise click.UsageError(
                "--against is for one question without a FILE. For a FILE with groups, the plan shows the margin of"
                " their difference, and the smallest difference that can be detected."
            )
        if question_options:
            raise click.UsageError(
                f"{_option_name(question_options[0])} is for one question without a FILE; the file defines it."
            )
    elif "epsilon" not in option_names:
        raise click.UsageError("Name a survey FILE, or give --epsilon with --margin or --respondents.")
    elif "cross" in option_names:
        raise click.UsageError("--cross is for the questions of a FILE.")
    elif ("margin" in option_names) == ("respondents" in option_names):
        both = "margin" in option_names
        raise click.UsageError(
            "--margin and --respondents follow from each other: give only one."
            if both
            else "Give --margin to compute the number of respondents, or --respondents to compute the margin."
        )
    if {"sample", "population"} <= option_names:
        raise click.UsageError(
            "--sample is about the respondents alone, --population about more people: give only one."
        )


def _option_name(name: str) -> str:
    return {"kind": "--type", "low": "--min", "high": "--max", "bin_count": "--bins"}.get(name, f"--{name}")


def _make_settings(request: PlanRequest, respondents: int | None, margin: float | None) -> Settings:
    return Settings(
        respondents=respondents,
        margin=margin,
        confidence=request.confidence,
        power=request.power,
        target=Target(request.population, request.sample),
        guess=Guess(request.share, _to_float(request.mean), _to_float(request.sd)),
        delta=request.delta or DELTA,
    )


def _to_float(value: Decimal | float | None) -> float | None:
    return None if value is None else float(value)


def _plan_file(file: Path, request: PlanRequest) -> str:
    default_respondents = min(DEFAULT.respondents or 0, request.population or math.inf)
    settings = _make_settings(
        request, request.respondents or int(default_respondents), request.margin or DEFAULT.margin
    )
    crosses = [[name.strip() for name in pair.split(",")] for pair in request.cross]
    try:
        plan = plan_survey(file.read_bytes(), settings, json_file=file.suffix == ".json", cross=crosses)
    except AuthoringError as error:
        raise click.ClickException(f"{file}: {format_faults(file, error)}") from None
    return _to_json(plan) if request.as_json else render_survey_plan(plan)


def _plan_question(request: PlanRequest, epsilon: Decimal, option_names: set[str]) -> None:
    kind = request.kind or "yes_no"
    if kind in TYPES_WITH_OPTIONS and "options" not in option_names:
        raise click.UsageError(f"--type {kind} needs --options, the number of its options.")
    if kind not in TYPES_WITH_OPTIONS and "options" in option_names:
        raise click.UsageError(f"--options is for {', '.join(TYPES_WITH_OPTIONS)}; --type is {kind}.")
    stray = [name for name in NUMBERS if name in option_names]
    if stray and not has_range(kind):
        raise click.UsageError(f"{_option_name(stray[0])} is for numbers: add --type number, or leave it out.")
    if {"bin_count", "mechanism"} <= option_names:
        raise click.UsageError("--bins and --mechanism laplace are two ways to ask for a number: give only one.")
    is_mean = has_range(kind) and "bin_count" not in option_names
    if is_mean and "share" in option_names:
        raise click.UsageError("--share is for shares; for the mean of a number give --mean and --sd.")
    if is_mean and isinstance(request.against, float):
        raise click.UsageError("--against is a mean here, such as 30, and not a share.")
    question = make_question(
        kind,
        options=request.options,
        bins=request.bin_count,
        low=Decimal(0) if request.low is None else request.low,
        high=Decimal(100) if request.high is None else request.high,
        step=Decimal(1) if request.step is None else request.step,
        optional=request.optional,
    )
    plan = plan_question(
        question,
        epsilon,
        _make_settings(request, request.respondents, request.margin),
        laplace=request.mechanism is not None,
        questions=request.questions or 1,
        ask=Ask(request.ask),
        against=_to_float(request.against),
    )
    click.echo(_to_json(plan) if request.as_json else render_question_plan(plan))


def _to_json(plan: Any) -> str:
    return json.dumps(msgspec.to_builtins(plan), indent=1, ensure_ascii=False)
