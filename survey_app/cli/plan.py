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
from survey_app.cli.common import FILE, all_faults
from survey_app.cli.terminal import example, waiting
from survey_app.kinds.assumptions import Guess, PlanError
from survey_app.plan.central_model import DELTA
from survey_app.plan.epsilon_guide import table
from survey_app.plan.plan_text import guidance_page, single_page, survey_page
from survey_app.plan.question_plan import has_range, make_question, needs_options, plan_question
from survey_app.plan.report_variance import Target
from survey_app.plan.survey_plan import DEFAULT, plan_survey
from survey_app.plan.target import Settings

TYPES = tuple(name.value for name in TypeName)
OPTIONED = tuple(filter(needs_options, TYPES))


def _loss(_: click.Context, __: click.Parameter, value: str | None) -> Decimal | None:
    """Parse an ε: a decimal, or a logarithm such as ln3. Raise BadParameter unless it is positive."""
    if value is None:
        return None
    try:
        text = value.strip().lower()
        epsilon = Decimal(text[2:].strip()).ln() if text.startswith("ln") else Decimal(text)
    except InvalidOperation:
        epsilon = Decimal("NaN")
    if not epsilon.is_finite() or epsilon <= 0:
        raise click.BadParameter(f"{value!r} is not a positive number such as 1.5, or ln3.")
    return epsilon


def _part(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    """Parse a fraction: 0.05 or 5%. Raise BadParameter unless it is between 0 and 1."""
    if value is None:
        return None
    text = value.strip()
    try:
        fraction = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        fraction = math.nan
    if not 0 <= fraction <= 1:
        raise click.BadParameter(f"{value!r} is not a part of 1, such as 0.05 or 5%.")
    return fraction


def _number(_: click.Context, __: click.Parameter, value: str | None) -> Decimal | None:
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


def _share_or_mean(ctx: click.Context, param: click.Parameter, value: str | None) -> Decimal | float | None:
    """Parse a number, or a fraction if it is in percent."""
    return _part(ctx, param, value) if value and value.strip().endswith("%") else _number(ctx, param, value)


@dataclass(frozen=True)
class Wanted:
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


COUNT = click.IntRange(2, 10**12)


@click.command(
    "plan",
    epilog=example("candor plan exam.yaml --respondents 1200", "candor plan --epsilon ln3 --margin 5% --share 20%"),
)
@click.argument("file", type=FILE, required=False)
@click.option("--respondents", type=COUNT, help="How many will answer; 1000 with a FILE, unless said.")
@click.option(
    "--margin",
    callback=_part,
    metavar="PART",
    help="The wanted margin, as a part of the possible range; 0.05 with a FILE.",
)
@click.option("--confidence", callback=_part, metavar="PART", default="0.95", show_default=True, help="Of intervals.")
@click.option("--population", type=COUNT, help="How many people there are in all; many, unless said.")
@click.option("--sample", is_flag=True, help="Estimates about the respondents themselves, not a population.")
@click.option("--share", callback=_part, metavar="PART", help="The share of a yes, or of an option, to plan for.")
@click.option(
    "--mean", callback=_number, metavar="X", help="Numbers: their mean; with neither mean nor sd, spread evenly."
)
@click.option("--sd", callback=_number, metavar="X", help="Numbers: their standard deviation.")
@click.option("--power", callback=_part, metavar="PART", default="0.8", show_default=True, help="Of tests.")
@click.option("--cross", multiple=True, metavar="A,B", help="With a FILE: questions to randomize together or apart.")
@click.option(
    "--epsilon", callback=_loss, metavar="E", help="Instead of a FILE: the ε of one question, such as 1 or ln3."
)
@click.option("--type", "kind", type=click.Choice(TYPES), help="The type of that question; yes_no unless said.")
@click.option("--options", type=click.IntRange(2, 100_000), help="How many options or points it has.")
@click.option("--optional", is_flag=True, help="It may be skipped; one in ten does.")
@click.option("--min", "low", callback=_number, metavar="X", help="The smallest number; 0 unless said.")
@click.option("--max", "high", callback=_number, metavar="X", help="The largest number; 100 unless said.")
@click.option("--step", callback=_number, metavar="X", help="The step between numbers; 1 unless said.")
@click.option(
    "--bins",
    "bin_count",
    type=click.IntRange(2, 100_000),
    help="The number is asked for its distribution, in so many bins.",
)
@click.option("--mechanism", type=click.Choice(["laplace"]), help="The number gets Laplace noise.")
@click.option("--questions", type=click.IntRange(1, 10_000), help="So many questions like it share the ε.")
@click.option(
    "--ask",
    type=click.Choice([Ask.ONE.value, Ask.ALL.value]),
    default=Ask.ALL.value,
    help="Each device answers one of them; all unless said.",
)
@click.option(
    "--against",
    callback=_share_or_mean,
    metavar="X",
    help="The share or mean of a second group, to be told from the first.",
)
@click.option(
    "--delta", callback=_part, metavar="PART", help="δ of the central Gaussian beside it; 0.000001 unless said."
)
@click.option("--guidance", is_flag=True, help="What levels of ε cost and mean, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="For a program.")
@click.pass_context
def plan_command(ctx: click.Context, /, file: Path | None, **options: Any) -> None:
    """How many respondents a margin takes, before a survey is launched.

    For a survey FILE: how many each of three ways to ask it needs, all margins, what joint fields cost, and advice.
    For one question: --epsilon with --margin or --respondents. --guidance prints a table of ε and its price.
    """
    option_names = {
        name for name in options if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    _check_together(file, option_names)
    request = Wanted(**options)
    try:
        if request.guidance:
            levels = table()
            click.echo(_json(levels) if request.as_json else guidance_page(levels))
        elif file:
            with waiting("Planning"):
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


def _check_together(file: Path | None, given: set[str]) -> None:
    """Raise UsageError if the options do not fit together, with a sentence about the options that do."""
    if "guidance" in given:
        if file or given - {"guidance", "as_json"}:
            raise click.UsageError("--guidance stands alone: it takes no FILE and no other option but --json.")
        return
    question_options = [name for name in ONE_QUESTION if name in given]
    if file:
        if question_options == ["against"]:
            raise click.UsageError(
                "--against is for one question without a FILE; of a FILE with groups the plan tells the margin of their"
                " difference, and the smallest one that is told."
            )
        if question_options:
            raise click.UsageError(
                f"{_named(question_options[0])} is for one question without a FILE; the file says it all."
            )
    elif "epsilon" not in given:
        raise click.UsageError("Name a survey FILE, or give --epsilon with --margin or --respondents.")
    elif "cross" in given:
        raise click.UsageError("--cross is for the questions of a FILE.")
    elif ("margin" in given) == ("respondents" in given):
        both = "margin" in given
        raise click.UsageError(
            "--margin and --respondents follow from each other: give only one."
            if both
            else "Give --margin, to learn how many respondents it takes, or --respondents, to learn their margin."
        )
    if {"sample", "population"} <= given:
        raise click.UsageError(
            "--sample is about the respondents alone, --population about more people: give only one."
        )


def _named(name: str) -> str:
    return {"kind": "--type", "low": "--min", "high": "--max", "bin_count": "--bins"}.get(name, f"--{name}")


def _settings(wanted: Wanted, respondents: int | None, margin: float | None) -> Settings:
    return Settings(
        respondents=respondents,
        margin=margin,
        confidence=wanted.confidence,
        power=wanted.power,
        target=Target(wanted.population, wanted.sample),
        guess=Guess(wanted.share, _float(wanted.mean), _float(wanted.sd)),
        delta=wanted.delta or DELTA,
    )


def _float(value: Decimal | float | None) -> float | None:
    return None if value is None else float(value)


def _plan_file(file: Path, wanted: Wanted) -> str:
    default_respondents = min(DEFAULT.respondents or 0, wanted.population or math.inf)
    settings = _settings(wanted, wanted.respondents or int(default_respondents), wanted.margin or DEFAULT.margin)
    crosses = [[name.strip() for name in pair.split(",")] for pair in wanted.cross]
    try:
        plan = plan_survey(file.read_bytes(), settings, json_file=file.suffix == ".json", cross=crosses)
    except AuthoringError as error:
        raise click.ClickException(f"{file}: {all_faults(file, error)}") from None
    return _json(plan) if wanted.as_json else survey_page(plan)


def _plan_question(wanted: Wanted, epsilon: Decimal, given: set[str]) -> None:
    kind = wanted.kind or "yes_no"
    if kind in OPTIONED and "options" not in given:
        raise click.UsageError(f"--type {kind} needs --options, the number of its options.")
    if kind not in OPTIONED and "options" in given:
        raise click.UsageError(f"--options is for {', '.join(OPTIONED)}; --type is {kind}.")
    stray = [name for name in NUMBERS if name in given]
    if stray and not has_range(kind):
        raise click.UsageError(f"{_named(stray[0])} is for numbers: add --type number, or leave it out.")
    if {"bin_count", "mechanism"} <= given:
        raise click.UsageError("--bins and --mechanism laplace are two ways to ask for a number: give only one.")
    is_mean = has_range(kind) and "bin_count" not in given
    if is_mean and "share" in given:
        raise click.UsageError("--share is for shares; for the mean of a number give --mean and --sd.")
    if is_mean and isinstance(wanted.against, float):
        raise click.UsageError("--against is a mean here, such as 30, and not a share.")
    question = make_question(
        kind,
        options=wanted.options,
        bins=wanted.bin_count,
        low=Decimal(0) if wanted.low is None else wanted.low,
        high=Decimal(100) if wanted.high is None else wanted.high,
        step=Decimal(1) if wanted.step is None else wanted.step,
        optional=wanted.optional,
    )
    plan = plan_question(
        question,
        epsilon,
        _settings(wanted, wanted.respondents, wanted.margin),
        laplace=wanted.mechanism is not None,
        questions=wanted.questions or 1,
        ask=Ask(wanted.ask),
        against=_float(wanted.against),
    )
    click.echo(_json(plan) if wanted.as_json else single_page(plan))


def _json(plan: Any) -> str:
    return json.dumps(msgspec.to_builtins(plan), indent=1, ensure_ascii=False)
