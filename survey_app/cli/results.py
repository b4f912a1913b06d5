"""The commands for researchers: results, cross-tabs, regression."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec

from candor_client.question import Question
from survey_app.assure.manipulation import describe_manipulation
from survey_app.cli.common import (
    DIGEST,
    FILE,
    SLUG,
    SLUGS,
    find_study,
    find_survey,
    open_db,
    open_tickets,
    read_mapping,
    warn_if_withheld,
)
from survey_app.cli.terminal import format_examples, show_progress
from survey_app.estimate.contingency import PairError
from survey_app.estimate.group_estimates import GroupsError
from survey_app.estimate.intervals import LEAST_CONFIDENCE, MOST_CONFIDENCE, Options
from survey_app.estimate.regression import FitError
from survey_app.invitations.codes import add_invitation_counts
from survey_app.kinds import kind_of
from survey_app.languages.plain_text import wrap_sentence
from survey_app.results.crosstab_document import make_crosstab
from survey_app.results.csv_columns import crosstab_table, format_csv, regression_table, results_table, study_table
from survey_app.results.export import report_progress
from survey_app.results.group_document import Study, compare_groups, make_study
from survey_app.results.regression_document import parse_outcome, regress_on_groups, regress_on_questions
from survey_app.results.results_text import format_crosstab, format_regression, format_results, format_study
from survey_app.results.row_order import main_answer
from survey_app.results.survey_document import Results, results
from survey_app.store import PublishedSurvey, State, Store
from survey_app.tally import Bits, Tally

CONFIDENCE: Callable[[Any], Any] = click.option(
    "--confidence",
    default=0.95,
    show_default=True,
    type=click.FloatRange(LEAST_CONFIDENCE, MOST_CONFIDENCE),
    help="The confidence of every interval.",
)
SIMULTANEOUS: Callable[[Any], Any] = click.option(
    "--simultaneous", is_flag=True, help="Print intervals that hold for all options of a question together."
)


def add_format_options(command: Any) -> Any:
    """Add the options --json and --csv to a command."""
    spreadsheet = click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(spreadsheet(command))


@click.command("results", epilog=format_examples("candor results exam --total 'help=notes|phone'"))
@SLUGS
@DIGEST
@add_format_options
@CONFIDENCE
@SIMULTANEOUS
@click.option("--narrow", is_flag=True, help="Use Wilson intervals: narrower, right on average, not guaranteed.")
@click.option(
    "--population", type=click.IntRange(1), help="The size of the population that the respondents are a sample of."
)
@click.option(
    "--total",
    "totals",
    multiple=True,
    metavar="QUESTION=A|B",
    help="Also estimate the share of several options together.",
)
@click.option("--weights", type=FILE, help="A JSON or YAML file with the weight of every survey in their total.")
@click.pass_context
def results_command(
    ctx: click.Context,
    /,
    slugs: tuple[str, ...],
    digest: str | None,
    as_json: bool,
    as_csv: bool,
    totals: tuple[str, ...],
    weights: Path | None,
    **interval_options: Any,
) -> None:
    """Print estimates with intervals, in steps of twenty reports, for a survey, a study, or surveys side by side."""
    form, store, options = _choose_format(as_json, as_csv), open_db(ctx), Options(**interval_options)
    if len(set(slugs)) < len(slugs):
        raise click.UsageError("a survey is named twice; name each once")
    members = find_study(store, slugs[0], digest) if len(slugs) == 1 else []
    is_study = bool(members)
    if is_study and options.population is not None:
        raise click.ClickException(
            "--population is for one survey: the sizes of groups only weight their total. If everybody was asked,"
            f" analyse each group separately: candor results {members[0].survey.slug} --population N"
        )
    surveys = members or [find_survey(store, slug, digest) for slug in slugs]
    for published in surveys[:1] if is_study else surveys:
        warn_if_withheld(published)
    tallies = [store.snapshot(published) for published in surveys]
    _check_population(options, max(tally.reports for tally in tallies))
    if len(surveys) == 1:
        if weights:
            raise click.ClickException(f"--weights is for several surveys, but {slugs[0]} is one; leave it out")
        estimates = results(surveys[0].survey, tallies[0], options, _parse_totals(surveys[0], totals))
        document: Results | Study = add_invitation_counts(estimates, store, open_tickets(ctx, store), surveys[0])
    else:
        if totals:
            raise click.ClickException("--total is for one survey; name one, or leave it out")
        groups = list(zip((published.survey for published in surveys), tallies, strict=True))
        try:
            weight_by_slug = _read_numbers(weights)
            if is_study:
                sizes, final = [published.terms.size for published in surveys], surveys[0].state is State.CLOSED
                document = make_study(groups, sizes, options, final=final, weights=weight_by_slug)
            else:
                document = compare_groups(groups, options, weight_by_slug)
        except GroupsError as error:
            raise click.ClickException(str(error)) from None
    if form == "json":
        click.echo(_to_json(document))
    elif isinstance(document, Study):
        if form == "csv":
            click.echo(format_csv(study_table([published.survey for published in surveys], document)), nl=False)
        else:
            click.echo(format_study(surveys[0].survey, document))
    elif form == "csv":
        click.echo(format_csv(results_table(surveys[0].survey, document)), nl=False)
    else:
        click.echo(format_results(surveys[0].survey, document))
        if findings := describe_manipulation(surveys[0].survey, tallies[0]):
            paragraphs = [
                "Some of these reports do not look honest. Each test raises a false alarm for one honest survey in a "
                "thousand:",
                *findings,
            ]
            click.echo("\n" + "\n".join(line for paragraph in paragraphs for line in wrap_sentence(paragraph)))


def _choose_format(as_json: bool, as_csv: bool) -> str:
    """Return the output format: json, csv or text. Raise UsageError if both options are given."""
    if as_json and as_csv:
        raise click.UsageError("give --json or --csv, not both")
    return "json" if as_json else "csv" if as_csv else "text"


def _to_json(document: msgspec.Struct) -> str:
    return json.dumps(msgspec.to_builtins(document), indent=1)


def _check_population(options: Options, reports: int) -> None:
    if options.population is not None and options.population < reports:
        raise click.ClickException(
            f"{reports} reports cannot come from a population of {options.population}; use a larger --population"
        )


def _parse_totals(published: PublishedSurvey, texts: tuple[str, ...]) -> dict[str, list[list[str]]]:
    """Parse the --total options; return lists of options by question. Raise ClickException for an invalid one."""
    totals: dict[str, list[list[str]]] = {}
    questions = {question.id: question for question in published.survey.questions}
    for text in texts:
        name, _, rest = text.partition("=")
        labels = rest.split("|")
        question = questions.get(name)
        if question is None:
            raise click.ClickException(f"--total {text!r}: there is no question {name!r}; write QUESTION=A|B")
        if not _has_addable_answers(question):
            raise click.ClickException(f"--total {text!r}: {name} must be a choice, a scale or a number with bins")
        answers = kind_of(question).answers(question)
        if not set(labels) <= set(answers) or len(set(labels)) < len(labels):
            raise click.ClickException(f"--total {text!r}: the options of {name} are {', '.join(answers)}")
        totals.setdefault(name, []).append(labels)
    return totals


def _has_addable_answers(question: Question) -> bool:
    """Return whether shares of several answers can be added up, and the question has more than two answers."""
    kind = kind_of(question)
    return kind.exclusive and kind.has_shares(question) and not main_answer(question)


def _read_numbers(file: Path | None) -> Any:
    """Return the mapping in a small YAML or JSON file; None without a file.

    Raise ClickException unless its keys are text and all its values are numbers, at most one level deep.
    """
    if file is None:
        return None
    value = read_mapping(file)
    if not value or not all(isinstance(key, str) for key in value):
        raise click.ClickException(f"{file}: must map the slug of every survey to its values")
    numbers = [
        number for entry in value.values() for number in (entry.values() if isinstance(entry, dict) else [entry])
    ]
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers):
        raise click.ClickException(f"{file}: all values must be numbers")
    return value


@contextmanager
def _open_snapshot(store: Store, published: PublishedSurvey) -> Iterator[tuple[Tally, Iterator[Bits]]]:
    """Yield the tally of a snapshot and the bits behind it, read with a progress bar."""
    with store.open_snapshot(published) as (tally, rows):
        yield tally, _track_progress(tally.reports, rows)


def _track_progress(length: int, rows: Iterator[Bits]) -> Iterator[Bits]:
    with show_progress("Reading reports", length) as progress:
        yield from report_progress(rows, progress)


@click.command("crosstab", epilog=format_examples("candor crosstab exam cheated help --csv"))
@SLUG
@click.argument("rows")
@click.argument("columns")
@DIGEST
@add_format_options
@CONFIDENCE
@SIMULTANEOUS
@click.pass_context
def crosstab_command(
    ctx: click.Context,
    /,
    slug: str,
    rows: str,
    columns: str,
    digest: str | None,
    as_json: bool,
    as_csv: bool,
    **interval_options: Any,
) -> None:
    """Cross-tabulate two questions: cells, shares within rows, differences from the first row, an independence test.

    To cross two options of one question, name each as QUESTION:OPTION.
    """
    form, store = _choose_format(as_json, as_csv), open_db(ctx)
    published = find_survey(store, slug, digest)
    warn_if_withheld(published)
    options = Options(**interval_options)
    try:
        with _open_snapshot(store, published) as (tally, bits):
            document = make_crosstab(published.survey, tally, bits, rows, columns, options)
    except PairError as error:
        raise click.ClickException(str(error)) from None
    if form == "csv":
        click.echo(format_csv(crosstab_table(rows, columns, document)), nl=False)
        return
    click.echo(_to_json(document) if form == "json" else format_crosstab(published.survey, document))


@click.command("regress", epilog=format_examples("candor regress exam --outcome cheated --on help"))
@SLUGS
@click.option(
    "--outcome", required=True, metavar="QUESTION[=ANSWER]", help="The answer whose odds are explained; yes by default."
)
@click.option(
    "--on",
    "predictors",
    multiple=True,
    metavar="QUESTION",
    help="A predictor: a question of the same survey. May be repeated.",
)
@click.option(
    "--covariates",
    type=FILE,
    help="A JSON or YAML file with known numbers for each survey, where each survey is a group.",
)
@add_format_options
@CONFIDENCE
@click.pass_context
def regress_command(
    ctx: click.Context,
    slugs: tuple[str, ...],
    outcome: str,
    predictors: tuple[str, ...],
    covariates: Path | None,
    as_json: bool,
    as_csv: bool,
    confidence: float,
) -> None:
    """Fit a logistic regression of a randomized answer on groups, or on other randomized answers."""
    form, store, options = _choose_format(as_json, as_csv), open_db(ctx), Options(confidence)
    surveys = [find_survey(store, slug) for slug in slugs]
    for published in surveys:
        warn_if_withheld(published)
    question, answer = parse_outcome(outcome)
    if bool(predictors) == bool(covariates):
        raise click.UsageError("give either --on QUESTION, or --covariates FILE")
    try:
        if covariates:
            studies = [(published.survey, store.snapshot(published)) for published in surveys]
            document = regress_on_groups(studies, question, answer, _read_covariates(covariates), options)
        elif len(surveys) == 1:
            with _open_snapshot(store, surveys[0]) as (_, bits):
                document = regress_on_questions(surveys[0].survey, bits, question, answer, predictors, options)
        else:
            raise click.UsageError("--on is for one survey; to compare several, use --covariates FILE")
    except FitError as error:
        raise click.ClickException(str(error)) from None
    if form == "csv":
        click.echo(format_csv(regression_table(document)), nl=False)
        return
    click.echo(_to_json(document) if form == "json" else format_regression(document))


def _read_covariates(file: Path) -> Any:
    value = _read_numbers(file)
    if not all(isinstance(covariates, dict) for covariates in value.values()):
        raise click.ClickException(f"{file}: must map every slug to its covariates, for example exam: {{year: 1}}")
    return value
